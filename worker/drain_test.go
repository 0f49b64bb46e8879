package worker_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocampus/hark/worker"
	"github.com/gocampus/hark/workqueue"
)

// sleepFor sleeps as long as its items say, or until its context ends.
func sleepFor(ctx context.Context, item string) (worker.Result, error) {
	d, err := time.ParseDuration(item)
	if err != nil {
		return worker.Result{}, err
	}
	select {
	case <-time.After(d):
		return worker.Result{}, nil
	case <-ctx.Done():
		return worker.Result{}, context.Cause(ctx)
	}
}

func TestRunsUnderWayMayFinishWhenThePoolStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, sleepFor, worker.Options[string]{})
		b.queue.Add("10s")
		b.queue.Add("20s")
		b.queue.Add("30s") // there are two workers: this one is not taken any more
		time.Sleep(time.Second)
		b.stop()
		if err := <-b.ended; err != nil || time.Since(b.start) != 20*time.Second {
			t.Errorf("Run = %v after %v; want nil after 20s", err, time.Since(b.start))
		}
		b.expect(t, "0s 10s try 1 succeeded", "0s 20s try 1 succeeded")
		if got := b.queue.Len(); got != 1 || b.queue.ShuttingDown() {
			t.Errorf("Len = %d; want what was queued to stay queued", got)
		}
		b.queue.ShutDown()
	})
}

func TestADrainThatTakesTooLongInterruptsTheRunsAndNamesThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, sleepFor, worker.Options[string]{DrainTimeout: 5 * time.Second})
		b.queue.Add("3s")
		b.queue.Add("10h")
		time.Sleep(time.Second)
		b.stop()
		err := <-b.ended
		e, ok := errors.AsType[*worker.DrainError[string]](err)
		if !ok || !slices.Equal(e.Left, []string{"10h"}) || !e.TimedOut || !errors.Is(err, worker.ErrDrainTimeout) {
			t.Fatalf("Run = %v; want a DrainError that names 10h", err)
		}
		if want := "worker: stopped with 1 undone: 10h"; err.Error() != want {
			t.Errorf("%q; want %q", err, want)
		}
		if got := time.Since(b.start); got != 6*time.Second {
			t.Errorf("it took %v; want 6s", got)
		}
		b.expect(t, "0s 3s try 1 succeeded", "0s 10h try 1 interrupted")
		if !errors.Is(b.all()[1].Err, worker.ErrDrainTimeout) {
			t.Errorf("the cause was %v; want ErrDrainTimeout", b.all()[1].Err)
		}

		// The interruption is no failure, and the next Run takes it up.
		if got := b.queue.NumRequeues("10h"); got != 0 || b.queue.Len() != 1 {
			t.Errorf("NumRequeues = %d, Len = %d; want 0, 1", got, b.queue.Len())
		}
		b.queue.ShutDown()
		if err := b.pool.Run(t.Context()); err != nil {
			t.Errorf("the second Run: %v", err)
		}
		b.expect(t, "0s 3s try 1 succeeded", "0s 10h try 1 interrupted", "6s 10h try 1 succeeded")
	})
}

func TestAnInterruptedItemKeepsItsPriority(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, sleepFor, worker.Options[string]{DrainTimeout: -1})
		b.queue.AddWith("10h", workqueue.AddOptions{Priority: 7})
		synctest.Wait()
		if err := b.end(); err == nil {
			t.Error("Run = nil; want a DrainError")
		}
		if d, err := b.queue.GetWith(t.Context()); err != nil || d.Item != "10h" || d.Priority != 7 {
			t.Errorf("GetWith = %+v, %v; want 10h with priority 7", d, err)
		}
	})
}

func TestRunReturnsTheErrorOfTheQueueAndWhatIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := &brokenQueue{Queue: workqueue.New(workqueue.Options[string]{}), err: errors.New("broken")}
		q.Add("10h")
		ctx, stop := context.WithCancel(t.Context())
		pool := worker.New(q, sleepFor, worker.Options[string]{DrainTimeout: time.Second})
		time.AfterFunc(time.Minute, stop)
		err := pool.Run(ctx)
		if e, ok := errors.AsType[*worker.DrainError[string]](err); !errors.Is(err, q.err) || !ok || !slices.Equal(e.Left, []string{"10h"}) {
			t.Errorf("Run = %v; want %v, and 10h left", err, q.err)
		}
	})
}

func TestARunThatSucceedsInSpiteOfTheInterruptionIsNotLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(ctx context.Context, _ string) (worker.Result, error) {
			<-ctx.Done()
			return worker.Result{}, nil
		}, worker.Options[string]{DrainTimeout: -1})
		b.queue.Add("a")
		synctest.Wait()
		b.mustEnd(t)
		b.expect(t, "0s a try 1 succeeded")
		if got := time.Since(b.start); got != 0 {
			t.Errorf("it took %v; want no drain with a negative timeout", got)
		}
	})
}

