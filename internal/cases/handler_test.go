package cases

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocampus/hark/harktest"
	"github.com/gocampus/hark/informer"
)

// whileHeld is what happens to objects while a handler is held up at x; o and p
// exist and were told before.
var whileHeld = map[string]struct {
	do     func(*world)
	events string
	store  string
}{
	"added, deleted": {
		func(w *world) { w.create("n=1"); w.delete("n") }, "", "o=1, p=1, x=2"},
	"added, changed, deleted": {
		func(w *world) { w.create("n=1"); w.set("n=2"); w.delete("n") }, "", "o=1, p=1, x=2"},
	"added, deleted, made again": {
		func(w *world) { w.create("n=1"); w.delete("n"); w.create("n=2") }, "ADDED n=2 watch", "n=2, o=1, p=1, x=2"},
	"changed, deleted": {
		func(w *world) { w.set("o=2"); w.delete("o") }, "DELETED o=2 watch", "p=1, x=2"},
	"deleted, made again": {
		func(w *world) { w.delete("o"); w.create("o=9") }, "DELETED o=1 watch, ADDED o=9 watch", "o=9, p=1, x=2"},
	"deleted, made again, deleted": {
		func(w *world) { w.delete("o"); w.create("o=9"); w.delete("o") }, "DELETED o=1 watch", "p=1, x=2"},
	"two at once": {
		func(w *world) {
			w.create("n=1")
			w.delete("o")
			w.set("p=2")
			w.delete("n")
			w.create("o=9")
			w.set("p=3")
		},
		"DELETED o=1 watch, ADDED o=9 watch, MODIFIED p=1>3 watch", "o=9, p=3, x=2"},
}

// TestCase04_ChangesWhileTheConsumerIsBlocked are merged, and leave no ghost.
func TestCase04_ChangesWhileTheConsumerIsBlocked(t *testing.T) {
	for what, held := range whileHeld {
		t.Run(what, func(t *testing.T) {
			play(t, everyWay, func(t *testing.T, w *world) {
				w.create("o=1", "p=1", "x=1")
				i := w.listenable(informer.Options{})
				block := make(chan struct{})
				var l tape
				w.handle(i, func(e informer.Event) {
					l.note(e)
					if e.Key.Name == "x" && number(e.New) == "2" {
						<-block
					}
				}, informer.HandlerOptions{})
				w.run(i)
				synctest.Wait()
				w.set("x=2")
				l.take()
				held.do(w)
				synctest.Wait()
				close(block)
				expect(t, "events", l.take(), held.events)
				expect(t, "store", content(i), held.store)
			})
		})
	}
}

// TestCase05_ResyncDoesNotUndoAPendingChange: replays tick while changes wait.
func TestCase05_ResyncDoesNotUndoAPendingChange(t *testing.T) {
	play(t, everyWay, func(t *testing.T, w *world) {
		w.create("gone=1", "o=1", "same=1", "again=1")
		i := w.listenable(informer.Options{})
		block := make(chan struct{})
		var blocked atomic.Bool
		var l tape
		w.handle(i, func(e informer.Event) {
			if l.note(e); blocked.Load() {
				<-block
			}
		}, informer.HandlerOptions{Resync: time.Minute})
		w.run(i)
		settle(30 * time.Second)
		blocked.Store(true)
		w.set("same=2") // holds the handler up
		settle(0)
		l.take()
		w.delete("gone", "again")
		w.set("o=2")
		w.create("again=9")
		settle(3 * time.Minute) // three replays
		close(block)
		events := strings.Join(l.take(), ", ")
		for _, want := range []string{"DELETED gone=1 watch", "MODIFIED o=1>2 watch", "DELETED again=1 watch, ADDED again=9 watch", "MODIFIED same=2>2 resync"} {
			if !strings.Contains(events, want) {
				t.Errorf("events %s; want %s", events, want)
			}
		}
		if strings.Contains(events, "gone=1>") || strings.Contains(events, "o=1>1") || strings.Contains(events, "again=1>") {
			t.Errorf("events %s: a replay told of what was past", events)
		}
		expect(t, "store", content(i), "again=9, o=2, same=2")
	})
}

// TestCase17_PanicInAHandlerDoesNotStopItsSync, whatever is panicked with.
func TestCase17_PanicInAHandlerDoesNotStopItsSync(t *testing.T) {
	values := map[string]any{"a text": "cannot bear b", "an error": errors.New("cannot bear b"), "nil": nil}
	playAll(t, everyWay, values, func(t *testing.T, w *world, value any) {
		w.create("a=1", "b=1", "c=1")
		var l, reported tape
		i := w.listenable(informer.Options{OnPanic: func(p *informer.PanicError) { reported.add(p.Event.Key.Name) }})
		r := w.handle(i, func(e informer.Event) {
			if e.Key.Name == "b" {
				panic(value)
			}
			l.note(e)
		}, informer.HandlerOptions{Name: "picky"})
		w.run(i)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		must(t, r.WaitSync(ctx))
		expect(t, "events", l.take(), "ADDED a=1 initial, ADDED c=1 initial")
		expect(t, "reported", reported.take(), "b")
		w.set("b=2")
		w.set("c=2")
		expect(t, "then", l.take(), "MODIFIED c=1>2 watch")
		if n := r.Status().Panics; n != 2 {
			t.Errorf("%d panics counted; want 2", n)
		}
	})
}

