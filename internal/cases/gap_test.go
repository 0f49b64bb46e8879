package cases

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocampus/hark/harktest"
	"github.com/gocampus/hark/informer"
	"github.com/gocampus/hark/key"
	"github.com/gocampus/hark/wire"
)

// gate is a handler that is held up until it is opened, and writes down what it
// is told.
type gate struct {
	tape
	open chan struct{}
}

func newGate() *gate { return &gate{open: make(chan struct{})} }

func (g *gate) note(e informer.Event) {
	<-g.open
	g.tape.note(e)
}

// ghosts are what may happen to o, which a handler has not heard of yet, in a
// gap that ends with a list.
var ghosts = map[string]struct {
	before, during func(*world)
	quick, held    string // what a quick handler, and one that is held up at x, hear
	store          string
}{
	"added, then gone": {
		func(w *world) { w.create("o=1") }, func(w *world) { w.delete("o") },
		"ADDED x=1 initial, ADDED o=1 watch, DELETED o=1 relist?", "ADDED x=1 initial", "x=1",
	},
	"added and changed, then gone": {
		func(w *world) { w.create("o=1"); w.set("o=2") }, func(w *world) { w.set("o=3"); w.delete("o") },
		"ADDED x=1 initial, ADDED o=1 watch, MODIFIED o=1>2 watch, DELETED o=2 relist?", "ADDED x=1 initial", "x=1",
	},
	"added, gone and made again": {
		func(w *world) { w.create("o=1") }, func(w *world) { w.delete("o"); w.create("o=9") },
		"ADDED x=1 initial, ADDED o=1 watch, DELETED o=1 relist?, ADDED o=9 relist", "ADDED x=1 initial, ADDED o=9 relist", "o=9, x=1",
	},
	"born and gone unseen": {
		func(*world) {}, func(w *world) { w.create("o=1"); w.delete("o") },
		"ADDED x=1 initial", "ADDED x=1 initial", "x=1",
	},
}

// TestCase01_NoGhostAfterRelist: what waits for a handler when a list says
// otherwise does not come to life again.
func TestCase01_NoGhostAfterRelist(t *testing.T) {
	for what, ghost := range ghosts {
		t.Run(what, func(t *testing.T) {
			play(t, everyWay, func(t *testing.T, w *world) {
				w.create("x=1")
				i := w.listenable(informer.Options{})
				quick, held := w.follow(i), newGate()
				w.handle(i, held.note, informer.HandlerOptions{})
				w.run(i)
				settle(time.Second)
				ghost.before(w)
				settle(time.Second)
				w.gap(true, func() { ghost.during(w) })
				close(held.open)
				expect(t, "a quick handler", quick.take(), ghost.quick)
				expect(t, "a slow handler", held.take(), ghost.held)
				expect(t, "store", content(i), ghost.store)
			})
		})
	}
}

// TestCase03_ChangeDuringDisconnectionIsHeardByEveryHandler, with resync and
// without; what is unchanged in the list is told to nobody.
func TestCase03_ChangeDuringDisconnectionIsHeardByEveryHandler(t *testing.T) {
	forget := map[string]bool{"relisted": true, "resumed": false}
	playAll(t, everyWay, forget, func(t *testing.T, w *world, forget bool) {
		w.create("o=1", "same=1")
		i := w.listenable(informer.Options{})
		plain, resyncing, late := w.follow(i), &tape{}, &tape{}
		w.handle(i, resyncing.note, informer.HandlerOptions{Resync: 10 * time.Hour})
		w.run(i)
		settle(time.Second)
		w.gap(forget, func() {
			w.set("o=2")
			w.set("o=3")
			// A handler that is registered meanwhile hears of the change too.
			w.handle(i, late.note, informer.HandlerOptions{})
			settle(0)
		})
		changed, merged := "MODIFIED o=1>3 relist", "MODIFIED o=1>3 relist"
		if !forget {
			changed, merged = "MODIFIED o=1>2 watch, MODIFIED o=2>3 watch", "MODIFIED o=1>3 watch"
		}
		expect(t, "plain", plain.take(), "ADDED o=1 initial, ADDED same=1 initial, "+changed)
		for what, l := range map[string]*tape{"resyncing": resyncing, "late": late} {
			events := l.take()
			slices.Sort(events[:2]) // what a handler that comes late finds has no order
			got := strings.Join(events, ", ")
			if begin := "ADDED o=1 initial, ADDED same=1 initial, "; got != begin+changed && got != begin+merged {
				t.Errorf("%s: %s", what, got)
			}
		}
	})
}

