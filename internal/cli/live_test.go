package cli

import (
	"context"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gocampus/hark/harktest"
	"github.com/gocampus/hark/reflector"
)

// patience is how long a test waits for something to happen before it fails; it
// is never waited for when all is well.
const patience = 30 * time.Second

// transcript is a stream that is being written, and that a test can wait on.
type transcript struct {
	mu      sync.Mutex
	text    strings.Builder
	changed chan struct{} // closed with the next write
	err     error         // of Write, when somebody closed the reading end
}

func newTranscript() *transcript { return &transcript{changed: make(chan struct{})} }

// Write implements io.Writer.
func (t *transcript) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err != nil {
		return 0, t.err
	}
	t.text.Write(p)
	close(t.changed)
	t.changed = make(chan struct{})
	return len(p), nil
}

// fail makes every further Write fail.
func (t *transcript) fail(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.err = err
}

func (t *transcript) now() (string, <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String(), t.changed
}

func (t *transcript) String() string {
	text, _ := t.now()
	return text
}

// live is one run of the command that goes on beside the test.
type live struct {
	t        *testing.T
	out, err *transcript
	cancel   context.CancelCauseFunc
	ready    chan struct{} // gets a value for each target that is listened to
	ended    chan struct{}
	code     int
}

// hurried are the hooks of tests that wait for no clock.
var hurried = hooks{
	reflector: reflector.Options{MinBackoff: 5 * time.Millisecond, MaxBackoff: 50 * time.Millisecond},
	poll:      10 * time.Millisecond,
	pause:     10 * time.Millisecond,
}

// start runs the command, in a hurry, until the test ends or interrupts it.
func start(t *testing.T, env environment, args ...string) *live {
	t.Helper()
	return startWith(t, hurried, env, args...)
}

func startWith(t *testing.T, h hooks, env environment, args ...string) *live {
	t.Helper()
	return startProcess(t, Process{Args: args, In: strings.NewReader(""), Getenv: env.get, hooks: h})
}

// startProcess runs the command with streams of the test's.
func startProcess(t *testing.T, p Process) *live {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	l := &live{
		t: t, out: newTranscript(), err: newTranscript(), cancel: cancel,
		ready: make(chan struct{}, 8), ended: make(chan struct{}),
	}
	p.Out, p.Err = l.out, l.err
	p.hooks.ready = func() { l.ready <- struct{}{} }
	go func() {
		defer close(l.ended)
		l.code = Main(ctx, p)
	}()
	t.Cleanup(func() { l.interrupt() })
	return l
}

// until waits until a stream satisfies a condition.
func (l *live) until(stream *transcript, what string, met func(text string) bool) {
	l.t.Helper()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for {
		text, changed := stream.now()
		if met(text) {
			return
		}
		select {
		case <-changed:
		case <-l.ended:
			if text, _ := stream.now(); met(text) {
				return
			}
			l.t.Fatalf("exit %d without %s\nstdout:\n%s\nstderr:\n%s", l.code, what, l.out, l.err)
		case <-limit.C:
			l.t.Fatalf("no %s\nstdout:\n%s\nstderr:\n%s", what, l.out, l.err)
		}
	}
}

// listens waits until so many targets are listened to: what happens from then on
// comes by the watch.
func (l *live) listens(targets int) *live {
	l.t.Helper()
	for range targets {
		select {
		case <-l.ready:
		case <-l.ended:
			l.t.Fatalf("exit %d before it listens\nstderr:\n%s", l.code, l.err)
		case <-time.After(patience):
			l.t.Fatalf("it does not listen\nstderr:\n%s", l.err)
		}
	}
	return l
}

// prints waits for a text on standard output.
func (l *live) prints(text string) {
	l.t.Helper()
	l.until(l.out, "stdout "+text, func(all string) bool { return strings.Contains(all, text) })
}

// says waits for a text on standard error.
func (l *live) says(text string) {
	l.t.Helper()
	l.until(l.err, "stderr "+text, func(all string) bool { return strings.Contains(all, text) })
}

// interrupt is Ctrl+C; it returns the exit code.
func (l *live) interrupt() int {
	l.cancel(errInterrupted)
	return l.exit()
}

// exit waits for the end and returns the exit code.
func (l *live) exit() int {
	l.t.Helper()
	select {
	case <-l.ended:
	case <-time.After(patience):
		l.t.Fatalf("it does not end\nstdout:\n%s\nstderr:\n%s", l.out, l.err)
	}
	return l.code
}

var clockTime = regexp.MustCompile(`\[\d\d:\d\d:\d\d\]`)

// lines returns standard output with the times blanked.
func (l *live) lines() string { return clockTime.ReplaceAllString(l.out.String(), "[hh:mm:ss]") }

// cluster is a server and the kubeconfig that leads to it.
type cluster struct {
	*harktest.Server
	t          *testing.T
	kubeconfig string
}

func newCluster(t *testing.T, o harktest.Options) *cluster {
	t.Helper()
	dir := home(t)
	c := &cluster{Server: harktest.StartWith(t, o), t: t, kubeconfig: filepath.Join(dir, "kubeconfig")}
	if err := c.WriteKubeconfig(c.kubeconfig); err != nil {
		t.Fatal(err)
	}
	return c
}

// watch starts "hark watch" on the cluster.
func (c *cluster) watch(args ...string) *live {
	c.t.Helper()
	return start(c.t, nil, append([]string{"hark", "watch", "--kubeconfig", c.kubeconfig}, args...)...)
}

// do fails the test when a step of its own fails.
func (c *cluster) do(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

func pod(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx:1.27"}}},
	}
}

func (c *cluster) createPod(name string) {
	c.t.Helper()
	c.do(c.Create(c.t.Context(), pod(name)))
}

// setPhase is what a kubelet does.
func (c *cluster) setPhase(name string, phase corev1.PodPhase) {
	c.t.Helper()
	p := pod(name)
	c.do(c.ChangeStatus(c.t.Context(), p, func() { p.Status.Phase = phase }))
}

func (c *cluster) deletePod(name string) {
	c.t.Helper()
	c.do(c.Delete(c.t.Context(), pod(name), metav1.DeleteOptions{GracePeriodSeconds: new(int64)}))
}