// TestCase26_HandlerSyncIsNotStoreSync: synced is who has handled all that
// existed; what comes meanwhile does not count.
func TestCase26_HandlerSyncIsNotStoreSync(t *testing.T) {
	play(t, everyWay, func(t *testing.T, w *world) {
		w.create("a=1", "b=1", "c=1")
		i := w.listenable(informer.Options{})
		step := make(chan struct{})
		slow := w.handle(i, func(informer.Event) { <-step }, informer.HandlerOptions{Name: "slow"})
		quick := w.handle(i, func(informer.Event) {}, informer.HandlerOptions{Name: "quick"})
		w.run(i)
		settle(time.Second)
		w.set("c=2") // waits, merged into the third
		w.create("d=1")
		for range 3 {
			synctest.Wait()
			if !status(i).Synced || !quick.Status().Synced || slow.Status().Synced {
				t.Fatalf("synced: store %v, quick %v, slow %v; want all but the slow one", status(i).Synced, quick.Status().Synced, slow.Status().Synced)
			}
			step <- struct{}{}
		}
		synctest.Wait()
		if !slow.Status().Synced {
			t.Error("not synced after the third was handled")
		}
		late := w.handle(i, func(informer.Event) { <-step }, informer.HandlerOptions{Name: "late"})
		synctest.Wait()
		if late.Status().Synced {
			t.Error("a late handler is synced before it has handled anything")
		}
		close(step)
		must(t, late.WaitSync(t.Context()))
	})
}

// TestCase28_NoCallStartsAfterClose, nor after the informer has stopped, while
// events flow; the call in flight is awaited.
func TestCase28_NoCallStartsAfterClose(t *testing.T) {
	ends := map[string]func(stop func(), r *informer.Registration){
		"closed":                  func(_ func(), r *informer.Registration) { r.Close() },
		"stopped":                 func(stop func(), _ *informer.Registration) { stop() },
		"closed, then stopped":    func(stop func(), r *informer.Registration) { r.Close(); stop() },
		"both at once":            func(stop func(), r *informer.Registration) { go r.Close(); stop() },
		"closed twice at once":    func(_ func(), r *informer.Registration) { go r.Close(); r.Close() },
		"stopped, closed at last": func(stop func(), r *informer.Registration) { stop(); r.Close() },
	}
	playAll(t, everyWay, ends, func(t *testing.T, w *world, end func(func(), *informer.Registration)) {
		w.create("a=1")
		i := w.listenable(informer.Options{})
		stop := w.stoppable(i)
		running, calls, ended := 0, 0, false
		r := w.handle(i, func(informer.Event) {
			if running++; ended {
				t.Error("a call began after the end")
			}
			calls++
			time.Sleep(time.Second)
			running--
		}, informer.HandlerOptions{Every: 1000, Resync: 500 * time.Millisecond})
		settle(1500 * time.Millisecond)
		for range 20 {
			w.set("a=2")
			w.set("a=3")
		}
		end(stop, r)
		if ended = true; running != 0 {
			t.Errorf("%d calls are running after the end", running)
		}
		w.set("a=4")
		settle(time.Minute)
		if calls == 0 {
			t.Error("the handler was never called")
		}
	})
}

// A handler that closes itself is not called again, and does not dead-lock.
func TestCase28_HandlerClosesItself(t *testing.T) {
	play(t, everyWay, func(t *testing.T, w *world) {
		w.create("a=1", "b=1", "c=1")
		i := w.listenable(informer.Options{})
		calls := 0
		var r *informer.Registration
		r = w.handle(i, func(informer.Event) { calls++; r.Close() }, informer.HandlerOptions{})
		w.run(i)
		settle(time.Second)
		w.set("a=2")
		settle(time.Second)
		if calls != 1 || len(i.Status().Handlers) != 0 {
			t.Errorf("%d calls, %d handlers left; want 1 and none", calls, len(i.Status().Handlers))
		}
	})
}

// The server goes on changing while the connection breaks and the handler goes.
func TestCase28_HandlerClosesDuringARelist(t *testing.T) {
	play(t, everyWay, func(t *testing.T, w *world) {
		w.create("a=1", "b=1")
		i, other := w.heard(informer.Options{})
		l := &tape{}
		r := w.handle(i, l.note, informer.HandlerOptions{})
		settle(time.Second)
		l.take()
		w.gap(true, func() {
			w.set("a=2")
			r.Close()
		}, harktest.Fault{Verb: "list", Times: 1, Delay: time.Second})
		expect(t, "the closed one", l.take(), "")
		expect(t, "another", other.take(), "ADDED a=1 initial, ADDED b=1 initial, MODIFIED a=1>2 relist")
	})
}
