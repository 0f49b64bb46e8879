package cases

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/gocampus/hark"
	"github.com/gocampus/hark/key"
	"github.com/gocampus/hark/worker"
	"github.com/gocampus/hark/workqueue"
)

// pool runs workers over a queue until stop, which returns what Run returned.
func pool(q *workqueue.Queue[string], f worker.Func[string], o worker.Options[string]) (stop func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	p := worker.New(q, f, o)
	go func() { done <- p.Run(ctx) }()
	return func() error {
		cancel()
		return <-done
	}
}

// TestCase31_DrainRunsWhatIsQueued through busy and through idle workers, and
// names what it could not.
func TestCase31_DrainRunsWhatIsQueued(t *testing.T) {
	for _, workers := range []int{1, 3, 20} {
		synctest.Test(t, func(t *testing.T) {
			q := workqueue.New(workqueue.Options[string]{})
			var mu sync.Mutex
			var ran []string
			stop := pool(q, func(_ context.Context, item string) (worker.Result, error) {
				time.Sleep(time.Second)
				mu.Lock()
				defer mu.Unlock()
				ran = append(ran, item)
				return worker.Result{}, nil
			}, worker.Options[string]{Workers: workers, DrainQueued: true, DrainTimeout: time.Minute})
			synctest.Wait()
			var all []string
			for n := range 10 {
				all = append(all, fmt.Sprint(n))
				q.Add(fmt.Sprint(n))
			}
			q.AddAfter("far", time.Hour) // dropped
			if err := stop(); err != nil {
				t.Errorf("Run = %v", err)
			}
			slices.Sort(ran)
			if !slices.Equal(ran, all) {
				t.Errorf("%d workers ran %v; want %v", workers, ran, all)
			}
		})
	}
}

func TestCase31_DrainThatTakesTooLongNamesTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[string]{})
		stop := pool(q, func(context.Context, string) (worker.Result, error) {
			time.Sleep(time.Second)
			return worker.Result{}, nil
		}, worker.Options[string]{Workers: 1, DrainQueued: true, DrainTimeout: 2500 * time.Millisecond})
		for n := range 5 {
			q.Add(fmt.Sprint(n))
		}
		synctest.Wait()
		drain, ok := errors.AsType[*worker.DrainError[string]](stop())
		if !ok || !slices.Equal(drain.Left, []string{"3", "4"}) {
			t.Errorf("Run = %+v; want the two that were left named", drain)
		}
	})
}

// TestCase32_FunctionThatCallsDoneItself does not put its item into the hands of
// two workers, though the queue delivers it again.
func TestCase32_FunctionThatCallsDoneItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[string]{})
		var running, most, runs cell[int]
		stop := pool(q, func(_ context.Context, item string) (worker.Result, error) {
			running.change(func(n *int) { *n++ })
			most.change(func(n *int) { *n = max(*n, running.get()) })
			q.Done(item) // the pool does so again
			time.Sleep(time.Second)
			running.change(func(n *int) { *n-- })
			runs.change(func(n *int) { *n++ })
			return worker.Result{}, nil
		}, worker.Options[string]{Workers: 4})
		for range 100 { // most come while it runs
			q.Add("x")
			time.Sleep(300 * time.Millisecond)
		}
		before := runs.get()
		time.Sleep(time.Minute)
		if err := stop(); err != nil {
			t.Errorf("Run = %v", err)
		}
		if most.get() != 1 {
			t.Errorf("%d runs of one item at once; want 1", most.get())
		}
		if after := runs.get() - before; before < 20 || after < 1 || q.Len() != 0 {
			t.Errorf("%d runs, then %d after the last change, Len = %d", before, after, q.Len())
		}
	})
}

// TestCase33_AddTakesABackoffOver: an item that waits for its retry and changes
// is run once, at once.
func TestCase33_AddTakesABackoffOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[string]{})
		for range 12 {
			q.AddRateLimited("x") // 20 s by now
			item, _ := q.Get()
			q.Done(item)
		}
		q.AddRateLimited("x")
		q.AddAfter("x", time.Hour)
		start, before := time.Now(), q.Stats().Delivered
		q.Add("x")
		item, _ := q.Get()
		q.Done(item)
		if waited := time.Since(start); waited != 0 {
			t.Errorf("the change waited for %v", waited)
		}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if n := q.Stats().Delivered - before; n != 1 || q.Len() != 0 {
			t.Errorf("%d deliveries, %d wait; want 1 and none", n, q.Len())
		}
	})
}

// TestCase34_EachChangePostpones: a debounce runs once, its time after the last.
func TestCase34_EachChangePostpones(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[string]{})
		for range 10 {
			q.AddWith("x", workqueue.AddOptions{After: 30 * time.Second, When: workqueue.Latest})
			time.Sleep(10 * time.Second)
		}
		start := time.Now()
		item, _ := q.Get()
		q.Done(item)
		if waited := time.Since(start); waited != 20*time.Second {
			t.Errorf("delivered %v after the last change but 10 s; want 20 s", waited)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if n := q.Stats().Delivered; n != 1 {
			t.Errorf("%d deliveries; want 1", n)
		}
	})
}

