package workqueue_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocampus/hark/workqueue"
)

// ledger notes what happens to each item: how often it was changed, which change
// a run has seen, and whether two runs overlapped.
type ledger struct {
	changed, seen [64]atomic.Int64
	running       [64]atomic.Bool
	overlaps      atomic.Int64
}

func (l *ledger) run(item int) {
	if l.running[item].Swap(true) {
		l.overlaps.Add(1)
	}
	l.seen[item].Store(l.changed[item].Load())
	l.running[item].Store(false)
}

func (l *ledger) check(t *testing.T) {
	t.Helper()
	if n := l.overlaps.Load(); n != 0 {
		t.Errorf("%d times an item was processed by two at once", n)
	}
	for item := range l.changed {
		if changed, seen := l.changed[item].Load(), l.seen[item].Load(); changed != seen {
			t.Errorf("item %d: change %d was never seen; the last run saw %d", item, changed, seen)
		}
	}
}

// TestNoChangeIsLostAndNoItemRunsTwiceAtOnce: after each change its item is
// added in one of the ways there are; in the end a run has seen the last one.
func TestNoChangeIsLostAndNoItemRunsTwiceAtOnce(t *testing.T) {
	for name, options := range map[string]workqueue.Options[int]{
		"plain":           {Backoff: workqueue.Backoff{Base: time.Microsecond, Max: time.Millisecond}},
		"times and lanes": {Times: true, Lane: func(item int) string { return fmt.Sprint(item % 5) }, Backoff: workqueue.Backoff{Base: time.Microsecond, Max: time.Millisecond, Jitter: 0.5}},
	} {
		t.Run(name, func(t *testing.T) {
			q := workqueue.New(options)
			var book ledger
			var producers, workers sync.WaitGroup
			for range 4 {
				producers.Go(func() { produce(q, &book, 3000) })
			}
			for i := range 6 {
				workers.Go(func() { consume(q, &book, i%2 == 0) })
			}
			producers.Wait()
			for q.Stats().Delayed > 0 { // a drain drops what is delayed
				runtime.Gosched()
			}
			q.ShutDownWithDrain()
			workers.Wait()
			book.check(t)
			if s := q.Stats(); s.Misused != 0 || s.Delivered != s.Done {
				t.Errorf("%+v", s)
			}
		})
	}
}

func produce(q *workqueue.Queue[int], book *ledger, changes int) {
	for range changes {
		item := rand.IntN(len(book.changed))
		book.changed[item].Add(1)
		switch rand.IntN(5) {
		case 0:
			q.AddAfter(item, time.Duration(rand.IntN(200))*time.Microsecond)
		case 1:
			q.AddRateLimited(item)
		case 2:
			q.AddWith(item, workqueue.AddOptions{Priority: rand.IntN(5) - 2, After: time.Duration(rand.IntN(100)) * time.Microsecond, When: workqueue.Replace, Reason: "r"})
		case 3:
			q.Forget(item)
			q.Add(item)
		default:
			q.Add(item)
		}
		if rand.IntN(200) == 0 {
			q.Snapshot()
		}
	}
}

// consume gets with a context that often ends, or without one.
func consume(q *workqueue.Queue[int], book *ledger, impatient bool) {
	for {
		ctx, cancel := context.Background(), context.CancelFunc(func() {})
		if impatient {
			ctx, cancel = context.WithTimeout(ctx, time.Duration(rand.IntN(50))*time.Microsecond)
		}
		item, err := q.GetContext(ctx)
		cancel()
		switch {
		case errors.Is(err, workqueue.ErrShutDown):
			return
		case err == nil:
			book.run(item)
			q.Done(item)
		}
	}
}

func TestGetContextReturnsTheCauseOfItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[string]{})
		cause := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Minute, func() { cancel(cause) })
		if item, err := q.GetContext(ctx); err != cause || item != "" {
			t.Fatalf("GetContext = %q, %v; want %v", item, err, cause)
		}
		q.Add("a")
		if item, err := q.GetContext(ctx); err != cause {
			t.Fatalf("GetContext with an ended context = %q, %v; want %v", item, err, cause)
		}
		if item, err := q.GetContext(t.Context()); item != "a" || err != nil {
			t.Fatalf("GetContext = %q, %v; want a", item, err)
		}
		q.ShutDown()
		if item, err := q.GetContext(t.Context()); !errors.Is(err, workqueue.ErrShutDown) {
			t.Fatalf("GetContext after ShutDown = %q, %v; want ErrShutDown", item, err)
		}
	})
}
