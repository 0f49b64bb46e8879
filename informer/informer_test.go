package informer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gocampus/hark/internal/watchtest"
	"github.com/gocampus/hark/reflector"
	"github.com/gocampus/hark/store"
	"github.com/gocampus/hark/watch"
)

// errEnd is the cause with which tests end a Run.
var errEnd = errors.New("test is over")

// tape writes down what a handler is told.
type tape struct {
	mu    sync.Mutex
	lines []string
}

func (l *tape) handle(e Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := fmt.Sprintf("%s %s > %s %s", e.Type, watchtest.Text(e.Old), watchtest.Text(e.New), e.Cause)
	if e.FinalStateUnknown {
		text += " final state unknown"
	}
	l.lines = append(l.lines, text)
}

func (l *tape) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := l.lines
	l.lines = nil
	return lines
}

// run runs an informer until the test ends, and checks that Run ends with it.
func run(t *testing.T, i *Informer) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(context.Background())
	done := make(chan error, 1)
	go func() { done <- i.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel(errEnd)
		if err := <-done; !errors.Is(err, errEnd) {
			t.Errorf("Run = %v; want the cause of its context", err)
		}
	})
	t.Cleanup(stop)
	return stop
}

func handle(t *testing.T, i *Informer, f func(Event), o HandlerOptions) *Registration {
	t.Helper()
	r, err := i.Handle(f, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func content(s *store.Store) []string {
	var got []string
	for o := range s.All() {
		got = append(got, watchtest.Text(o))
	}
	slices.Sort(got)
	return got
}

func expect(t *testing.T, what string, got, want []string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got)\n%s", what, diff)
	}
}

func TestHandlersHearTheInitialStateAndEveryChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := watchtest.New(watchtest.Stream("10", []string{"a@3", "b@4"},
			watchtest.Modified("a@11"), watchtest.Added("c@12"), watchtest.Deleted("b@13"), watchtest.Bookmark("20")))
		i := New(source, Options{})
		var l tape
		handle(t, i, l.handle, HandlerOptions{Every: 100})
		run(t, i)
		synctest.Wait()
		expect(t, "events", l.take(), []string{
			"ADDED - > a@3 initial", "ADDED - > b@4 initial",
			"MODIFIED a@3 > a@11 watch", "ADDED - > c@12 watch", "DELETED b@13 > - watch",
		})
		expect(t, "store", content(i.Store()), []string{"a@11", "c@12"})
		if v := i.Store().Version(); v != "20" {
			t.Errorf("version = %s; want the bookmark's", v)
		}
	})
}

func TestListAndWatchGiveTheSameAsAStreamingList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := watchtest.New(watchtest.Refuse(watch.KindInvalid), watchtest.List("10", "a@3", "b@4"),
			watchtest.Watch(watchtest.Modified("a@11")))
		i := New(source, Options{})
		var l tape
		handle(t, i, l.handle, HandlerOptions{Every: 100})
		run(t, i)
		synctest.Wait()
		expect(t, "events", l.take(), []string{"ADDED - > a@3 initial", "ADDED - > b@4 initial", "MODIFIED a@3 > a@11 watch"})
		expect(t, "requests", source.Requests(), []string{`watch rv="" initial`, `list rv="" limit=500`, `watch rv="10"`})
	})
}

// TestCase01_NoGhostAfterRelist: an ADDED that the handler has not seen yet
// when a relist shows that the object is gone.
func TestCase01_NoGhostAfterRelist(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := watchtest.New(watchtest.Stream("5", nil, watchtest.Added("o@6")).ThenEnd(io.ErrUnexpectedEOF),
			watchtest.Refuse(watch.KindExpired), watchtest.Stream("9", nil))
		i := New(source, Options{})
		block := make(chan struct{})
		var slow, quick tape
		handle(t, i, func(e Event) { <-block; slow.handle(e) }, HandlerOptions{})
		handle(t, i, quick.handle, HandlerOptions{Every: 10})
		run(t, i)
		time.Sleep(time.Minute)
		close(block)
		synctest.Wait()
		expect(t, "store", content(i.Store()), nil)
		expect(t, "quick handler", quick.take(), []string{"ADDED - > o@6 watch", "DELETED o@6 > - relist final state unknown"})
		expect(t, "slow handler", slow.take(), []string{"ADDED - > o@6 watch", "DELETED o@6 > - relist final state unknown"})
	})
}