// TestCase18_ChangesBetweenListAndWatchAreDelivered: the watch begins long after
// the list.
func TestCase18_ChangesBetweenListAndWatchAreDelivered(t *testing.T) {
	play(t, lists, func(t *testing.T, w *world) {
		w.create("a=1", "b=1", "c=1")
		w.Inject(harktest.Fault{Verb: "watch", Skip: 1, Times: 1, Delay: 10 * time.Second}) // the first, a streaming list, is refused
		i, l := w.heard(informer.Options{})
		settle(5 * time.Second)
		expect(t, "the list", l.take(), "ADDED a=1 initial, ADDED b=1 initial, ADDED c=1 initial")
		w.delete("b")
		w.set("c=2")
		w.create("d=1", "e=1")
		w.delete("e")
		settle(time.Minute)
		expect(t, "the watch", l.take(), "DELETED b=1 watch, MODIFIED c=1>2 watch, ADDED d=1 watch, ADDED e=1 watch, DELETED e=1 watch")
		expect(t, "store", content(i), "a=1, c=2, d=1")
	})
}

// TestCase19_HalfOpenWatchIsEndedAndCaughtUp: the connection stays, nothing
// comes, and the server does not keep its timeout.
func TestCase19_HalfOpenWatchIsEndedAndCaughtUp(t *testing.T) {
	inputs := map[string]harktest.Fault{
		"from the beginning":       {},
		"after an event":           {AfterEvents: 1},
		"in the middle of a batch": {AfterEvents: 3},
	}
	playAll(t, everyWay, inputs, func(t *testing.T, w *world, fault harktest.Fault) {
		w.create("o=1")
		i := w.listen(informer.Options{})
		settle(time.Second)
		fault.Verb, fault.Silent, fault.Times = "watch", true, 1
		w.Inject(fault)
		w.CloseWatches()
		settle(time.Second)
		w.set("o=2")
		w.create("p=1")
		w.delete("p")
		w.create("q=1")
		settle(3 * time.Minute)
		expect(t, "store", content(i), "o=2, q=1")
		if n := status(i).Counts.Deaf; n != 1 {
			t.Errorf("%d requests were found deaf; want 1", n)
		}
		before := status(i).Counts
		settle(2 * time.Hour)
		if after := status(i).Counts; after.Deaf != before.Deaf || after.Relists != before.Relists {
			t.Errorf("in two quiet hours the counts went from %+v to %+v", before, after)
		}
	})
}

// A request that is accepted and never answered does not keep the first list
// from coming.
func TestCase19_HalfOpenListIsEndedToo(t *testing.T) {
	play(t, everyWay, func(t *testing.T, w *world) {
		w.create("o=1")
		verb := "list"
		if w.way.streaming {
			verb = "watch"
		}
		w.Inject(harktest.Fault{Verb: verb, Resource: "configmaps", Silent: true, Times: 2})
		i := w.listen(informer.Options{})
		settle(5 * time.Minute)
		expect(t, "store", content(i), "o=1")
		if s := status(i); s.Reason != nil {
			t.Errorf("status %+v; want all well", s)
		}
	})
}

// object returns what a store has of a config map.
func object(t *testing.T, i *informer.Informer, name string) *wire.Object {
	t.Helper()
	o, ok := i.Store().Get(key.Key{Namespace: "default", Name: name})
	if !ok {
		t.Fatalf("the store has no %s", name)
	}
	return o
}