// TestCase35_ManyFirstFailuresDoNotQueueUp in a controller: a thousand objects
// fail once and are all right a moment later.
func TestCase35_ManyFirstFailuresDoNotQueueUp(t *testing.T) {
	play(t, bothOf, func(t *testing.T, w *world) {
		for n := range 1000 {
			must(t, w.Preload(configMap(fmt.Sprintf("m%d", n), "1")))
		}
		tries, start := map[string]int{}, time.Time{}
		var last time.Duration
		c := hark.New(w.client, hark.Options[corev1.ConfigMap]{Namespace: "default", Workers: 1, Logger: quiet,
			Reconcile: func(_ context.Context, k key.Key, _ *corev1.ConfigMap) (hark.Result, error) {
				if start.IsZero() {
					start = time.Now()
				}
				if tries[k.Name]++; tries[k.Name] == 1 {
					return hark.Result{}, errors.New("not yet")
				}
				last = time.Since(start)
				return hark.Result{}, nil
			}})
		control(t, c)
		settle(time.Hour)
		if len(tries) != 1000 || last > time.Second {
			t.Errorf("%d objects were run, the last one %v after the first failure; want 1000 within a second", len(tries), last)
		}
	})
}

// TestCase36_SuccessResetsTheBackoff in a controller, by a plain success.
func TestCase36_SuccessResetsTheBackoff(t *testing.T) {
	play(t, bothOf, func(t *testing.T, w *world) {
		w.create("o=bad")
		var failures cell[[]time.Time]
		c := hark.New(w.client, hark.Options[corev1.ConfigMap]{Namespace: "default", Logger: quiet,
			Reconcile: func(_ context.Context, _ key.Key, m *corev1.ConfigMap) (hark.Result, error) {
				if m.Data["n"] == "good" {
					return hark.Result{}, nil
				}
				failures.change(func(times *[]time.Time) { *times = append(*times, time.Now()) })
				return hark.Result{}, errors.New("bad")
			}})
		control(t, c)
		settle(time.Minute)
		w.set("o=good")
		settle(time.Minute)
		failures.change(func(times *[]time.Time) { *times = nil })
		w.set("o=bad")
		settle(time.Minute)
		failed := failures.get()
		if len(failed) < 3 || failed[1].Sub(failed[0]) != 10*time.Millisecond || failed[2].Sub(failed[1]) != 20*time.Millisecond {
			t.Errorf("failed at %v; want the pauses to begin anew with 10 ms", failed)
		}
	})
}

// TestCase38_EveryGetReturnsAtShutdown, those with a context that ends at the
// same time too, and those that come late.
func TestCase38_EveryGetReturnsAtShutdown(t *testing.T) {
	for range 100 {
		q := workqueue.New(workqueue.Options[int]{})
		ctx, cancel := context.WithCancel(context.Background())
		var getters, others sync.WaitGroup
		for n := range 6 {
			getters.Go(func() {
				for {
					item, err := q.GetContext(ctx)
					if err != nil {
						return
					}
					q.AddAfter(item+10, time.Duration(n)*time.Millisecond)
					q.Done(item)
				}
			})
		}
		for n := range 4 {
			others.Go(func() { q.Add(n) })
		}
		others.Go(cancel)
		others.Go(q.ShutDown)
		others.Go(q.ShutDown)
		others.Wait()
		getters.Wait()
		if _, err := q.GetContext(context.Background()); err == nil {
			continue // what is queued is still delivered
		} else if !errors.Is(err, workqueue.ErrShutDown) {
			t.Fatalf("a late Get = %v", err)
		}
	}
}

// TestCase39_PriorityRisesAndNeverFalls, of queued and of delayed items.
func TestCase39_PriorityRisesAndNeverFalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[string]{})
		add := func(item string, priority int, after time.Duration) {
			q.AddWith(item, workqueue.AddOptions{Priority: priority, After: after})
		}
		add("a", 0, 0)
		add("b", 1, 0)
		add("c", 0, time.Second)
		add("d", 2, 2*time.Second)
		add("e", 0, 0)
		add("a", 5, 0)           // raised while queued
		add("b", -3, 0)          // not lowered
		add("c", 4, time.Second) // raised while delayed
		add("d", 0, time.Second) // earlier, not lowered
		time.Sleep(time.Second)
		var got []string
		for range 5 {
			item, _ := q.Get()
			got = append(got, item)
			q.Done(item)
		}
		expect(t, "order", got, "a, c, d, b, e")
	})
}

// TestCase41_ManyUnimportantItemsAreAllRun beside a stream that keeps the worker
// busy.
func TestCase41_ManyUnimportantItemsAreAllRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[string]{Aging: 5 * time.Second})
		low := map[string]bool{}
		for n := range 20 {
			low[fmt.Sprint(n)] = true
			q.AddWith(fmt.Sprint(n), workqueue.AddOptions{Priority: -n})
		}
		start := time.Now()
		for n := 0; len(low) > 0; n++ {
			q.AddWith(fmt.Sprintf("high %d", n), workqueue.AddOptions{Priority: 100})
			item, _ := q.Get()
			delete(low, item)
			time.Sleep(100 * time.Millisecond)
			q.Done(item)
			if time.Since(start) > time.Minute {
				t.Fatalf("%d starve after a minute", len(low))
			}
		}
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("the last one was run after %v; want the aging of 5 s and every second turn", took)
		}
	})
}

// TestCase42_NoGoroutineIsThereForDelays, neither before shutdown nor after.
func TestCase42_NoGoroutineIsThereForDelays(t *testing.T) {
	before := runtime.NumGoroutine()
	for n := range 20 {
		q := workqueue.New(workqueue.Options[int]{})
		for item := range 1000 {
			q.AddAfter(item, time.Hour+time.Duration(item*7919%1000)*time.Minute)
		}
		if n%2 == 0 {
			q.ShutDown()
		} else {
			q.ShutDownWithDrain()
		}
		q.AddAfter(0, time.Hour) // too late
		if s := q.Stats(); s.Delayed != 0 {
			t.Fatalf("%+v after shutdown; want nothing delayed", s)
		}
	}
	if after := runtime.NumGoroutine(); after > before {
		t.Errorf("%d goroutines after, %d before", after, before)
	}
}
