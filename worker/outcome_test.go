package worker_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocampus/hark/worker"
	"github.com/gocampus/hark/workqueue"
)

// bench is a pool that runs in a bubble until the test ends it.
type bench struct {
	queue *workqueue.Queue[string]
	pool  *worker.Pool[string]
	start time.Time
	stop  context.CancelFunc
	ended chan error

	mu   sync.Mutex
	runs []worker.Run[string]
}

// newBench runs fn for the items of a new queue. It must be called in a bubble.
func newBench(t *testing.T, fn worker.Func[string], options worker.Options[string]) *bench {
	return newBenchOf(t, workqueue.Options[string]{}, fn, options)
}

func newBenchOf(t *testing.T, queue workqueue.Options[string], fn worker.Func[string], options worker.Options[string]) *bench {
	b := &bench{queue: workqueue.New(queue), start: time.Now(), ended: make(chan error, 1)}
	options.OnEnd = func(r worker.Run[string]) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.runs = append(b.runs, r)
	}
	b.pool = worker.New(b.queue, fn, options)
	ctx, stop := context.WithCancel(t.Context())
	b.stop = stop
	go func() { b.ended <- b.pool.Run(ctx) }()
	return b
}

// end stops the pool and returns what Run returned.
func (b *bench) end() error {
	b.stop()
	err := <-b.ended
	b.queue.ShutDown()
	return err
}

func (b *bench) mustEnd(t *testing.T) {
	t.Helper()
	if err := b.end(); err != nil {
		t.Errorf("Run: %v", err)
	}
}

// all returns the runs that have ended.
func (b *bench) all() []worker.Run[string] {
	synctest.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.runs)
}

// history tells of each run when it started, and what became of it.
func (b *bench) history() []string {
	var lines []string
	for _, r := range b.all() {
		lines = append(lines, fmt.Sprintf("%s %s try %d %s", r.Started.Sub(b.start), r.Item, r.Tries, r.Outcome))
	}
	return lines
}

func (b *bench) expect(t *testing.T, want ...string) {
	t.Helper()
	if got := b.history(); !slices.Equal(got, want) {
		t.Errorf("history:\n\t%s\nwant:\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// script returns one result after the other, the last one for ever.
func script(results ...func() (worker.Result, error)) worker.Func[string] {
	var mu sync.Mutex
	i := 0
	return func(context.Context, string) (worker.Result, error) {
		mu.Lock()
		result := results[min(i, len(results)-1)]
		i++
		mu.Unlock()
		return result()
	}
}

func succeed() (worker.Result, error) { return worker.Result{}, nil }
func fail() (worker.Result, error)    { return worker.Result{}, errors.New("no") }
func later() (worker.Result, error)   { return worker.Result{RequeueAfter: time.Second}, nil }

func TestAFailingItemIsRetriedWithBackoffUntilItSucceeds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, script(fail, fail, fail, succeed), worker.Options[string]{})
		b.queue.Add("a")
		synctest.Wait()
		if e := b.queue.Snapshot().Delayed[0]; e.LastError != "no" || e.Failures != 1 || !e.FailedAt.Equal(b.start) {
			t.Errorf("the queue shows %+v; want the error of the first run", e)
		}
		time.Sleep(time.Hour)
		b.expect(t, "0s a try 1 retried", "10ms a try 2 retried", "30ms a try 3 retried", "70ms a try 4 succeeded")
		s := b.pool.Stats()
		if s.Runs != 4 || s.Failures != 3 || s.Retried != 3 || s.Succeeded != 1 || len(s.Running) != 0 || b.queue.NumRequeues("a") != 0 {
			t.Errorf("%+v", s)
		}
		b.mustEnd(t)
	})
}

func TestCase36_SuccessResetsTheBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, script(fail, fail, fail, fail, fail, later, fail, succeed), worker.Options[string]{})
		b.queue.Add("a")
		time.Sleep(time.Hour)
		b.expect(t,
			"0s a try 1 retried", "10ms a try 2 retried", "30ms a try 3 retried", "70ms a try 4 retried",
			"150ms a try 5 retried", "310ms a try 6 requeued", "1.31s a try 1 retried", "1.32s a try 2 succeeded")
		b.mustEnd(t)
	})
}

func TestAnErrorBeatsARequeueAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, script(func() (worker.Result, error) {
			return worker.Result{RequeueAfter: time.Hour}, errors.New("no")
		}, succeed), worker.Options[string]{})
		b.queue.Add("a")
		time.Sleep(2 * time.Hour)
		b.expect(t, "0s a try 1 retried", "10ms a try 2 succeeded")
		b.mustEnd(t)
	})
}

func TestAFailingItemDelaysNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(_ context.Context, item string) (worker.Result, error) {
			if item == "bad" {
				return worker.Result{}, errors.New("always")
			}
			return worker.Result{}, nil
		}, worker.Options[string]{Workers: 1})
		b.queue.Add("bad")
		for i := range 100 {
			b.queue.Add(fmt.Sprint(i))
			time.Sleep(time.Minute)
		}
		for _, r := range b.all() {
			if delay := r.Started.Sub(b.start) % time.Minute; r.Item != "bad" && delay != 0 {
				t.Errorf("%s had to wait for %v", r.Item, delay)
			}
		}
		if s := b.pool.Stats(); s.Succeeded != 100 || s.Retried < 15 {
			t.Errorf("%+v; want 100 successes, and retries", s)
		}
		b.mustEnd(t)
	})
}

// TestNoWorkerPausesBetweenItems: the chapter's own loop takes one item a second.
func TestNoWorkerPausesBetweenItems(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, script(succeed), worker.Options[string]{Workers: 1})
		for i := range 1000 {
			b.queue.Add(fmt.Sprint(i))
		}
		synctest.Wait()
		if got := b.pool.Stats().Succeeded; got != 1000 || time.Since(b.start) != 0 {
			t.Errorf("%d items in %v; want 1000 in no time", got, time.Since(b.start))
		}
		b.mustEnd(t)
	})
}

func TestAPermanentErrorParksTheItem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("bad spec")
		permanently := func() (worker.Result, error) {
			return worker.Result{}, fmt.Errorf("reconcile: %w", worker.Permanent(cause))
		}
		b := newBench(t, script(fail, permanently, fail, permanently, succeed), worker.Options[string]{})
		b.queue.Add("a")
		time.Sleep(time.Hour)
		b.expect(t, "0s a try 1 retried", "10ms a try 2 parked")
		parked := b.pool.Parked()
		if len(parked) != 1 || parked[0].Item != "a" || !errors.Is(parked[0].Err, cause) || parked[0].Tries != 2 ||
			parked[0].Since.Sub(b.start) != 10*time.Millisecond {
			t.Fatalf("Parked = %+v", parked)
		}
		if _, ok := errors.AsType[*worker.PermanentError](parked[0].Err); !ok {
			t.Error("errors.AsType does not find the PermanentError")
		}

		// A change runs it again, from the first try on; then it is parked anew.
		b.queue.Add("a")
		time.Sleep(time.Hour)
		if parked := b.pool.Parked(); len(parked) != 1 || parked[0].Since.Sub(b.start) != time.Hour+10*time.Millisecond {
			t.Fatalf("Parked after a change = %+v", parked)
		}
		if !b.pool.Requeue("a") || b.pool.Requeue("b") {
			t.Error("Requeue tells wrongly what is parked")
		}
		synctest.Wait()
		if parked := b.pool.Parked(); len(parked) != 0 || b.pool.Requeue("a") {
			t.Errorf("Parked after success = %+v", parked)
		}
		b.expect(t, "0s a try 1 retried", "10ms a try 2 parked",
			"1h0m0s a try 1 retried", "1h0m0.01s a try 2 parked", "2h0m0s a try 1 succeeded")
		b.mustEnd(t)
	})
}

func TestAChangeDuringARunThatEndsInParkingIsNotLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b *bench
		tries := 0
		b = newBench(t, func(_ context.Context, item string) (worker.Result, error) {
			if tries++; tries == 1 {
				b.queue.Add(item)
				return worker.Result{}, worker.Permanent(errors.New("no"))
			}
			return worker.Result{}, nil
		}, worker.Options[string]{})
		b.queue.Add("a")
		b.expect(t, "0s a try 1 parked", "0s a try 1 succeeded")
		b.mustEnd(t)
	})
}

func TestTooManyTriesParkTheItem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, script(fail), worker.Options[string]{MaxTries: 3})
		b.queue.Add("a")
		time.Sleep(time.Hour)
		b.expect(t, "0s a try 1 retried", "10ms a try 2 retried", "30ms a try 3 parked")
		b.mustEnd(t)
	})
}

func TestTriesCountWithoutAnObserver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[string]{})
		pool := worker.New(q, script(fail), worker.Options[string]{MaxTries: 3})
		q.Add("a")
		time.AfterFunc(time.Hour, q.ShutDown)
		if err := pool.Run(t.Context()); err != nil {
			t.Errorf("Run: %v", err)
		}
		if got := pool.Parked(); len(got) != 1 || got[0].Tries != 3 {
			t.Errorf("Parked = %+v; want a after 3 tries", got)
		}
	})
}

func TestTheListOfParkedItemsIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, script(fail), worker.Options[string]{MaxTries: 1, MaxParked: 2, Workers: 1})
		for _, item := range []string{"a", "b", "c"} {
			b.queue.Add(item)
		}
		synctest.Wait()
		parked := b.pool.Parked()
		if len(parked) != 2 || parked[0].Item != "b" || parked[1].Item != "c" {
			t.Errorf("Parked = %+v; want b, c", parked)
		}
		if s := b.pool.Stats(); s.ParkedDropped != 1 || s.ParkedNow != 2 || s.Parked != 3 {
			t.Errorf("%+v", s)
		}
		b.mustEnd(t)
	})
}

