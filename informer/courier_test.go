package informer

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocampus/hark/delta"
	"github.com/gocampus/hark/internal/watchtest"
	"github.com/gocampus/hark/reflector"
	"github.com/gocampus/hark/watch"
	"github.com/gocampus/hark/wire"
)

var quick = HandlerOptions{Quick: true}

// at makes a step wait for its turn.
func at(s watchtest.Step, when <-chan struct{}) watchtest.Step {
	s.When = when
	return s
}

func TestQuickHandlersHearTheSameAsOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		more := make(chan struct{})
		i := New(watchtest.New(watchtest.Stream("5", []string{"a@1", "b/1@2"},
			at(watchtest.Modified("a@6"), more), watchtest.Added("b/2@7"), watchtest.Added("c@8"), watchtest.Deleted("c@9"))), Options{})
		tapes := make([]tape, 4)
		var told []*Registration
		for n, o := range []HandlerOptions{quick, {Every: 100}, quick, {Quick: true, Every: 100}} {
			told = append(told, handle(t, i, tapes[n].handle, o))
		}
		run(t, i)
		for _, r := range told {
			if err := r.WaitSync(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		initial := []string{"ADDED - > a@1 initial", "ADDED - > b/1@2 initial"}
		for n := range tapes {
			expect(t, fmt.Sprintf("initial events of handler %d", n), tapes[n].take(), initial)
		}
		close(more)
		synctest.Wait()
		// A group that finds several changes waiting may be told c as nothing.
		for n := range tapes {
			got := slices.DeleteFunc(tapes[n].take(), func(line string) bool { return strings.Contains(line, "c@") })
			expect(t, fmt.Sprintf("events of handler %d", n), got, []string{"MODIFIED a@1 > a@6 watch",
				"DELETED b/1@2 > - watch final state unknown", "ADDED - > b/2@7 watch"})
		}
		if len(i.couriers) != 3 {
			t.Errorf("%d couriers; want one for the quick handlers and one for each of the others", len(i.couriers))
		}
	})
}

// TestQuickHandlersConvergeWhileOthersComeGoAndFail: handlers that register, close,
// panic and end their goroutine at random, over a server that fails at random.
func TestQuickHandlersConvergeWhileOthersComeGoAndFail(t *testing.T) {
	seed := rand.Uint64()
	t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 1))
			server := watchtest.NewServer(rand.New(rand.NewPCG(seed, 2)))
			server.SetFaults(60)
			i := New(server, Options{Reflector: reflector.Options{MaxBackoff: 2 * time.Second}})
			c := company{t: t, rng: rng, informer: i}
			c.join()
			run(t, i)
			for range 10_000 {
				server.Mutate(30)
				c.act()
				if rng.IntN(3) == 0 {
					time.Sleep(time.Duration(rng.IntN(500)) * time.Millisecond)
				}
			}
			server.SetFaults(0)
			time.Sleep(time.Hour)
			c.check(server.Content())
			t.Logf("%d handlers, %d of them closed, %d failures", c.joined, c.joined-len(c.staff), c.failures)
		})
	})
}

// company is quick handlers that come and go.
type company struct {
	t        *testing.T
	rng      *rand.Rand
	informer *Informer
	staff    []*clerk
	joined   int
	failures int
}

// clerk is one of them.
type clerk struct {
	fold   fold
	kind   int
	rng    *rand.Rand // its own: it is used in the courier's goroutine
	told   uint64
	failed uint64
	closed bool
	r      *Registration
}

func (c *company) act() {
	switch n := c.rng.IntN(100); {
	case n < 3 && len(c.staff) < 12:
		c.join()
	case n < 5 && len(c.staff) > 0:
		n := c.rng.IntN(len(c.staff))
		gone := c.staff[n]
		c.staff = slices.Delete(c.staff, n, n+1)
		gone.r.Close()
		gone.closed = true
		c.failures += int(gone.failed)
	}
}

func (c *company) join() {
	c.joined++
	k := &clerk{fold: fold{t: c.t}, kind: c.joined % 4, rng: rand.New(rand.NewPCG(c.rng.Uint64(), 0))}
	if k.kind == 3 {
		k.fold.pause = 50 * time.Millisecond // not that quick, so that events wait
	}
	k.r = handle(c.t, c.informer, k.handle, quick)
	c.staff = append(c.staff, k)
}