func TestDrainQueuedRunsWhatIsQueued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, sleepFor, worker.Options[string]{Workers: 1, DrainQueued: true})
		for _, item := range []string{"1s", "2s", "3s"} {
			b.queue.Add(item)
		}
		b.queue.AddAfter("1h", time.Hour) // dropped, as at every shutdown
		synctest.Wait()
		b.stop()
		synctest.Wait()
		b.queue.Add("4s") // refused
		if err := <-b.ended; err != nil {
			t.Errorf("Run: %v", err)
		}
		b.expect(t, "0s 1s try 1 succeeded", "1s 2s try 1 succeeded", "3s 3s try 1 succeeded")
	})
}

func TestDrainQueuedNamesWhatItCouldNotDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fn := func(ctx context.Context, item string) (worker.Result, error) {
			if item == "bad" {
				return worker.Result{}, errors.New("no")
			}
			return sleepFor(ctx, item)
		}
		b := newBench(t, fn, worker.Options[string]{Workers: 1, DrainQueued: true, DrainTimeout: 5 * time.Second})
		b.queue.Add("1s")
		synctest.Wait()
		for _, item := range []string{"bad", "2s", "1h", "2h"} {
			b.queue.Add(item)
		}
		b.stop()
		err := <-b.ended
		e, ok := errors.AsType[*worker.DrainError[string]](err)
		if !ok || !slices.Equal(e.Left, []string{"bad", "1h", "2h"}) || !e.TimedOut {
			t.Errorf("Run = %v; want bad, 1h, 2h left", err)
		}
		b.expect(t, "0s 1s try 1 succeeded", "1s bad try 1 retried", "1s 2s try 1 succeeded", "3s 1h try 1 interrupted")
	})
}

func TestDrainQueuedNamesAFailureThoughItDidNotTimeOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		b := newBench(t, func(_ context.Context, item string) (worker.Result, error) {
			time.Sleep(time.Second)
			if item == "flaky" {
				if tries++; tries > 1 {
					return worker.Result{}, nil
				}
			}
			return worker.Result{}, errors.New("no")
		}, worker.Options[string]{DrainQueued: true})
		b.queue.Add("bad")
		b.queue.Add("flaky")
		synctest.Wait()
		b.queue.Add("flaky") // a change: it gets a second run, and succeeds
		b.stop()
		err := <-b.ended
		e, ok := errors.AsType[*worker.DrainError[string]](err)
		if !ok || !slices.Equal(e.Left, []string{"bad"}) || e.TimedOut || errors.Is(err, worker.ErrDrainTimeout) {
			t.Errorf("Run = %v; want bad left and no timeout", err)
		}
	})
}

// TestARetryThatIsRefusedIsNamed: whoever shut the queue down. One that waits already is
// dropped with all that is delayed.
func TestARetryThatIsRefusedIsNamed(t *testing.T) {
	drain, keep := worker.Options[string]{DrainQueued: true}, worker.Options[string]{}
	for name, tc := range map[string]struct {
		options worker.Options[string]
		end     func(b *bench)
		after   time.Duration
		want    []string
	}{
		"drained during the run":   {drain, func(b *bench) { b.stop() }, 500 * time.Millisecond, []string{"a", "b"}},
		"drained after the run":    {drain, func(b *bench) { b.stop() }, 1500 * time.Millisecond, nil},
		"shut down during the run": {keep, func(b *bench) { b.queue.ShutDown() }, 500 * time.Millisecond, []string{"a", "b"}},
		"shut down after the run":  {keep, func(b *bench) { b.queue.ShutDown() }, 1500 * time.Millisecond, nil},
		"both during the run":      {keep, func(b *bench) { b.queue.ShutDown(); b.stop() }, 500 * time.Millisecond, []string{"a", "b"}},
		"both after the run":       {keep, func(b *bench) { b.stop(); b.queue.ShutDown() }, 1500 * time.Millisecond, nil},
		"left to who runs it next": {keep, func(b *bench) { b.stop() }, 500 * time.Millisecond, nil},
	} {
		synctest.Test(t, func(t *testing.T) {
			q := workqueue.Options[string]{Backoff: workqueue.Backoff{Base: time.Hour}}
			b := newBenchOf(t, q, func(context.Context, string) (worker.Result, error) {
				time.Sleep(time.Second)
				return worker.Result{}, errors.New("no")
			}, tc.options)
			b.queue.Add("a")
			time.Sleep(time.Millisecond)
			b.queue.Add("b")
			time.AfterFunc(tc.after, func() { tc.end(b) })
			err := <-b.ended
			e, ok := errors.AsType[*worker.DrainError[string]](err)
			if ok != (tc.want != nil) || ok && (!slices.Equal(e.Left, tc.want) || e.TimedOut) {
				t.Errorf("%s: Run = %v; want %v left", name, err, tc.want)
			}
			b.stop()
			b.queue.ShutDown()
		})
	}
}

