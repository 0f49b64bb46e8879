package follow

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gocampus/hark/harktest"
	"github.com/gocampus/hark/internal/printer"
	"github.com/gocampus/hark/internal/text"
	"github.com/gocampus/hark/kube"
)

// valve is an output that holds writes back while it is shut. Each line that
// passes is sent to lines.
type valve struct {
	reached chan struct{} // gets a value when a write is held back
	open    chan struct{}
	lines   chan string
}

func (v *valve) Write(p []byte) (int, error) {
	select {
	case <-v.open:
	case v.reached <- struct{}{}:
		<-v.open
	}
	v.lines <- string(p)
	return len(p), nil
}

type following struct {
	server *harktest.Server
	cancel context.CancelCauseFunc
	done   chan error
	said   func() string
}

// begin follows ConfigMaps of the namespace default.
func begin(t *testing.T, o Options) *following {
	t.Helper()
	server := harktest.Start(t)
	client, err := kube.New(server.Config(), kube.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var said strings.Builder
	o.Client, o.Namespace = client, "default"
	o.Say = func(line string) {
		mu.Lock()
		defer mu.Unlock()
		said.WriteString(line + "\n")
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	f := &following{server: server, cancel: cancel, done: make(chan error, 1), said: func() string {
		mu.Lock()
		defer mu.Unlock()
		return said.String()
	}}
	target := Target{Resolve: func(ctx context.Context) (kube.Kind, error) { return client.Resolve(ctx, "configmaps") }}
	go func() { f.done <- New(o).Run(ctx, []Target{target}) }()
	t.Cleanup(client.CloseIdle)
	return f
}

func receive[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case value := <-from:
		return value
	case <-time.After(30 * time.Second):
		t.Fatal("nothing comes")
		panic("unreachable")
	}
}

func configMap(n int) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "c"}, Data: map[string]string{"n": strconv.Itoa(n)},
	}
}

// A reader that stands still costs neither memory without bound nor the truth:
// changes of one object are merged and counted.
func TestOutputThatIsTooSlowMergesAndCounts(t *testing.T) {
	const changes, waiting = 200, 8
	out := &valve{reached: make(chan struct{}), open: make(chan struct{}), lines: make(chan string, changes+1)}
	f := begin(t, Options{Printer: printer.New(printer.Options{Format: printer.JSON}), Out: out, Waiting: waiting})
	object := configMap(0)
	if err := f.server.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	receive(t, out.reached)
	for n := 1; n <= changes; n++ {
		if err := f.server.Change(t.Context(), object, func() { object.Data["n"] = strconv.Itoa(n) }); err != nil {
			t.Fatal(err)
		}
	}
	end := configMap(0)
	end.Name = "end"
	if err := f.server.Create(t.Context(), end); err != nil {
		t.Fatal(err)
	}
	close(out.open)

	told, merged, last := 0, 0, ""
	for {
		var event struct {
			Name   string
			Merged int
			Object struct{ Data struct{ N string } }
		}
		if err := json.Unmarshal([]byte(receive(t, out.lines)), &event); err != nil {
			t.Fatal(err)
		}
		if event.Name == "end" {
			break
		}
		told, merged, last = told+1, merged+event.Merged, event.Object.Data.N
	}
	if told+merged != changes+1 || last != strconv.Itoa(changes) {
		t.Errorf("%d events with %d merged changes, the last is %s; want %d changes in all", told, merged, last, changes)
	}
	if merged > 0 != (f.said() == text.English.Say(text.Merged)+"\n") {
		t.Errorf("%d merged; said %q", merged, f.said())
	}
	f.cancel(errEnough)
	if err := receive(t, f.done); !errors.Is(err, errEnough) {
		t.Errorf("Run: %v; want the cause of its context", err)
	}
}

var errEnough = errors.New("the test has seen enough")

func TestRunReturnsTheErrorOfTheOutput(t *testing.T) {
	reader, writer := io.Pipe()
	_ = reader.Close()
	f := begin(t, Options{Printer: printer.New(printer.Options{}), Out: writer})
	if err := f.server.Create(t.Context(), configMap(0)); err != nil {
		t.Fatal(err)
	}
	if err := receive(t, f.done); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("Run: %v; want that the pipe is closed", err)
	}
}

func TestRunReturnsTheErrorOfATarget(t *testing.T) {
	client, err := kube.New(harktest.Start(t).Config(), kube.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f := New(Options{Client: client, Printer: printer.New(printer.Options{}), Out: io.Discard})
	err = f.Run(t.Context(), []Target{
		{Resolve: func(ctx context.Context) (kube.Kind, error) { <-ctx.Done(); return kube.Kind{}, context.Cause(ctx) }},
		{Resolve: func(context.Context) (kube.Kind, error) { return kube.Kind{}, errEnough }},
	})
	if !errors.Is(err, errEnough) {
		t.Errorf("Run: %v; want the error of the one target", err)
	}
}