// TestCase03_ChangeDuringDisconnectionIsHeardByEveryHandler, resync or not; what
// has not changed is told to nobody.
func TestCase03_ChangeDuringDisconnectionIsHeardByEveryHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := watchtest.New(watchtest.Stream("5", []string{"o@5", "same@4"}, watchtest.Bookmark("5")).ThenEnd(io.ErrUnexpectedEOF),
			watchtest.Refuse(watch.KindExpired), watchtest.Stream("7", []string{"o@7", "same@4"}))
		i := New(source, Options{})
		var plain, resyncing tape
		handle(t, i, plain.handle, HandlerOptions{Every: 10})
		handle(t, i, resyncing.handle, HandlerOptions{Every: 10, Resync: 10 * time.Hour})
		run(t, i)
		time.Sleep(time.Minute)
		want := []string{"ADDED - > o@5 initial", "ADDED - > same@4 initial", "MODIFIED o@5 > o@7 relist"}
		expect(t, "plain", plain.take(), want)
		expect(t, "resyncing", resyncing.take(), want)
	})
}

// TestCase04_AddAndDeleteWhileTheConsumerIsBlocked leaves no ghost.
func TestCase04_AddAndDeleteWhileTheConsumerIsBlocked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := New(watchtest.New(watchtest.Stream("4", []string{"x@1"}, watchtest.Added("o@5"), watchtest.Deleted("o@6"))), Options{})
		block := make(chan struct{})
		var l tape
		handle(t, i, func(e Event) { <-block; l.handle(e) }, HandlerOptions{})
		run(t, i)
		synctest.Wait()
		close(block)
		synctest.Wait()
		expect(t, "events", l.take(), []string{"ADDED - > x@1 initial"})
		expect(t, "store", content(i.Store()), []string{"x@1"})
	})
}

// TestCase05_ResyncDoesNotUndoAPendingChange: changes arrive, and two resyncs
// tick, while the handler is held up by a replay.
func TestCase05_ResyncDoesNotUndoAPendingChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		late := make(chan struct{})
		deleted, modified := watchtest.Deleted("gone@6"), watchtest.Modified("o@7")
		deleted.When, modified.When = late, late
		i := New(watchtest.New(watchtest.Stream("5", []string{"a@1", "b@2", "gone@4", "o@5"}, deleted, modified)), Options{})
		block := make(chan struct{})
		told := fold{t: t} // fails when an event does not follow from what was told before
		handle(t, i, func(e Event) {
			if e.Cause == watch.CauseResync {
				<-block
			}
			told.handle(e)
		}, HandlerOptions{Resync: time.Minute})
		run(t, i)
		time.Sleep(time.Minute + time.Second)
		close(late)
		time.Sleep(time.Minute)
		close(block)
		synctest.Wait()
		expect(t, "told", told.content(), []string{"a@1", "b@2", "o@7"})
	})
}

// TestCase07_EndBookmarkNeverComes: synced all the same, by LIST and WATCH.
func TestCase07_EndBookmarkNeverComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := watchtest.New(watchtest.Watch(watchtest.Added("a@3"), watchtest.Added("b@4"), watchtest.Bookmark("10")),
			watchtest.List("12", "a@3", "b@4"), watchtest.Watch())
		i := New(source, Options{})
		var l tape
		r := handle(t, i, l.handle, HandlerOptions{Every: 10})
		run(t, i)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := r.WaitSync(ctx); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // until it watches, too
		expect(t, "events", l.take(), []string{"ADDED - > a@3 initial", "ADDED - > b@4 initial"})
		expect(t, "requests", source.Requests(), []string{`watch rv="" initial`, `list rv="" limit=500`, `watch rv="12"`})
	})
}