// faultyError is an error whose methods panic.
type faultyError struct{}

func (*faultyError) Error() string { panic("no text") }

func TestAPanicIsAnErrorWithAStack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("cause")
		b := newBench(t, script(
			func() (worker.Result, error) { panic("oops") },
			func() (worker.Result, error) { panic(cause) },
			func() (worker.Result, error) { return worker.Result{}, &faultyError{} },
			func() (worker.Result, error) {
				var m map[string]int
				m["a"] = 1 //lint:ignore SA5000 the panic is what is tested
				return worker.Result{}, nil
			},
			succeed), worker.Options[string]{})
		b.queue.Add("a")
		time.Sleep(time.Hour)
		b.expect(t, "0s a try 1 retried", "10ms a try 2 retried", "30ms a try 3 retried", "70ms a try 4 retried", "150ms a try 5 succeeded")
		for i, want := range []string{"oops", "cause", "no text", "nil map"} {
			e, ok := errors.AsType[*worker.PanicError](b.all()[i].Err)
			if !ok || !strings.Contains(e.Error(), want) || !strings.Contains(string(e.Stack), "outcome_test.go") {
				t.Errorf("run %d: %v", i, b.all()[i].Err)
			}
		}
		if !errors.Is(b.all()[1].Err, cause) {
			t.Errorf("%v does not wrap the error given to panic", b.all()[1].Err)
		}
		if got := b.pool.Stats().Panics; got != 4 {
			t.Errorf("Panics = %d; want 4", got)
		}
		b.mustEnd(t)
	})
}

func TestGoexitEndsTheRunButNotTheWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, script(
			func() (worker.Result, error) { runtime.Goexit(); return worker.Result{}, nil },
			func() (worker.Result, error) { runtime.Goexit(); return worker.Result{}, nil },
			succeed), worker.Options[string]{Workers: 1})
		b.queue.Add("a")
		time.Sleep(time.Hour)
		b.expect(t, "0s a try 1 retried", "10ms a try 2 retried", "30ms a try 3 succeeded")
		if s := b.pool.Stats(); s.Goexits != 2 || s.Panics != 0 || !errors.Is(b.all()[0].Err, worker.ErrGoexit) {
			t.Errorf("%+v, %v", s, b.all()[0].Err)
		}
		b.mustEnd(t)
	})
}

func TestPermanentOfNilIsNil(t *testing.T) {
	if err := worker.Permanent(nil); err != nil {
		t.Errorf("Permanent(nil) = %v", err)
	}
}

// callsQueue notes the calls that a pool makes for its only item.
type callsQueue struct {
	*workqueue.Queue[string]
	calls []string
}

func (q *callsQueue) note(call string)   { q.calls = append(q.calls, call) }
func (q *callsQueue) Done(item string)   { q.note("Done"); q.Queue.Done(item) }
func (q *callsQueue) Add(item string)    { q.note("Add"); q.Queue.Add(item) }
func (q *callsQueue) Forget(item string) { q.note("Forget"); q.Queue.Forget(item) }
func (q *callsQueue) AddRateLimited(item string) {
	q.note("AddRateLimited")
	q.Queue.AddRateLimited(item)
}
func (q *callsQueue) RecordError(i string, e error) { q.note("RecordError"); q.Queue.RecordError(i, e) }
func (q *callsQueue) AddAfter(item string, d time.Duration) {
	q.note("AddAfter")
	q.Queue.AddAfter(item, d)
}

// TestTheQueueIsToldWhatComesNextBeforeDone, since after Done another worker may
// have the item.
func TestTheQueueIsToldWhatComesNextBeforeDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := &callsQueue{Queue: workqueue.New(workqueue.Options[string]{})}
		parked := func() (worker.Result, error) {
			q.ShutDown()
			return worker.Result{}, worker.Permanent(errors.New("no"))
		}
		pool := worker.New(q, script(fail, later, succeed, parked), worker.Options[string]{Workers: 1, OnEnd: func(r worker.Run[string]) {
			q.note(r.Outcome.String())
			if r.Outcome == worker.Succeeded {
				q.Queue.Add("a")
			}
		}})
		q.Queue.Add("a")
		if err := pool.Run(t.Context()); err != nil {
			t.Errorf("Run: %v", err)
		}
		want := []string{
			"RecordError", "AddRateLimited", "Done", "retried",
			"Forget", "AddAfter", "Done", "requeued",
			"Forget", "Done", "succeeded",
			"Forget", "Done", "parked",
		}
		if !slices.Equal(q.calls, want) {
			t.Errorf("calls:\n%v; want\n%v", q.calls, want)
		}
	})
}