// TestATimeoutCountsThoughThePoolEnds: what runs past its own timeout was not interrupted.
func TestATimeoutCountsThoughThePoolEnds(t *testing.T) {
	for name, fail := range map[string]func() error{
		"error": func() error { return errors.New("late") }, "panic": func() error { panic("late") }, "goexit": func() error { runtime.Goexit(); return nil },
	} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, func(context.Context, string) (worker.Result, error) {
				time.Sleep(10 * time.Second)
				return worker.Result{}, fail()
			}, worker.Options[string]{Timeout: 2 * time.Second, MaxTries: 1, DrainTimeout: -1})
			b.queue.Add("a")
			time.Sleep(5 * time.Second)
			b.mustEnd(t)
			if got := b.pool.Parked(); len(got) != 1 || b.queue.Len() != 0 {
				t.Errorf("%s: Parked = %+v, Len = %d; want a parked and not queued", name, got, b.queue.Len())
			}
		})
	}
}

func TestARunThatIgnoresTheEndIsWaitedForOrAbandoned(t *testing.T) {
	for _, tc := range []struct {
		abandon, want time.Duration
		drainQueued   bool
	}{{0, time.Hour, false}, {time.Second, 3 * time.Second, false}, {time.Second, 3 * time.Second, true}} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, func(context.Context, string) (worker.Result, error) {
				time.Sleep(time.Hour)
				return worker.Result{}, errors.New("ignored the end")
			}, worker.Options[string]{DrainTimeout: 2 * time.Second, AbandonAfter: tc.abandon, DrainQueued: tc.drainQueued})
			b.queue.Add("deaf")
			synctest.Wait()
			b.stop()
			err := <-b.ended
			if e, ok := errors.AsType[*worker.DrainError[string]](err); !ok || !slices.Equal(e.Left, []string{"deaf"}) {
				t.Errorf("Run = %v; want deaf left", err)
			}
			if got := time.Since(b.start); got != tc.want {
				t.Errorf("%+v: Run returned after %v", tc, got)
			}
			b.queue.ShutDown()
			time.Sleep(2 * time.Hour)
		})
	}
}

func TestRunEndsWithTheQueueAndRefusesToRunTwiceAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, script(succeed), worker.Options[string]{})
		synctest.Wait()
		if err := b.pool.Run(t.Context()); !errors.Is(err, worker.ErrRunning) {
			t.Errorf("a second Run = %v; want ErrRunning", err)
		}
		b.queue.Add("a")
		b.queue.ShutDown()
		if err := <-b.ended; err != nil {
			t.Errorf("Run = %v; want nil after ShutDown", err)
		}
		b.expect(t, "0s a try 1 succeeded")
		b.stop()
	})
}

// brokenQueue fails after its first item, of whichever worker that is.
type brokenQueue struct {
	*workqueue.Queue[string]
	err  error
	gave atomic.Bool
}

func (q *brokenQueue) GetContext(ctx context.Context) (string, error) {
	if !q.gave.Swap(true) {
		return q.Queue.GetContext(ctx)
	}
	return "", q.err
}

func TestRunReturnsTheErrorOfItsQueue(t *testing.T) {
	q := &brokenQueue{Queue: workqueue.New(workqueue.Options[string]{}), err: errors.New("broken")}
	q.Add("a")
	pool := worker.New(q, func(context.Context, string) (worker.Result, error) { return worker.Result{}, nil }, worker.Options[string]{Workers: 1})
	if err := pool.Run(t.Context()); err != q.err || pool.Stats().Succeeded != 1 {
		t.Errorf("Run = %v; want %v after one success", err, q.err)
	}
}

func TestADrainErrorNamesTenItemsAtMost(t *testing.T) {
	e := &worker.DrainError[string]{}
	for i := range 12 {
		e.Left = append(e.Left, fmt.Sprint(i))
	}
	if want := "worker: stopped with 12 undone: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more"; e.Error() != want {
		t.Errorf("%q; want %q", e, want)
	}
}

// oneBrokenGet fails its first call; the others block until their context ends.
type oneBrokenGet struct {
	*workqueue.Queue[string]
	broken atomic.Bool
	err    error
}

func (q *oneBrokenGet) GetContext(ctx context.Context) (string, error) {
	if !q.broken.Swap(true) {
		return "", q.err
	}
	return q.Queue.GetContext(ctx)
}

func TestAnErrorOfTheQueueEndsAllWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := &oneBrokenGet{Queue: workqueue.New(workqueue.Options[string]{}), err: errors.New("broken")}
		pool := worker.New(q, script(succeed), worker.Options[string]{Workers: 4, DrainQueued: true})
		if err := pool.Run(t.Context()); err != q.err || q.ShuttingDown() {
			t.Errorf("Run = %v; want %v, and the queue left open", err, q.err)
		}
	})
}

func TestAPermanentErrorParksTheItemEvenAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(ctx context.Context, _ string) (worker.Result, error) {
			<-ctx.Done()
			return worker.Result{}, worker.Permanent(errors.New("the spec is invalid"))
		}, worker.Options[string]{})
		b.queue.Add("a")
		synctest.Wait()
		b.mustEnd(t)
		if got := b.pool.Parked(); len(got) != 1 || b.queue.Len() != 0 {
			t.Errorf("Parked = %+v, Len = %d; want a parked and not queued", got, b.queue.Len())
		}
	})
}