// TestCase08_TooLargeVersionLeadsToAConsistentList.
func TestCase08_TooLargeVersionLeadsToAConsistentList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := watchtest.New(watchtest.List("100", "a@90", "b@100"),
			watchtest.Watch(watchtest.Error(watch.KindExpired)),
			watchtest.Refuse(watch.KindTooLargeVersion), watchtest.List("50", "a@40"), watchtest.Watch())
		i := New(source, Options{Reflector: reflector.Options{NoStreaming: true}})
		var l tape
		handle(t, i, l.handle, HandlerOptions{Every: 10})
		run(t, i)
		time.Sleep(time.Minute)
		expect(t, "requests", source.Requests(), []string{
			`list rv="" limit=500`, `watch rv="100"`, `list rv="100"`, `list rv="" limit=500`, `watch rv="50"`})
		expect(t, "store: what the server has, though its versions went back", content(i.Store()), []string{"a@40"})
		expect(t, "events", l.take(), []string{"ADDED - > a@90 initial", "ADDED - > b@100 initial",
			"MODIFIED a@90 > a@40 relist", "DELETED b@100 > - relist final state unknown"})
	})
}

// TestCase11_OneBadObjectLeavesTheOthersUsable.
func TestCase11_OneBadObjectLeavesTheOthersUsable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := watchtest.Step{Err: &watch.Error{Kind: watch.KindObject, Message: "item 2"}}
		answer := watchtest.Answer{
			Steps: []watchtest.Step{watchtest.Added("one@1"), bad, watchtest.Added("three@3"), watchtest.InitialEnd("5"),
				bad, watchtest.Modified("three@6"), watchtest.Added("two@7")},
		}
		reports := 0
		i := New(watchtest.New(answer), Options{Reflector: reflector.Options{OnBadObject: func(*watch.Error) { reports++ }}})
		run(t, i)
		synctest.Wait()
		expect(t, "store", content(i.Store()), []string{"one@1", "three@6", "two@7"})
		if n := i.Status().Reflector.Counts.BadObjects; n != 2 || reports != 2 {
			t.Errorf("%d bad objects counted, %d reported; want 2", n, reports)
		}
	})
}

// TestCase12_ForbiddenIsAStateWithAReason and heals without a restart.
func TestCase12_ForbiddenIsAStateWithAReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var answers []watchtest.Answer
		for range 20 {
			answers = append(answers, watchtest.Answer{Err: &watch.Error{Kind: watch.KindForbidden, Code: 403, Message: `pods is forbidden`}})
		}
		i := New(watchtest.New(append(answers, watchtest.Stream("5", []string{"a@5"}))...), Options{})
		run(t, i)
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		err := i.WaitSync(ctx)
		known, ok := errors.AsType[*watch.Error](err)
		if !ok || known.Kind != watch.KindForbidden || !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "pods is forbidden") {
			t.Fatalf("WaitSync = %v; want the deadline and the reason", err)
		}
		began := time.Now()
		if err := i.WaitSync(t.Context()); err != nil {
			t.Fatal(err)
		}
		if waited := time.Since(began); waited > 20*36*time.Second {
			t.Errorf("waited %s; the pause must be bounded", waited)
		}
		if s := i.Status().Reflector; s.Reason != nil || s.Phase != reflector.Watching {
			t.Errorf("status after it healed: %s, %v", s.Phase, s.Reason)
		}
	})
}

