package soak

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gocampus/hark/harktest"
	"github.com/gocampus/hark/key"
)

// world is a server, what is true of its objects, and the faults it is given.
type world struct {
	t      *testing.T
	rng    *rand.Rand
	server *harktest.Server
	truth  map[key.Key]truth
	faults map[string]int
	lifts  []func()
	// renumbered: the server's versions began anew at least once.
	renumbered bool
}

// truth is what the model knows of one object.
type truth struct {
	n    string // the number of its last change
	team string // label
	uid  string
}

// names is how many objects there may be in each namespace.
const names = 15

var (
	namespaces = []string{"default", "kube-system"}
	teams      = []string{"red", "blue"}
)

func newWorld(t *testing.T, seed uint64) *world {
	return &world{
		t: t, rng: rand.New(rand.NewPCG(seed, 0)),
		server: harktest.StartWith(t, harktest.Options{InMemory: true, StartVersion: 10_000, NoStreamingLists: seed%4 == 3}),
		truth:  map[key.Key]truth{}, faults: map[string]int{},
	}
}

// change makes the n-th change.
func (w *world) change(n int) {
	k := key.Key{Namespace: namespaces[w.rng.IntN(len(namespaces))], Name: fmt.Sprintf("m%d", w.rng.IntN(names))}
	m := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: k.Namespace, Name: k.Name, Labels: map[string]string{"team": teams[w.rng.IntN(len(teams))]}},
		Data:       map[string]string{"n": fmt.Sprint(n)},
	}
	_, exists := w.truth[k]
	var err error
	switch {
	case !exists:
		err = w.server.Create(w.t.Context(), m)
	case w.rng.IntN(5) == 0:
		err = w.server.Delete(w.t.Context(), m)
		delete(w.truth, k)
		m = nil
	default:
		err = w.server.Update(w.t.Context(), m)
	}
	if err != nil {
		w.t.Fatalf("change %d of %s: %v", n, k, err)
	}
	if m != nil {
		w.truth[k] = truth{n: m.Data["n"], team: m.Labels["team"], uid: string(m.UID)}
	}
}

// fault lets one thing go wrong.
func (w *world) fault() {
	choices := append(serverFaults, requestFaults...)
	f := choices[w.rng.IntN(len(choices))]
	f.start(w)
	w.faults[f.name]++
}

// settle lifts all faults and makes every follower list once more, so that what
// a lying server has withheld is seen: while nobody is connected the version
// moves on and the past is forgotten.
func (w *world) settle() {
	for _, lift := range w.lifts {
		lift()
	}
	w.lifts = nil
	up := w.server.GoDown()
	other := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "other"}}
	if err := w.server.Create(w.t.Context(), other); err != nil {
		w.t.Fatal(err)
	}
	w.server.Compact()
	if err := up(); err != nil {
		w.t.Fatal(err)
	}
}

// kindOfFault is one way to go wrong.
type kindOfFault struct {
	name  string
	start func(*world)
}

var serverFaults = []kindOfFault{
	{"watches closed", func(w *world) { w.server.CloseWatches() }},
	{"compacted", func(w *world) { w.server.Compact() }},
	{"restarted", func(w *world) { w.server.Restart(harktest.RestartOptions{}) }},
	{"restarted without history", func(w *world) { w.server.Restart(harktest.RestartOptions{Forget: true}) }},
	{"down", func(w *world) {
		up := w.server.GoDown()
		time.Sleep(time.Duration(w.rng.IntN(20)) * time.Second)
		if err := up(); err != nil {
			w.t.Fatal(err)
		}
	}},
}

// inject makes a fault of the requests of some verb.
func inject(name, verb string, f harktest.Fault) kindOfFault {
	return kindOfFault{name, func(w *world) {
		f := f
		f.Verb, f.Times, f.Resource = verb, 1+w.rng.IntN(3), "configmaps"
		if verb == "watch" {
			f.AfterEvents = w.rng.IntN(5)
		}
		w.lifts = append(w.lifts, w.server.Inject(f))
		if w.rng.IntN(3) == 0 {
			w.server.CloseWatches() // so that the fault is met soon
		}
	}}
}

var requestFaults = []kindOfFault{
	inject("watch 403", "watch", harktest.Fault{Code: 403}),
	inject("watch 404", "watch", harktest.Fault{Code: 404}),
	inject("watch 410", "watch", harktest.Fault{Code: 410}),
	inject("watch 410 event", "watch", harktest.Fault{Code: 410, EventError: true}),
	inject("watch 429", "watch", harktest.Fault{Code: 429, RetryAfter: 3 * time.Second}),
	inject("watch 500", "watch", harktest.Fault{Code: 500}),
	inject("watch 500 event", "watch", harktest.Fault{Code: 500, EventError: true}),
	inject("watch 504 too large", "watch", harktest.Fault{Code: 504, Message: "Too large resource version: 100, current: 50"}),
	inject("watch refused", "watch", harktest.Fault{Refuse: true}),
	inject("watch half-open", "watch", harktest.Fault{Silent: true}),
	inject("watch slow", "watch", harktest.Fault{BytesPerSecond: 2000}),
	inject("watch late", "watch", harktest.Fault{Delay: 5 * time.Second}),
	inject("watch cut in a frame", "watch", harktest.Fault{CutEvent: true}),
	inject("event dropped", "watch", harktest.Fault{DropEvents: 1}),
	inject("event doubled", "watch", harktest.Fault{DoubleEvents: 2}),
	inject("events replayed", "watch", harktest.Fault{ReplayEvents: 3}),
	inject("event malformed", "watch", harktest.Fault{MalformedEvent: true}),
	inject("bookmarks withheld", "watch", harktest.Fault{NoBookmarks: true}),
	inject("end bookmark withheld", "watch", harktest.Fault{NoInitialEnd: true}),
	inject("list 403", "list", harktest.Fault{Code: 403}),
	inject("list 410", "list", harktest.Fault{Code: 410}),
	inject("list 429", "list", harktest.Fault{Code: 429, RetryAfter: time.Second}),
	inject("list 503", "list", harktest.Fault{Code: 503}),
	inject("list 504 too large", "list", harktest.Fault{Code: 504, Message: "Too large resource version: 100, current: 50"}),
	inject("list refused", "list", harktest.Fault{Refuse: true}),
	inject("list half-open", "list", harktest.Fault{Silent: true}),
	inject("list cut", "list", harktest.Fault{CutAfterBytes: 700}),
}

// renumber restarts the server with versions that begin anew, lower or higher.
func (w *world) renumber() {
	w.renumbered = true
	w.faults["versions renumbered"]++
	w.server.Restart(harktest.RestartOptions{Renumber: true, StartVersion: uint64(w.rng.IntN(30_000))})
}