func (k *clerk) handle(e Event) {
	if k.closed {
		k.fold.t.Error("a call after Close")
	}
	k.told++
	k.fold.handle(e)
	if k.kind == 0 || k.rng.IntN(20) > 0 {
		return
	}
	k.failed++
	if k.kind == 1 {
		panic("one in twenty")
	}
	runtime.Goexit()
}

func (c *company) check(want []string) {
	c.t.Helper()
	for n, k := range c.staff {
		expect(c.t, fmt.Sprintf("fold of handler %d", n), k.fold.content(), want)
		s := k.r.Status()
		if !s.Synced || s.Pending != 0 || s.Delivered != k.told || s.Panics != k.failed {
			c.t.Errorf("status %+v; want synced, nothing pending, %d delivered, %d panics", s, k.told, k.failed)
		}
		c.failures += int(k.failed)
	}
}

func TestLateQuickHandlerHearsWhatTheStoreHasThenEveryChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		more := make(chan struct{})
		i := New(watchtest.New(watchtest.Stream("5", []string{"a@1", "b@2"},
			watchtest.Modified("a@6"), at(watchtest.Modified("a@7"), more), watchtest.Deleted("b@8"))), Options{})
		block := make(chan struct{})
		var early, late tape
		handle(t, i, func(e Event) { <-block; early.handle(e) }, quick)
		run(t, i)
		synctest.Wait() // in the first call; a@6 waits for it
		r := handle(t, i, late.handle, quick)
		if s := r.Status(); s.Pending < 2 || s.Synced {
			t.Errorf("status %+v; want at least what the store has pending", s)
		}
		close(more)
		synctest.Wait()
		close(block)
		if err := r.WaitSync(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		got := late.take()
		slices.Sort(got[:2])
		expect(t, "late", got, []string{"ADDED - > a@6 initial", "ADDED - > b@2 initial", "MODIFIED a@6 > a@7 watch", "DELETED b@8 > - watch"})
		if got := early.take(); got[len(got)-1] != "DELETED b@8 > - watch" {
			t.Errorf("early: %q; want the deletion at last", got)
		}
		if s := r.Status(); s.Pending != 0 || s.Delivered != 4 || len(i.couriers) != 1 {
			t.Errorf("status %+v, %d couriers; want nothing pending, 4 delivered, 1", s, len(i.couriers))
		}
	})
}

// TestLateQuickHandlerIsSyncedWithTheStore, not before, when the store is not yet.
func TestLateQuickHandlerIsSyncedWithTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		end := make(chan struct{})
		source := watchtest.New(watchtest.Watch(watchtest.Added("a@3"), at(watchtest.InitialEnd("10"), end)))
		i := New(source, Options{})
		handle(t, i, func(Event) {}, quick)
		run(t, i)
		synctest.Wait()
		var l tape
		r := handle(t, i, l.handle, quick)
		synctest.Wait()
		expect(t, "events", l.take(), []string{"ADDED - > a@3 initial"})
		if r.Status().Synced {
			t.Error("synced before the store")
		}
		close(end)
		if err := r.WaitSync(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestSlowQuickHandlerDelaysOnlyItsGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var changes []watchtest.Step
		for v := range 1000 {
			changes = append(changes, watchtest.Modified(fmt.Sprintf("a@%d", 10+v)))
		}
		i := New(watchtest.New(watchtest.Stream("5", []string{"a@1"}, changes...)), Options{})
		block := make(chan struct{})
		var behind, apart tape
		handle(t, i, func(Event) { <-block }, quick)
		delayed := handle(t, i, behind.handle, quick)
		handle(t, i, apart.handle, HandlerOptions{Every: 2000})
		run(t, i)
		synctest.Wait()
		expect(t, "store", content(i.Store()), []string{"a@1009"})
		if n := len(apart.take()); n != 1001 {
			t.Errorf("the handler outside the group heard %d events; want all 1001", n)
		}
		if s := delayed.Status(); s.Delivered != 0 || s.Pending == 0 || s.Pending > groupBatch+1 {
			t.Errorf("status %+v of the handler behind; want all that waits for one key", s)
		}
		close(block)
		synctest.Wait()
		if got := behind.take(); !strings.HasSuffix(got[len(got)-1], "> a@1009 watch") {
			t.Errorf("the handler behind heard %q; want the newest state at last", got)
		}
	})
}