// TestCase15_AnotherUIDIsDeleteAndAdd in a gap and live.
func TestCase15_AnotherUIDIsDeleteAndAdd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := watchtest.New(
			watchtest.Stream("5", []string{"o/U1@5"}, watchtest.Bookmark("5")).ThenEnd(io.ErrUnexpectedEOF),
			watchtest.Refuse(watch.KindExpired),
			watchtest.Stream("9", []string{"o/U2@8"}, watchtest.Deleted("o/U2@10"), watchtest.Added("o/U3@11")))
		i := New(source, Options{})
		var l tape
		handle(t, i, l.handle, HandlerOptions{Every: 10})
		run(t, i)
		time.Sleep(time.Minute)
		expect(t, "events", l.take(), []string{
			"ADDED - > o/U1@5 initial",
			"DELETED o/U1@5 > - relist final state unknown", "ADDED - > o/U2@8 relist",
			"DELETED o/U2@10 > - watch", "ADDED - > o/U3@11 watch",
		})
	})
}

// TestCase17_PanicInAHandlerDoesNotStopItsSync.
func TestCase17_PanicInAHandlerDoesNotStopItsSync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var reported *PanicError
		i := New(watchtest.New(watchtest.Stream("5", []string{"a@1", "b@2", "c@3"})),
			Options{OnPanic: func(p *PanicError) { reported = p }})
		var l tape
		r := handle(t, i, func(e Event) {
			if e.Key.Name == "b" {
				panic("cannot bear b")
			}
			l.handle(e)
		}, HandlerOptions{Name: "picky"})
		run(t, i)
		if err := r.WaitSync(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		expect(t, "events", l.take(), []string{"ADDED - > a@1 initial", "ADDED - > c@3 initial"})
		if s := r.Status(); s.Panics != 1 || s.LastPanic != reported || reported == nil || reported.Event.Key.Name != "b" || len(reported.Stack) == 0 {
			t.Errorf("status %+v, reported %v", s, reported)
		}
	})
}

// TestCase19_HalfOpenWatchIsEndedAndCaughtUp: two hours of silence.
func TestCase19_HalfOpenWatchIsEndedAndCaughtUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := watchtest.New(watchtest.Stream("5", []string{"o@5"}), watchtest.Watch(watchtest.Modified("o@6")))
		i := New(source, Options{})
		run(t, i)
		time.Sleep(3 * time.Minute)
		expect(t, "store", content(i.Store()), []string{"o@6"})
		if s := i.Status().Reflector; s.Counts.Deaf != 1 {
			t.Errorf("counts %+v; want one deaf request reported", s.Counts)
		}
	})
}

// TestCase23_StopInterruptsABackoffAtOnce: no time passes between cancel and
// the return of Run.
func TestCase23_StopInterruptsABackoffAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var answers []watchtest.Answer
		for range 1000 {
			answers = append(answers, watchtest.Refuse(watch.KindUnavailable))
		}
		i := New(watchtest.New(answers...), Options{})
		stop := run(t, i)
		time.Sleep(5 * time.Minute)
		if s := i.Status().Reflector; s.Phase != reflector.Waiting || s.Reason == nil || !s.Retry.After(time.Now()) {
			t.Fatalf("status %+v; want a pause with reason", s)
		}
		before := time.Now()
		stop()
		if passed := time.Since(before); passed != 0 {
			t.Errorf("Run returned after %s", passed)
		}
		if s := i.Status().Reflector; s.Phase != reflector.Stopped {
			t.Errorf("phase %s; want stopped", s.Phase)
		}
	})
}

// TestCase24_DeletionOfWhatNobodyKnows tells nobody and harms nobody.
func TestCase24_DeletionOfWhatNobodyKnows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := New(watchtest.New(watchtest.Stream("5", nil, watchtest.Deleted("o@6"), watchtest.Added("p@7"))), Options{})
		var l tape
		handle(t, i, l.handle, HandlerOptions{})
		run(t, i)
		synctest.Wait()
		expect(t, "events", l.take(), []string{"ADDED - > p@7 watch"})
		if n := i.Status().Changes.Missing; n != 1 {
			t.Errorf("Missing = %d; want 1", n)
		}
		var nothing Event
		if nothing.Object() != nil {
			t.Error("an event without objects has no object")
		}
	})
}

