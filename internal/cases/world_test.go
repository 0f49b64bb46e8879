package cases

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/gocampus/hark"
	"github.com/gocampus/hark/harktest"
	"github.com/gocampus/hark/informer"
	"github.com/gocampus/hark/kube"
	"github.com/gocampus/hark/reflector"
	"github.com/gocampus/hark/wire"
)

// world is an API server in memory and a client of it, in a bubble of virtual
// time. Its objects are config maps in the namespace default; a map's state is
// its field n.
type world struct {
	*harktest.Server
	t      *testing.T
	way    way
	client *kube.Client
	kind   kube.Kind
}

// way is how objects come over the wire.
type way struct {
	streaming bool
	encoding  wire.Encoding
}

func (w way) String() string {
	name := "lists"
	if w.streaming {
		name = "streams"
	}
	if w.encoding == wire.JSON {
		return name + " of JSON"
	}
	return name + " of protobuf"
}

var everyWay = []way{{true, wire.Protobuf}, {true, wire.JSON}, {false, wire.Protobuf}, {false, wire.JSON}}

var (
	streams = everyWay[:2]
	lists   = everyWay[2:]
	bothOf  = []way{everyWay[0], everyWay[2]} // where the encoding makes no difference
)

// play runs a test in a world of its own for each of the ways.
func play(t *testing.T, ways []way, test func(t *testing.T, w *world)) {
	t.Helper()
	for _, way := range ways {
		t.Run(way.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, newWorld(t, way)) })
		})
	}
}

// playAll plays a test for each input of a kind of fault.
func playAll[I any](t *testing.T, ways []way, inputs map[string]I, test func(t *testing.T, w *world, input I)) {
	t.Helper()
	for what, input := range inputs {
		t.Run(what, func(t *testing.T) {
			play(t, ways, func(t *testing.T, w *world) { test(t, w, input) })
		})
	}
}