// TestPendingCountsTheRestOfABatch, and Close of one drops it.
func TestPendingCountsTheRestOfABatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		more := make(chan struct{})
		i := New(watchtest.New(watchtest.Stream("5", []string{"a@1", "b@2", "c@3"}, at(watchtest.Added("d@6"), more))), Options{})
		run(t, i)
		synctest.Wait()
		step := make(chan struct{})
		var l, other tape
		r := handle(t, i, func(e Event) { <-step; l.handle(e) }, quick)
		next := handle(t, i, other.handle, quick)
		for want := 2; want >= 0; want-- {
			synctest.Wait()
			if s := r.Status(); s.Pending != want || s.Delivered != uint64(3-want) {
				t.Errorf("status %+v; want %d pending", s, want)
			}
			if want == 1 {
				break
			}
			step <- struct{}{}
		}
		close(more)
		synctest.Wait()
		if n := r.Status().Pending; n != 2 {
			t.Errorf("%d pending; want the rest of the batch and the change", n)
		}
		closed := make(chan struct{})
		go func() { r.Close(); close(closed) }()
		synctest.Wait()
		select {
		case <-closed:
			t.Fatal("Close returned while a call was running")
		default:
		}
		step <- struct{}{}
		<-closed
		synctest.Wait()
		if n, s := len(l.take()), r.Status(); n != 2 || s.Pending != 0 {
			t.Errorf("%d calls, status %+v; want the 2 that had begun, and nothing pending", n, s)
		}
		if n, s := len(other.take()), next.Status(); n != 4 || s.Pending != 0 {
			t.Errorf("%d events told to the next handler, status %+v; want all 4", n, s)
		}
	})
}

func TestQuickHandlerClosesItselfAndOthersFromWithin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := New(watchtest.New(watchtest.Stream("5", []string{"a@1", "b@2", "c@3"})), Options{})
		var first, second, third tape
		var closer, victim *Registration
		closer = handle(t, i, func(e Event) {
			first.handle(e)
			if e.Key.Name == "b" {
				victim.Close()
				closer.Close()
			}
		}, quick)
		victim = handle(t, i, second.handle, quick)
		r := handle(t, i, third.handle, quick)
		run(t, i)
		if err := r.WaitSync(t.Context()); err != nil {
			t.Fatal(err)
		}
		all := []string{"ADDED - > a@1 initial", "ADDED - > b@2 initial", "ADDED - > c@3 initial"}
		expect(t, "the one that closes", first.take(), all[:2])
		expect(t, "the one that goes on", third.take(), all)
		for _, line := range second.take() { // as far as batches went
			if line == all[2] {
				t.Error("the closed one was told c")
			}
		}
		if n := len(i.Status().Handlers); n != 1 {
			t.Errorf("%d handlers are left; want 1", n)
		}
	})
}

func TestGroupEndsWithItsLastHandlerAndBeginsAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		more := make(chan struct{})
		i := New(watchtest.New(watchtest.Stream("5", []string{"a@1"}, at(watchtest.Modified("a@6"), more))), Options{})
		one, two := handle(t, i, func(Event) {}, quick), handle(t, i, func(Event) {}, quick)
		run(t, i)
		synctest.Wait()
		one.Close()
		two.Close()
		two.Close()
		if len(i.couriers) != 0 || i.group != nil {
			t.Errorf("%d couriers are left", len(i.couriers))
		}
		var l tape
		handle(t, i, l.handle, quick)
		close(more)
		synctest.Wait()
		expect(t, "a handler of a new group", l.take(), []string{"ADDED - > a@1 initial", "MODIFIED a@1 > a@6 watch"})
	})
}

func TestHandlerClosedBeforeItsTurnIsNeverCalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := New(watchtest.New(watchtest.Stream("5", []string{"a@1", "b@2"})), Options{})
		block := make(chan struct{})
		var l tape
		handle(t, i, func(Event) { <-block }, quick)
		early := handle(t, i, l.handle, quick)
		run(t, i)
		synctest.Wait()
		late := handle(t, i, l.handle, quick) // joins when the group comes round to it
		early.Close()
		place := late.awaits
		late.Close()
		if place == nil || place.objects != nil {
			t.Error("what the closed handler would be told is kept until its turn")
		}
		close(block)
		synctest.Wait()
		expect(t, "events", l.take(), nil)
		if early.Status().Synced || late.Status().Synced {
			t.Error("a closed handler became synced")
		}
	})
}