// TestCase26_HandlerSyncIsNotStoreSync.
func TestCase26_HandlerSyncIsNotStoreSync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := New(watchtest.New(watchtest.Stream("5", []string{"a@1", "b@2", "c@3"})), Options{})
		block := make(chan struct{})
		var l tape
		r := handle(t, i, func(e Event) {
			if e.Key.Name == "b" {
				<-block
			}
			l.handle(e)
		}, HandlerOptions{Name: "slow"})
		run(t, i)
		synctest.Wait()
		if !i.Status().Reflector.Synced || r.Status().Synced {
			t.Fatalf("store synced %v, handler synced %v; want true, false", i.Status().Reflector.Synced, r.Status().Synced)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := r.WaitSync(ctx); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), `"slow" is still handling initial events, 1 wait`) {
			t.Errorf("WaitSync = %v; want what is missing", err)
		}
		close(block)
		synctest.Wait()
		if !r.Status().Synced || len(l.take()) != 3 {
			t.Error("not synced after the third was handled")
		}
	})
}

// TestCase28_NoCallStartsAfterClose, and the one in flight is awaited.
func TestCase28_NoCallStartsAfterClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		more := make(chan struct{})
		late := watchtest.Added("z@9")
		late.When = more
		i := New(watchtest.New(watchtest.Stream("5", []string{"a@1", "b@2"}, late)), Options{})
		block := make(chan struct{})
		var l tape
		r := handle(t, i, func(e Event) { <-block; l.handle(e) }, HandlerOptions{})
		run(t, i)
		synctest.Wait()
		closed := make(chan struct{})
		go func() { r.Close(); close(closed) }()
		synctest.Wait()
		select {
		case <-closed:
			t.Fatal("Close returned while a call was running")
		default:
		}
		close(block)
		<-closed
		close(more)
		synctest.Wait()
		expect(t, "events", l.take(), []string{"ADDED - > a@1 initial"})
		r.Close()
		if n := len(i.Status().Handlers); n != 0 {
			t.Errorf("%d handlers are left", n)
		}
	})
}

func TestCloseFromWithinTheHandlerDoesNotDeadlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := New(watchtest.New(watchtest.Stream("5", []string{"a@1", "b@2"})), Options{})
		var l tape
		var r *Registration
		ready := make(chan struct{})
		r = handle(t, i, func(e Event) { <-ready; l.handle(e); r.Close() }, HandlerOptions{})
		close(ready)
		run(t, i)
		synctest.Wait()
		if got := l.take(); len(got) != 1 {
			t.Errorf("events %q; want the one that closed", got)
		}
	})
}

func TestLateHandlerHearsWhatTheStoreHas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		more := make(chan struct{})
		late := watchtest.Modified("a@9")
		late.When = more
		source := watchtest.New(watchtest.Stream("5", []string{"a@1", "b@2"}, late))
		i := New(source, Options{})
		run(t, i)
		synctest.Wait()
		var l tape
		r := handle(t, i, l.handle, HandlerOptions{})
		if err := r.WaitSync(t.Context()); err != nil {
			t.Fatal(err)
		}
		got := l.take()
		slices.Sort(got)
		expect(t, "initial events", got, []string{"ADDED - > a@1 initial", "ADDED - > b@2 initial"})
		close(more)
		synctest.Wait()
		expect(t, "then", l.take(), []string{"MODIFIED a@1 > a@9 watch"})
		if n := len(source.Requests()); n != 1 {
			t.Errorf("%d requests; a late handler needs none", n)
		}
	})
}

func TestResyncReplaysTheCacheToThatHandlerWithoutARequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := watchtest.New(watchtest.Stream("5", []string{"a@1"}))
		i := New(source, Options{})
		var resyncing, plain tape
		handle(t, i, resyncing.handle, HandlerOptions{Resync: 30 * time.Second})
		handle(t, i, plain.handle, HandlerOptions{})
		run(t, i)
		time.Sleep(65 * time.Second)
		expect(t, "resyncing", resyncing.take(), []string{
			"ADDED - > a@1 initial", "MODIFIED a@1 > a@1 resync", "MODIFIED a@1 > a@1 resync"})
		expect(t, "plain", plain.take(), []string{"ADDED - > a@1 initial"})
		if n := len(source.Requests()); n != 1 {
			t.Errorf("%d requests; a resync makes none", n)
		}
	})
}