func newWorld(t *testing.T, way way) *world {
	server := harktest.StartWith(t, harktest.Options{InMemory: true, StartVersion: 1000, NoStreamingLists: !way.streaming})
	client, err := kube.New(server.Config(), kube.Options{})
	must(t, err)
	t.Cleanup(client.CloseIdle)
	w := &world{Server: server, t: t, way: way, client: client}
	w.kind = w.resolve("configmaps")
	return w
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// settle lets time pass and then waits until nothing moves.
func settle(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (w *world) resolve(name string) kube.Kind {
	w.t.Helper()
	kind, err := w.client.Resolve(w.t.Context(), name)
	must(w.t, err)
	return kind
}

func configMap(name, n string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Data: map[string]string{"n": n}}
}

// create makes objects of "name=n".
func (w *world) create(objects ...string) {
	w.t.Helper()
	for _, text := range objects {
		name, n, _ := strings.Cut(text, "=")
		must(w.t, w.Create(w.t.Context(), configMap(name, n)))
	}
}

// set changes an object: "name=n".
func (w *world) set(text string) {
	w.t.Helper()
	name, n, _ := strings.Cut(text, "=")
	m := configMap(name, "")
	must(w.t, w.Change(w.t.Context(), m, func() { m.Data["n"] = n }))
}

func (w *world) delete(names ...string) {
	w.t.Helper()
	for _, name := range names {
		must(w.t, w.Delete(w.t.Context(), configMap(name, "")))
	}
}

// gap makes changes that no client sees happen: connections are broken and
// refused meanwhile. With forget a client cannot resume either. Then, with the
// faults given, it is on again for a minute.
func (w *world) gap(forget bool, changes func(), then ...harktest.Fault) {
	w.t.Helper()
	lift := w.Inject(harktest.Fault{Refuse: true})
	w.Restart(harktest.RestartOptions{})
	synctest.Wait()
	changes()
	if forget {
		w.Compact()
	}
	lift()
	for _, fault := range then {
		w.Inject(fault)
	}
	settle(time.Minute)
}

// clientset is client-go's client.
func (w *world) clientset() *kubernetes.Clientset {
	w.t.Helper()
	transport := &http.Transport{DialContext: w.Config().Dial}
	w.t.Cleanup(transport.CloseIdleConnections)
	c, err := kubernetes.NewForConfigAndClient(w.Config(), &http.Client{Transport: transport})
	must(w.t, err)
	return c
}

// asked returns the requests for a resource since the last ForgetRequests, as
// "list rv=5", "watch rv=5 initial".
func (w *world) asked(resource string) []string {
	return w.requests(resource, func(harktest.Request) bool { return true })
}

// answered returns those that were not refused by a broken connection.
func (w *world) answered(resource string) []string {
	return w.requests(resource, func(r harktest.Request) bool { return r.Code != 0 })
}

func (w *world) requests(resource string, count func(harktest.Request) bool) []string {
	synctest.Wait()
	var lines []string
	for _, r := range w.Requests() {
		if r.Resource == resource && count(r) {
			lines = append(lines, describe(r))
		}
	}
	return lines
}

func describe(r harktest.Request) string {
	line := r.Verb + " rv=" + r.Query.Get("resourceVersion")
	if limit := r.Query.Get("limit"); limit != "" {
		line += " limit=" + limit
	}
	if r.Query.Get("continue") != "" {
		line += " continue"
	}
	if r.Query.Get("sendInitialEvents") == "true" {
		line += " initial"
	}
	return line
}

// rv returns the newest version as a request writes it.
func (w *world) rv() string { return fmt.Sprint(w.Version()) }

// source reads the world's kind in the world's way.
func (w *world) source(o kube.SourceOptions) *kube.Source {
	o.Encoding = w.way.encoding
	return w.client.Source(w.kind, o)
}

// listen runs an informer of all config maps of the namespace default until the
// test ends.
func (w *world) listen(o informer.Options) *informer.Informer {
	w.t.Helper()
	return w.run(w.listenable(o))
}

// heard is the same with a tape of all that there is to hear, in its order.
func (w *world) heard(o informer.Options) (*informer.Informer, *tape) {
	w.t.Helper()
	i := w.listenable(o)
	l := w.follow(i)
	return w.run(i), l
}

// listenable is the same before it runs.
func (w *world) listenable(o informer.Options) *informer.Informer {
	return informer.New(w.source(kube.SourceOptions{Namespace: "default"}), o)
}

func (w *world) run(i *informer.Informer) *informer.Informer {
	w.stoppable(i)
	return i
}

// stoppable runs an informer until stop is called or the test ends.
func (w *world) stoppable(i *informer.Informer) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = i.Run(ctx) // ends with ctx alone
	}()
	stop = func() {
		cancel()
		<-done
	}
	w.t.Cleanup(stop)
	return stop
}

// handle registers a handler.
func (w *world) handle(i *informer.Informer, f func(informer.Event), o informer.HandlerOptions) *informer.Registration {
	w.t.Helper()
	r, err := i.Handle(f, o)
	must(w.t, err)
	return r
}

// follow registers a handler that writes down everything that it is told.
func (w *world) follow(i *informer.Informer) *tape {
	w.t.Helper()
	l := &tape{}
	w.handle(i, l.note, informer.HandlerOptions{Name: "tape", Every: 1 << 16})
	return l
}

// content is what a store has: "a=1", sorted.
func content(i *informer.Informer) []string {
	synctest.Wait()
	var lines []string
	for o := range i.Store().All() {
		lines = append(lines, o.Key().Name+"="+number(o))
	}
	slices.Sort(lines)
	return lines
}

// expect compares lines, given joined by ", ".
func expect(t *testing.T, what string, got []string, want string) {
	t.Helper()
	if text := strings.Join(got, ", "); text != want {
		t.Errorf("%s:\ngot  %s\nwant %s", what, text, want)
	}
}

// status returns the state of an informer's reflector when nothing moves.
func status(i *informer.Informer) reflector.Status {
	synctest.Wait()
	return i.Status().Reflector
}

// control runs a controller until stop is called, which returns what Run
// returned, or the test ends.
func control[T any](t *testing.T, c *hark.Controller[T]) (stop func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	stop = sync.OnceValue(func() error {
		cancel()
		return <-done
	})
	t.Cleanup(func() { _ = stop() })
	return stop
}

var quiet = slog.New(slog.DiscardHandler)
