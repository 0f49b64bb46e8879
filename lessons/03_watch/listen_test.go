package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gocampus/hark/harktest"
	"github.com/gocampus/hark/informer"
	"github.com/gocampus/hark/kube"
)

// TestBuildHarkInformerHearsAPodComeChangeAndGo needs no cluster: the server runs
// in this process, and its clock is the test's.
func TestBuildHarkInformerHearsAPodComeChangeAndGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := harktest.StartWith(t, harktest.Options{InMemory: true})
		client, err := kube.New(server.Config(), kube.Options{})
		must(t, err)
		t.Cleanup(client.CloseIdle)
		pods, err := BuildHarkInformer(t.Context(), client, "default")
		must(t, err)
		var heard tape
		_, err = pods.Handle(func(e informer.Event) { heard.print(fmt.Sprint(e.Type, " ", e.Key)) }, informer.HandlerOptions{})
		must(t, err)
		stop := start(t, func(ctx context.Context) { _ = pods.Run(ctx) })

		playTheChapter(t, server)
		stop()
		want := []string{"ADDED default/tmp", "MODIFIED default/tmp", "MODIFIED default/tmp", "DELETED default/tmp"}
		if diff := cmp.Diff(want, heard.lines); diff != "" {
			t.Errorf("heard (-want +got):\n%s", diff)
		}
		if n := pods.Store().Len(); n != 0 {
			t.Errorf("the cache has %d pods; want none, as the server", n)
		}
	})
}

func TestBothEnginesPrintTheLinesOfTheChapter(t *testing.T) {
	withBothEngines(t, func(t *testing.T, server *harktest.Server, heard *tape) {
		begin := time.Now()
		playTheChapter(t, server)
		after := func(seconds int) string {
			return begin.Add(time.Duration(seconds) * time.Second).Format("[15:04:05] ")
		}
		want := []string{
			after(1) + "Added    default/tmp",
			after(2) + "Modified default/tmp phase=Pending",
			after(3) + "Modified default/tmp phase=Running",
			after(4) + "Deleted  default/tmp",
		}
		if diff := cmp.Diff(want, heard.take()); diff != "" {
			t.Errorf("printed (-want +got):\n%s", diff)
		}
	})
}

func TestSlowTerminalGetsALineForEveryChange(t *testing.T) {
	withBothEngines(t, func(t *testing.T, server *harktest.Server, heard *tape) {
		heard.slow(10 * time.Second)
		playTheChapter(t, server)
		time.Sleep(time.Minute)
		if n := len(heard.take()); n != 4 {
			t.Errorf("%d lines; want 4", n)
		}
	})
}

func TestResyncIsALineButNoRequest(t *testing.T) {
	withBothEngines(t, func(t *testing.T, server *harktest.Server, heard *tape) {
		must(t, server.Create(t.Context(), pod("tmp")))
		time.Sleep(time.Second)
		heard.take()
		server.ForgetRequests()
		time.Sleep(resyncPeriod)
		if diff := cmp.Diff([]string{"Modified default/tmp phase=Pending (resync)"}, withoutTime(heard.take())); diff != "" {
			t.Errorf("printed (-want +got):\n%s", diff)
		}
		if requests := server.Requests(); len(requests) != 0 {
			t.Errorf("%d requests, the first %+v; want none", len(requests), requests[0])
		}
	})
}

// TestDeletionThatNoWatchToldOfIsPrinted: the list after a broken watch shows
// it. It is here that client-go hands out a tombstone instead of a pod.
func TestDeletionThatNoWatchToldOfIsPrinted(t *testing.T) {
	withBothEngines(t, func(t *testing.T, server *harktest.Server, heard *tape) {
		must(t, server.Create(t.Context(), pod("tmp")))
		time.Sleep(time.Second)
		heard.take()
		repair := server.Inject(harktest.Fault{Refuse: true})
		server.Restart(harktest.RestartOptions{}) // breaks the watch
		must(t, server.Delete(t.Context(), pod("tmp")))
		server.Compact() // the server forgets: the watch cannot go on where it was
		repair()
		time.Sleep(10 * time.Second)
		if diff := cmp.Diff([]string{"Deleted  default/tmp"}, withoutTime(heard.take())); diff != "" {
			t.Errorf("printed (-want +got):\n%s", diff)
		}
	})
}

// withBothEngines runs a test for each engine, while it listens to a server.
func withBothEngines(t *testing.T, test func(t *testing.T, server *harktest.Server, heard *tape)) {
	for name, listen := range engines {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := harktest.StartWith(t, harktest.Options{InMemory: true})
				var heard tape
				start(t, func(ctx context.Context) {
					if err := listen(ctx, server.Config(), "default", heard.print); err != nil {
						t.Error(err)
					}
				})
				synctest.Wait()
				test(t, server, &heard)
			})
		})
	}
}

// playTheChapter is what happens to a pod, a second apart: created, given a
// node, started, deleted.
func playTheChapter(t *testing.T, server *harktest.Server) {
	t.Helper()
	tmp := pod("tmp")
	steps := []func() error{
		func() error { return server.Create(t.Context(), tmp) },
		func() error {
			return server.ChangeStatus(t.Context(), tmp, func() {
				tmp.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue}}
			})
		},
		func() error {
			return server.ChangeStatus(t.Context(), tmp, func() { tmp.Status.Phase = corev1.PodRunning })
		},
		func() error { return server.Delete(t.Context(), tmp) },
	}
	for _, step := range steps {
		time.Sleep(time.Second)
		must(t, step())
		synctest.Wait()
	}
}

func pod(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "nginx", Image: "nginx:1.27"}}},
	}
}

// start runs f until stop is called or the test ends, and waits for its end.
func start(t *testing.T, f func(context.Context)) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { f(ctx) })
	stop = func() {
		cancel()
		running.Wait()
	}
	t.Cleanup(stop)
	return stop
}

// tape keeps what was printed.
type tape struct {
	mu    sync.Mutex
	lines []string
	pause time.Duration // that a line takes
}

func (p *tape) print(line string) {
	p.mu.Lock()
	p.lines = append(p.lines, line)
	pause := p.pause
	p.mu.Unlock()
	time.Sleep(pause)
}

func (p *tape) slow(pause time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pause = pause
}

// take returns the lines since the last call.
func (p *tape) take() []string {
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	lines := p.lines
	p.lines = nil
	return lines
}

func withoutTime(lines []string) []string {
	var out []string
	for _, line := range lines {
		_, text, _ := strings.Cut(line, "] ")
		out = append(out, text)
	}
	return out
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestMissingPermissionIsSaidAtOnceAndOnce(t *testing.T) {
	var said strings.Builder
	log.SetOutput(&said)
	defer log.SetOutput(os.Stderr)
	synctest.Test(t, func(t *testing.T) {
		server := harktest.StartWith(t, harktest.Options{InMemory: true})
		server.Inject(harktest.Fault{Resource: "pods", Code: 403})
		stop := start(t, func(ctx context.Context) {
			if err := listenWithHark(ctx, server.Config(), "default", func(string) {}); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait() // no time passes
		if got := strings.Count(said.String(), "pods is forbidden"); got != 1 {
			t.Errorf("said %d times at once; want once: %q", got, said.String())
		}
		time.Sleep(time.Minute)
		stop()
		if got := strings.Count(said.String(), "pods is forbidden"); got != 1 {
			t.Errorf("said %d times in a minute; want once: %q", got, said.String())
		}
	})
}