func TestSlowHandlerDelaysNeitherTheReaderNorOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var changes []watchtest.Step
		for v := range 1000 {
			changes = append(changes, watchtest.Modified(fmt.Sprintf("a@%d", 10+v)))
		}
		i := New(watchtest.New(watchtest.Stream("5", []string{"a@1"}, changes...)), Options{})
		block := make(chan struct{})
		var slow, quick tape
		stuck := handle(t, i, func(e Event) { <-block; slow.handle(e) }, HandlerOptions{})
		handle(t, i, quick.handle, HandlerOptions{Every: 2000})
		run(t, i)
		synctest.Wait()
		expect(t, "store", content(i.Store()), []string{"a@1009"})
		if n := len(quick.take()); n != 1001 {
			t.Errorf("the other handler heard %d events; want all 1001", n)
		}
		if n := stuck.Status().Pending; n > 1 {
			t.Errorf("%d events wait for the slow handler of one key; want at most 1", n)
		}
		close(block)
		synctest.Wait()
		if got := slow.take(); !strings.HasSuffix(got[len(got)-1], "> a@1009 watch") {
			t.Errorf("the slow handler heard %q; want the newest state at last", got)
		}
	})
}

func TestDoubledAndReplayedEventsAreToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := watchtest.New(
			watchtest.Stream("5", []string{"a@5"}, watchtest.Modified("a@6"), watchtest.Modified("a@6"),
				watchtest.Deleted("a@7"), watchtest.Deleted("a@7"), watchtest.Added("a@5"), watchtest.Added("b@8")),
			watchtest.List("9"), // is the server behind? No:
			watchtest.Watch(watchtest.Added("b@8"), watchtest.Modified("b@9")))
		i := New(source, Options{})
		var l tape
		handle(t, i, l.handle, HandlerOptions{Every: 100})
		run(t, i)
		time.Sleep(time.Minute)
		expect(t, "events", l.take(), []string{
			"ADDED - > a@5 initial", "MODIFIED a@5 > a@6 watch", "DELETED a@7 > - watch", "ADDED - > b@8 watch", "MODIFIED b@8 > b@9 watch"})
		expect(t, "store", content(i.Store()), []string{"b@9"})
		if n := i.Status().Reflector.Counts.Relists; n != 0 {
			t.Errorf("%d relists; a list would jump over changes that the server still has", n)
		}
		if n := i.Status().Reflector.Counts.Regressions; n != 1 {
			t.Errorf("Regressions = %d; want the replay noticed", n)
		}
	})
}

// TestReplayBeforeTheEndOfTheInitialEventsIsNotTold: what is sent again counts no
// more while a streaming list is under way than on a watch, and leaves no ghost.
func TestReplayBeforeTheEndOfTheInitialEventsIsNotTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := watchtest.New(
			watchtest.Stream("9", []string{"a@5", "b@9"}, watchtest.Modified("b@10"), watchtest.Deleted("a@11"),
				watchtest.Error(watch.KindExpired)),
			watchtest.Watch(watchtest.Added("b@10"), watchtest.Modified("b@12"),
				watchtest.Added("a@5"), watchtest.Modified("a@6"), watchtest.Deleted("b@9"),
				watchtest.Added("c@13"), watchtest.InitialEnd("13")))
		i := New(source, Options{})
		var l tape
		handle(t, i, l.handle, HandlerOptions{Every: 100})
		run(t, i)
		time.Sleep(time.Minute)
		expect(t, "events", l.take(), []string{
			"ADDED - > a@5 initial", "ADDED - > b@9 initial", "MODIFIED b@9 > b@10 watch", "DELETED a@11 > - watch",
			"MODIFIED b@10 > b@12 watch", "ADDED - > c@13 relist"})
		expect(t, "store", content(i.Store()), []string{"b@12", "c@13"})
		expect(t, "requests", source.Requests(), []string{`watch rv="" initial`, `watch rv="11" initial`})
		if n := i.Status().Reflector.Counts.Regressions; n != 3 {
			t.Errorf("Regressions = %d; want each replay noticed", n)
		}
	})
}

func TestStoppedInformerRefusesToGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := New(watchtest.New(watchtest.Stream("5", nil)), Options{})
		stop := run(t, i)
		synctest.Wait()
		stop()
		if err := i.Run(t.Context()); !errors.Is(err, ErrStopped) {
			t.Errorf("second Run = %v; want ErrStopped", err)
		}
		if _, err := i.Handle(func(Event) {}, HandlerOptions{}); !errors.Is(err, ErrStopped) {
			t.Errorf("Handle = %v; want ErrStopped", err)
		}
	})
}

func TestStatusSaysWhatIsGoingOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen []string
		o := reflector.Options{OnStatus: func(s reflector.Status) {
			text := s.Phase.String()
			if s.Reason != nil {
				text += ": " + s.Reason.Error()
			}
			seen = append(seen, text)
		}}
		i := New(watchtest.New(watchtest.Refuse(watch.KindUnavailable),
			watchtest.Stream("5", nil, watchtest.Bookmark("6")).ThenEnd(&watch.Error{Kind: watch.KindUnavailable, Message: "cut"}),
			watchtest.Watch()), Options{Reflector: o})
		stop := run(t, i)
		time.Sleep(10 * time.Second)
		stop()
		expect(t, "states", seen, []string{
			"streaming", "streaming: unavailable", "waiting: unavailable", "streaming: unavailable",
			"watching", "watching: cut", "watching", "stopped",
		})
	})
}

func TestHandlerThatEndsItsGoroutineIsReportedAndGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := New(watchtest.New(watchtest.Stream("5", []string{"a@1", "b@2", "c@3"})), Options{})
		var l tape
		r := handle(t, i, func(e Event) {
			if e.Key.Name == "b" {
				runtime.Goexit()
			}
			l.handle(e)
		}, HandlerOptions{})
		run(t, i)
		if err := r.WaitSync(t.Context()); err != nil {
			t.Fatal(err)
		}
		expect(t, "events", l.take(), []string{"ADDED - > a@1 initial", "ADDED - > c@3 initial"})
		if s := r.Status(); s.Panics != 1 || s.LastPanic.Value != errGoexit {
			t.Errorf("status %+v; want the end reported", s)
		}
		r.Close()
	})
}

func TestWaitSyncEndsWithWhatItWaitsFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := New(watchtest.New(), Options{}) // a server that never answers
		r := handle(t, i, func(Event) {}, HandlerOptions{})
		closing := handle(t, i, func(Event) {}, HandlerOptions{})
		stop := run(t, i)
		errs := make(chan error, 3)
		go func() { errs <- closing.WaitSync(t.Context()) }()
		synctest.Wait()
		closing.Close()
		if err := <-errs; !errors.Is(err, ErrClosed) {
			t.Errorf("of a closed handler: %v; want ErrClosed", err)
		}
		go func() { errs <- i.WaitSync(t.Context()) }()
		go func() { errs <- r.WaitSync(t.Context()) }()
		synctest.Wait()
		stop()
		for range 2 {
			if err := <-errs; !errors.Is(err, ErrStopped) {
				t.Errorf("of a stopped informer: %v; want ErrStopped", err)
			}
		}
	})
}