// TestStopCallsNoFurtherHandler of a group that is in the middle of a batch.
func TestStopCallsNoFurtherHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := New(watchtest.New(watchtest.Stream("5", []string{"a@1"})), Options{})
		block := make(chan struct{})
		var l tape
		handle(t, i, func(Event) { <-block }, quick)
		handle(t, i, l.handle, quick)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- i.Run(ctx) }()
		synctest.Wait()
		cancel()
		synctest.Wait()
		close(block)
		<-done
		expect(t, "events", l.take(), nil)
	})
}

// TestFailureOfOneQuickHandlerIsItsOwn, by panic and by the end of its goroutine,
// while it joins and in a batch.
func TestFailureOfOneQuickHandlerIsItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		more := make(chan struct{})
		var reported []string
		i := New(watchtest.New(watchtest.Stream("5", []string{"a@1", "b@2"}, at(watchtest.Added("c@6"), more), watchtest.Added("d@7"))),
			Options{OnPanic: func(p *PanicError) {
				reported = append(reported, fmt.Sprintf("%s %s %v", p.Handler, p.Event.Key.Name, p.Value))
			}})
		run(t, i)
		synctest.Wait()
		fail := map[string]func(){"panics": func() { panic("no") }, "exits": runtime.Goexit, "works": func() {}}
		tapes, told := map[string]*tape{}, map[string]*Registration{}
		for _, name := range []string{"panics", "exits", "works"} {
			l := &tape{}
			tapes[name] = l
			told[name] = handle(t, i, func(e Event) { l.handle(e); fail[name]() }, HandlerOptions{Name: name, Quick: true})
		}
		synctest.Wait()
		close(more)
		synctest.Wait()
		for name, l := range tapes {
			got := l.take()
			slices.Sort(got)
			expect(t, name, got, []string{"ADDED - > a@1 initial", "ADDED - > b@2 initial", "ADDED - > c@6 watch", "ADDED - > d@7 watch"})
			s, want := told[name].Status(), uint64(4)
			if name == "works" {
				want = 0
			}
			if s.Panics != want || s.Delivered != 4 || s.Pending != 0 || !s.Synced {
				t.Errorf("%s: %+v; want %d panics", name, s, want)
			}
		}
		slices.Sort(reported)
		expect(t, "reported", reported, []string{
			"exits a runtime.Goexit was called", "exits b runtime.Goexit was called",
			"exits c runtime.Goexit was called", "exits d runtime.Goexit was called",
			"panics a no", "panics b no", "panics c no", "panics d no"})
	})
}

// TestGoexitOfAHandlerThatIsBeingClosedEndsTheWait.
func TestGoexitOfAHandlerThatIsBeingClosedEndsTheWait(t *testing.T) {
	for _, o := range []HandlerOptions{{}, quick} {
		synctest.Test(t, func(t *testing.T) {
			i := New(watchtest.New(watchtest.Stream("5", []string{"a@1", "b@2"})), Options{})
			block := make(chan struct{})
			calls := 0
			r := handle(t, i, func(Event) { calls++; <-block; runtime.Goexit() }, o)
			run(t, i)
			synctest.Wait()
			closed := make(chan struct{})
			go func() { r.Close(); close(closed) }()
			synctest.Wait()
			close(block)
			<-closed
			synctest.Wait()
			if calls != 1 {
				t.Errorf("%d calls; want none after Close", calls)
			}
		})
	}
}

func TestSteadyDeliveryToAGroupAllocatesNothing(t *testing.T) {
	i := New(watchtest.New(), Options{})
	calls := 0
	for range 10 {
		handle(t, i, func(Event) { calls++ }, quick)
	}
	c := i.group
	for range 10 {
		c.fetch(t.Context()) // the mark of one that joins
		c.fetch(t.Context()) // its objects, of which there are none
	}
	a, b := watchtest.Object("a@1"), watchtest.Object("a@2")
	round := func() {
		i.tell(changeOf(a, b))
		c.fetch(t.Context())
		c.tellAll(t.Context())
	}
	round()
	if n := testing.AllocsPerRun(1000, round); n != 0 {
		t.Errorf("%v allocations an event; want 0", n)
	}
	if calls != 10*1002 {
		t.Errorf("%d calls; want one of each handler an event", calls)
	}
}

func changeOf(a, b *wire.Object) delta.Change {
	return delta.Change{Key: a.Key(), Old: a, New: b, Cause: watch.CauseWatch}
}
