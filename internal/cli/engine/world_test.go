package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gocampus/hark/informer"
	"github.com/gocampus/hark/internal/cli/hook"
	"github.com/gocampus/hark/key"
	"github.com/gocampus/hark/kube"
	"github.com/gocampus/hark/watch"
	"github.com/gocampus/hark/wire"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Println(err)
		code = 1
	}
	os.Exit(code)
}

var (
	pods    = kind("", "Pod", "pods")
	widgets = kind("example.com", "Widget", "widgets")
)

func kind(group, name, resource string) kube.Kind {
	return kube.Kind{
		GVR:        schema.GroupVersionResource{Group: group, Version: "v1", Resource: resource},
		GVK:        schema.GroupVersionKind{Group: group, Version: "v1", Kind: name},
		Namespaced: true,
	}
}

// world is a feed that a test moves, and a program that the test is.
type world struct {
	t      *testing.T
	sink   Sink
	engine *Engine
	cancel context.CancelCauseFunc
	ended  chan struct{}
	feed   chan error // ends the feed
	result Summary
	err    error

	telling sync.Mutex // guards what follows; it is held while a change is told
	version int
	states  map[Key]*wire.Object

	mu    sync.Mutex // guards what follows
	runs  []*hook.Request
	ends  []Run
	loops []HotLoop
	when  []error
	work  func(ctx context.Context, r *hook.Request) (hook.Result, error)
}

// Run implements Feed.
func (w *world) Run(ctx context.Context, sink Sink) error {
	w.sink = sink
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case err := <-w.feed:
		return err
	}
}

// program implements Program.
type program struct{ *world }

func (p program) Run(ctx context.Context, r *hook.Request) (hook.Result, error) {
	p.mu.Lock()
	p.runs = append(p.runs, r)
	work := p.work
	p.mu.Unlock()
	if work == nil {
		return hook.Result{}, nil
	}
	return work(ctx, r)
}

// begin starts an engine in a bubble.
func begin(t *testing.T, o Options, work func(context.Context, *hook.Request) (hook.Result, error)) *world {
	t.Helper()
	w := &world{t: t, work: work, states: map[Key]*wire.Object{}, ended: make(chan struct{}), feed: make(chan error, 1)}
	o.Program = program{w}
	o.OnRun = func(r Run) { w.mu.Lock(); defer w.mu.Unlock(); w.ends = append(w.ends, r) }
	o.OnLoop = func(l HotLoop) { w.mu.Lock(); defer w.mu.Unlock(); w.loops = append(w.loops, l) }
	o.OnWhenError = func(_ Key, err error) { w.mu.Lock(); defer w.mu.Unlock(); w.when = append(w.when, err) }
	if o.FieldManager == "" {
		o.FieldManager = "hark-run"
	}
	w.engine = New(o)
	ctx, cancel := context.WithCancelCause(t.Context())
	w.cancel = cancel
	go func() {
		defer close(w.ended)
		w.result, w.err = w.engine.Run(ctx, w)
	}()
	synctest.Wait()
	t.Cleanup(func() { w.end() })
	return w
}

// end is Ctrl+C.
func (w *world) end() Summary {
	w.cancel(nil)
	<-w.ended
	return w.result
}

// finished waits until the engine has ended by itself.
func (w *world) finished() Summary {
	<-w.ended
	return w.result
}

// set gives an object a new state and tells it. fields are part of the object.
func (w *world) set(k kube.Kind, name string, fields ...map[string]any) {
	w.tell(k, name, watch.CauseWatch, fields...)
}

func (w *world) tell(k kube.Kind, name string, cause watch.Cause, fields ...map[string]any) {
	w.t.Helper()
	w.telling.Lock()
	defer w.telling.Unlock()
	w.version++
	metadata := map[string]any{"namespace": "default", "name": name, "resourceVersion": strconv.Itoa(w.version), "uid": name}
	object := map[string]any{"metadata": metadata, "spec": w.version}
	for _, some := range fields {
		for field, value := range some {
			if field == "managedFields" {
				metadata[field] = value
			} else {
				object[field] = value
			}
		}
	}
	raw, err := json.Marshal(object)
	if err != nil {
		w.t.Fatal(err)
	}
	state, err := wire.NewObject(wire.JSON, raw)
	if err != nil {
		w.t.Fatal(err)
	}
	id := Key{k.String(), keyOf(name)}
	event := informer.Event{Type: watch.EventModified, Key: id.Key, Old: w.states[id], New: state, Cause: cause}
	if event.Old == nil {
		event.Type = watch.EventAdded
	}
	w.states[id] = state
	w.sink.Tell(Event{event, k, time.Now()})
}

func (w *world) remove(k kube.Kind, name string) {
	w.telling.Lock()
	defer w.telling.Unlock()
	id := Key{k.String(), keyOf(name)}
	event := informer.Event{Type: watch.EventDeleted, Key: id.Key, Old: w.states[id], Cause: watch.CauseWatch}
	delete(w.states, id)
	w.sink.Tell(Event{event, k, time.Now()})
}

// resync tells what is there again.
func (w *world) resync(k kube.Kind, name string) {
	w.telling.Lock()
	defer w.telling.Unlock()
	id := Key{k.String(), keyOf(name)}
	state := w.states[id]
	w.sink.Tell(Event{informer.Event{Type: watch.EventModified, Key: id.Key, Old: state, New: state, Cause: watch.CauseResync}, k, time.Now()})
}

// does makes the program another one.
func (w *world) does(work func(context.Context, *hook.Request) (hook.Result, error)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.work = work
}

// told are the runs so far.
func (w *world) told() []*hook.Request {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]*hook.Request(nil), w.runs...)
}

func (w *world) outcomes() []Run {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]Run(nil), w.ends...)
}

// expectRuns waits until nothing moves and checks the number of runs.
func (w *world) expectRuns(want int) []*hook.Request {
	w.t.Helper()
	synctest.Wait()
	runs := w.told()
	if len(runs) != want {
		w.t.Fatalf("%d runs; want %d", len(runs), want)
	}
	return runs
}

func keyOf(name string) key.Key { return key.Key{Namespace: "default", Name: name} }