// TestUnreadableItemIsNotADeletion: a relist in which one item cannot be read
// lacks an object; nobody may conclude that it is gone. A clean list later does.
func TestUnreadableItemIsNotADeletion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := watchtest.Step{Err: &watch.Error{Kind: watch.KindObject, Message: "item 2 is no object"}}
		source := watchtest.New(
			watchtest.Stream("5", []string{"a@3", "b@4", "c@5"}).ThenEnd(io.ErrUnexpectedEOF),
			watchtest.Refuse(watch.KindExpired),
			watchtest.Answer{Steps: []watchtest.Step{watchtest.Added("a@3"), bad, watchtest.InitialEnd("9")}},
			watchtest.Stream("12", []string{"a@3", "b@8"}))
		i := New(source, Options{})
		var l tape
		handle(t, i, l.handle, HandlerOptions{Every: 10})
		run(t, i)
		time.Sleep(10 * time.Second)
		expect(t, "store after the bad list", content(i.Store()), []string{"a@3", "b@4", "c@5"})
		if s := i.Status().Reflector; s.Reason == nil || s.Reason.Message != "item 2 is no object" {
			t.Errorf("reason %v; want what could not be read", s.Reason)
		}
		time.Sleep(time.Minute)
		expect(t, "store after a clean one", content(i.Store()), []string{"a@3", "b@8"})
		expect(t, "events", l.take()[3:], []string{"MODIFIED b@4 > b@8 relist", "DELETED c@5 > - relist final state unknown"})
		if s := i.Status().Reflector; s.Reason != nil {
			t.Errorf("reason %v; want none", s.Reason)
		}
	})
}

// TestUnreadableEventIsCaughtUp: a change that could not be read is not lost.
func TestUnreadableEventIsCaughtUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := watchtest.Step{Err: &watch.Error{Kind: watch.KindObject}}
		source := watchtest.New(watchtest.Stream("5", []string{"a@5"}, bad, watchtest.Modified("b@7")), watchtest.Stream("8", []string{"a@6", "b@7"}))
		i := New(source, Options{})
		run(t, i)
		time.Sleep(time.Minute)
		expect(t, "store", content(i.Store()), []string{"a@6", "b@7"})
	})
}

// TestHandlersAreToldWhatCameTogetherBeforeTheNextWait: whatever ends what comes
// together, and of a source that does not say when it waits each at once.
func TestHandlersAreToldWhatCameTogetherBeforeTheNextWait(t *testing.T) {
	for name, tail := range map[string]watchtest.Answer{
		"silence":     watchtest.Watch(),
		"a wait":      watchtest.Watch(watchtest.Step{Wait: time.Hour, Event: watch.Event{Type: watch.EventBookmark, ResourceVersion: "9"}}),
		"an end":      watchtest.Watch().ThenEnd(io.EOF),
		"a break":     watchtest.Watch().ThenEnd(errors.New("broken")),
		"a bad frame": watchtest.Watch(watchtest.Step{Err: &watch.Error{Kind: watch.KindObject}}),
		"a bookmark":  watchtest.Watch(watchtest.Bookmark("9")),
	} {
		for _, tuned := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, tuned %t", name, tuned), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					answer := watchtest.Watch(append([]watchtest.Step{watchtest.Added("b@6"), watchtest.Added("c@7")}, tail.Steps...)...)
					answer.End = tail.End
					var source watch.Source = watchtest.New(watchtest.List("5", "a@5"), answer)
					if !tuned {
						source = untuned{source}
					}
					i := New(source, Options{Reflector: reflector.Options{NoStreaming: true}})
					var told tape
					if _, err := i.Handle(told.handle, HandlerOptions{}); err != nil {
						t.Fatal(err)
					}
					run(t, i)
					synctest.Wait()
					want := []string{"ADDED - > a@5 initial", "ADDED - > b@6 watch", "ADDED - > c@7 watch"}
					if diff := cmp.Diff(want, told.take()); diff != "" {
						t.Errorf("(-want +told)\n%s", diff)
					}
				})
			})
		}
	}
}

// untuned hides that streams are Tuners.
type untuned struct{ watch.Source }

func (u untuned) List(ctx context.Context, o watch.ListOptions) (watch.ListStream, error) {
	s, err := u.Source.List(ctx, o)
	return struct{ watch.ListStream }{s}, err
}

func (u untuned) Watch(ctx context.Context, o watch.WatchOptions) (watch.Stream, error) {
	s, err := u.Source.Watch(ctx, o)
	return struct{ watch.Stream }{s}, err
}
