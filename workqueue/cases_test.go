package workqueue_test

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

	clientgo "k8s.io/client-go/util/workqueue"

	"github.com/gocampus/hark/workqueue"
)

func TestCase31_ADrainWaitsForQueuedItemsAndForEveryDrainer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[string]{})
		q.Add("a")
		q.Add("b")
		var drained sync.WaitGroup
		returned := 0
		var mu sync.Mutex
		for range 2 {
			drained.Go(func() {
				q.ShutDownWithDrain()
				mu.Lock()
				defer mu.Unlock()
				returned++
			})
		}
		for range 2 {
			synctest.Wait()
			if mu.Lock(); returned != 0 {
				t.Errorf("%d drains returned with %d items queued", returned, q.Len())
			}
			mu.Unlock()
			item, _ := q.Get()
			q.Done(item)
		}
		drained.Wait()
	})
}

func TestCase31_ADrainWithAContextReturnsWhatIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[string]{})
		q.Add("a")
		q.Add("b")
		cause := errors.New("out of time")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, cause)
		defer cancel()
		left, err := q.Drain(ctx)
		if !slices.Equal(left, []string{"a", "b"}) || err != cause {
			t.Fatalf("Drain = %v, %v; want [a b], %v", left, err, cause)
		}
	})
}

func TestCase31_ADrainOfNothingSucceedsWhateverItsContext(t *testing.T) {
	q := workqueue.New(workqueue.Options[string]{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 100 {
		if left, err := q.Drain(ctx); left != nil || err != nil {
			t.Fatalf("Drain = %v, %v; want nothing", left, err)
		}
	}
}

func TestCase32_DoneOfWhatIsNotProcessedChangesNothing(t *testing.T) {
	var misused []string
	q := workqueue.New(workqueue.Options[string]{OnMisuse: func(item string) { misused = append(misused, item) }})
	q.Add("x")
	q.Get()
	q.Add("x")
	q.Done("x")
	q.Done("x")
	if got := q.Len(); got != 1 {
		t.Fatalf("Len = %d; want 1: two workers would run x", got)
	}
	q.Add("y")
	q.Done("y")
	if got := q.Len(); got != 2 || q.Stats().Misused != 2 || !slices.Equal(misused, []string{"x", "y"}) {
		t.Fatalf("Len = %d, Misused = %d, reported %v; want 2, 2, [x y]", got, q.Stats().Misused, misused)
	}
}

func TestCase33_AnEarlierDeliveryTakesADelayOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[string]{})
		q.AddAfter("x", 5*time.Hour)
		q.Add("x")
		item, _ := q.Get()
		q.Done(item)
		time.Sleep(5 * time.Hour)
		synctest.Wait()
		if got := q.Stats(); got.Delivered != 1 || got.Queued != 0 || got.Delayed != 0 {
			t.Fatalf("%+v; want one delivery and nothing pending", got)
		}
	})
}

func TestCase34_ADelayCanBePostponedReplacedAndCancelled(t *testing.T) {
	for when, want := range map[workqueue.When]time.Duration{
		workqueue.Earliest: 10 * time.Second,
		workqueue.Latest:   60 * time.Second,
		workqueue.Replace:  60 * time.Second,
	} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			q := workqueue.New(workqueue.Options[string]{})
			q.AddAfter("x", 10*time.Second)
			q.AddWith("x", workqueue.AddOptions{After: 60 * time.Second, When: when})
			item, _ := q.Get()
			if got := time.Since(start); got != want {
				t.Errorf("when %d: delivered after %v; want %v", when, got, want)
			}
			q.Done(item)
			time.Sleep(time.Hour)
			synctest.Wait()
			if got := q.Len(); got != 0 {
				t.Errorf("when %d: delivered twice", when)
			}
			q.AddAfter("x", time.Second)
			if !q.Cancel("x") {
				t.Error("Cancel found nothing to cancel")
			}
			time.Sleep(time.Hour)
			synctest.Wait()
			if got := q.Len(); got != 0 {
				t.Error("delivered in spite of Cancel")
			}
		})
	}
}

func TestCase35_TheBackoffOfAnItemIsItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[int]{MaxFailures: 10_000})
		defer q.ShutDown()
		start := time.Now()
		for item := range 10_000 {
			q.AddRateLimited(item)
		}
		for range 10_000 {
			q.Get()
			if got := time.Since(start); got != 10*time.Millisecond {
				t.Fatalf("the first retry came after %v; want 10ms for every item", got)
			}
		}
		for item := range 10_000 {
			q.Done(item)
		}
		for range 15 { // an item that fails often delays itself alone
			q.AddRateLimited(0)
			item, _ := q.Get()
			q.Done(item)
		}
		q.AddRateLimited(0)
		q.AddRateLimited(50)
		again := time.Now()
		if item, _ := q.Get(); item != 50 || time.Since(again) != 20*time.Millisecond {
			t.Fatalf("got %d after %v; want 50 after 20ms", item, time.Since(again))
		}
	})
}

func TestCase38_EveryGetReturnsAtShutdown(t *testing.T) {
	for range 50 {
		q := workqueue.New(workqueue.Options[int]{})
		var getters, others sync.WaitGroup
		var mu sync.Mutex
		got := 0
		for range 8 {
			getters.Go(func() {
				for {
					item, shutdown := q.Get()
					if shutdown {
						return
					}
					mu.Lock()
					got++
					mu.Unlock()
					q.Done(item)
				}
			})
		}
		for i := range 4 {
			others.Go(func() {
				for j := range 50 {
					q.Add(i*50 + j)
				}
			})
			others.Go(func() {
				if i%2 == 0 {
					q.ShutDown()
				} else {
					q.ShutDownWithDrain()
				}
			})
		}
		others.Wait()
		getters.Wait()
		q.ShutDown()
		if s := q.Stats(); uint64(got) != s.Delivered || s.Done != s.Delivered || s.Queued != 0 || s.Added-s.Merged != s.Delivered {
			t.Fatalf("%d got; %+v: what was added was not delivered", got, s)
		}
	}
}

func TestCase39_AnItemThatBecomesDueTakesItsPlaceByPriority(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[string]{})
		q.Add("low")
		q.AddWith("high", workqueue.AddOptions{After: time.Second, Priority: 1})
		time.Sleep(time.Second) // no Wait: the timer may not have rung yet
		for _, want := range []string{"high", "low"} {
			if got, _ := q.Get(); got != want {
				t.Fatalf("Get = %s; want %s", got, want)
			}
		}
	})
}

func TestCase41_NoStreamOfImportantItemsStarvesAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const aging = 5 * time.Second
		q := workqueue.New(workqueue.Options[string]{Aging: aging})
		start := time.Now()
		q.AddWith("starving", workqueue.AddOptions{Priority: -100})
		q.Add("0")
		for i := 1; ; i++ {
			q.Add(fmt.Sprint(i)) // there is always one of priority 0
			item, _ := q.Get()
			if item == "starving" {
				break
			}
			time.Sleep(100 * time.Millisecond)
			q.Done(item)
			if time.Since(start) > time.Minute {
				t.Fatal("starved for a minute")
			}
		}
		if got := time.Since(start); got != aging {
			t.Fatalf("delivered after %v; want %v", got, aging)
		}
	})
}

// TestCase41_AgingCountsFromTheFirstPriority: until there was one, nobody looked
// at the clock.
func TestCase41_AgingCountsFromTheFirstPriority(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[string]{Aging: time.Minute})
		q.Add("a")
		q.Add("b")
		time.Sleep(time.Hour)
		q.AddWith("high", workqueue.AddOptions{Priority: 1})
		q.AddWith("higher", workqueue.AddOptions{Priority: 2})
		time.Sleep(30 * time.Second)
		if got, _ := q.Get(); got != "higher" {
			t.Errorf("after half a minute: %s; want higher", got)
		}
		time.Sleep(30 * time.Second)
		if got, _ := q.Get(); got != "a" {
			t.Errorf("after a minute: %s; want a, which is due to be aged", got)
		}
	})
}

func TestCase42_NothingIsLeftAtOnceAfterShutdown(t *testing.T) {
	for name, shutDown := range map[string]func(*workqueue.Queue[int]){
		"ShutDown":          (*workqueue.Queue[int]).ShutDown,
		"ShutDownWithDrain": (*workqueue.Queue[int]).ShutDownWithDrain,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := workqueue.New(workqueue.Options[int]{})
				before := heap()
				for item := range 100_000 {
					q.AddAfter(item, time.Duration(item+1)*time.Hour)
				}
				filled := heap() - before
				shutDown(q)
				if left := heap() - before; left > filled/20 {
					t.Errorf("%d of %d bytes are left", left, filled)
				}
				if s := q.Stats(); s.Delayed != 0 || s.Dropped != 100_000 {
					t.Errorf("%+v; want everything dropped", s)
				}
			})
		})
	}
}

// heap returns the bytes of the heap that are in use.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestTheClientGoQueueStillHasTheFaultsThatWeListAsDifferences(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := clientgo.NewTypedRateLimitingQueue(clientgo.DefaultTypedControllerRateLimiter[string]())
		q.Add("x")
		q.Get()
		q.Add("x")
		q.Done("x")
		q.Done("x")
		if got := q.Len(); got != 2 {
			t.Errorf("C32: Len = %d; want 2, else the documentation is out of date", got)
		}
		q.AddAfter("y", time.Hour)
		q.Add("y")
		for range 3 {
			item, _ := q.Get()
			q.Done(item)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if got := q.Len(); got != 1 {
			t.Errorf("C33: Len = %d; want 1, else the documentation is out of date", got)
		}
		q.ShutDownWithDrain() // C31: returns in spite of y
		q.ShutDown()
	})
}
