package workqueue

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func (q *Queue[T]) alarmState() (set bool, calls int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.alarm.set, q.alarm.calls
}

// getAll handles items until the queue is shut down.
func getAll[T comparable](q *Queue[T]) {
	for {
		item, shutdown := q.Get()
		if shutdown {
			return
		}
		q.Done(item)
	}
}

// TestCase42_TheTimerIsGoneWhenShutdownReturns also when it goes off just then:
// the call of ring has ended, or will not come.
func TestCase42_TheTimerIsGoneWhenShutdownReturns(t *testing.T) {
	for round := range 300 {
		q := New(Options[int]{})
		var both sync.WaitGroup
		both.Go(func() { getAll(q) })
		for item := range 20 {
			q.AddAfter(item, time.Duration(round%30+item)*time.Microsecond)
		}
		for range 2 {
			both.Go(func() {
				q.ShutDown()
				if set, calls := q.alarmState(); set || calls != 0 {
					t.Errorf("set %t, %d calls to come; want none", set, calls)
				}
			})
		}
		both.Wait()
		if timer := q.alarm.timer; timer != nil && timer.Stop() { // nobody else has the queue any more
			t.Fatal("the timer was still set")
		}
	}
}

// A timer that is set anew just as it goes off calls twice.
func TestCase42_ShutdownWaitsForEveryCallOfTheTimer(t *testing.T) {
	q := New(Options[int]{})
	q.alarm.calls = 2
	silent := q.silence()
	q.ring()
	select {
	case <-silent:
		t.Fatal("one call is still to come")
	default:
	}
	q.ring()
	<-silent
}

func TestATimerSetAnewJustAsItGoesOffIsStillStopped(t *testing.T) {
	q := New(Options[string]{})
	q.AddAfter("a", time.Hour)
	q.mu.Lock()
	q.alarm.calls++ // the one that is not stopped in time
	q.alarmAt(instant(time.Hour))
	q.mu.Unlock()
	q.ring()
	q.Cancel("a")
	if q.alarm.timer.Stop() {
		t.Error("the timer runs though nothing is delayed")
	}
	if q.alarm.calls != 0 {
		t.Errorf("%d calls are expected; want none", q.alarm.calls)
	}
}

func TestTheTimerIsSetForTheEarliestDelayOnlyAndStoppedWithoutOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(Options[string]{})
		q.AddAfter("a", time.Hour)
		if q.alarm.timer != nil {
			t.Fatal("a timer was started before anybody waited")
		}
		go getAll(q)
		expect := func(when string, set bool, due time.Duration) {
			t.Helper()
			synctest.Wait()
			q.mu.Lock()
			defer q.mu.Unlock()
			if q.alarm.set != set || set && q.alarm.due != instant(due) {
				t.Errorf("%s: set %t for %v; want %t for %v", when, q.alarm.set, time.Duration(q.alarm.due), set, due)
			}
		}
		expect("one delayed", true, time.Hour)
		q.AddAfter("b", 2*time.Hour)
		expect("a later one", true, time.Hour)
		q.AddAfter("c", time.Minute)
		expect("an earlier one", true, time.Minute)
		time.Sleep(time.Minute)
		expect("after it rang", true, time.Hour)
		q.Add("a")
		q.Cancel("b")
		expect("nothing delayed", false, 0)
		q.AddAfter("b", time.Hour)
		expect("delayed again", true, time.Minute+time.Hour)
		q.ShutDown()
		expect("shut down", false, 0)
	})
}

// TestWhatIsDueIsQueuedThoughNobodyWaits: nothing tells the queue that an item
// has become due, and whoever comes by finds it in its place all the same.
func TestWhatIsDueIsQueuedThoughNobodyWaits(t *testing.T) {
	for name, look := range map[string]func(q *Queue[string]){
		"Len":      func(q *Queue[string]) { q.Len() },
		"Stats":    func(q *Queue[string]) { q.Stats() },
		"Snapshot": func(q *Queue[string]) { q.Snapshot() },
		"nothing":  func(*Queue[string]) {},
	} {
		synctest.Test(t, func(t *testing.T) {
			q := New(Options[string]{})
			q.Add("run")
			item, _ := q.Get()
			q.Add("run") // again, after Done
			q.AddAfter("second", 2*time.Millisecond)
			q.AddAfter("first", time.Millisecond)
			q.AddAfter("fourth", time.Minute)
			time.Sleep(time.Second)
			look(q)
			q.Add("third")
			time.Sleep(time.Hour)
			look(q)
			q.Done(item)
			q.AddRateLimited("retried")
			q.AddAfter("last", time.Second)
			time.Sleep(time.Second)
			if got := q.Len(); got != 7 {
				t.Errorf("%s: Len = %d; want 7", name, got)
			}
			q.AddAfter("dropped", time.Second)
			q.ShutDown()
			for _, want := range []string{"first", "second", "third", "fourth", "run", "retried", "last"} {
				if got, _ := q.Get(); got != want {
					t.Errorf("%s: Get = %q; want %q", name, got, want)
				}
			}
			if s := q.Stats(); s.Dropped != 1 || s.Queued != 0 || q.alarm.timer != nil {
				t.Errorf("%s: %+v, timer %v; want one dropped, none left and no timer", name, s, q.alarm.timer)
			}
		})
	}
}

func TestADelayBeyondTheEndOfTimeWaitsForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(Options[string]{})
		time.Sleep(time.Hour)
		q.AddAfter("a", 1<<63-1)
		q.AddAfter("b", 1<<63-1)
		time.Sleep(1000 * time.Hour)
		synctest.Wait()
		if s := q.Stats(); s.Delayed != 2 || s.Queued != 0 {
			t.Fatalf("%+v; want two delayed", s)
		}
		q.ShutDown()
	})
}

// TestADelayedItemIsDeliveredOnTimeHoweverWaitersComeAndGo: while somebody
// waits, an item is handed out at the very moment at which it becomes due.
func TestADelayedItemIsDeliveredOnTimeHoweverWaitersComeAndGo(t *testing.T) {
	for round := range 20 {
		seed := rand.Uint64()
		if *seedFlag != 0 {
			seed = *seedFlag
		}
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 0))
			q := New(Options[int]{Times: round%2 == 0})
			due := make(map[int]time.Time) // what is to come
			var mu sync.Mutex
			deliver := func(item int) {
				mu.Lock()
				defer mu.Unlock()
				if at, ok := due[item]; !ok || !at.Equal(time.Now()) {
					t.Errorf("-seed=%d: %d is delivered at %v; want %v, pending %t", seed, item, time.Now(), at, ok)
				}
				delete(due, item)
			}
			for range 1 + random.IntN(4) {
				patience := time.Duration(1+random.IntN(20)) * time.Millisecond
				go getAgainAndAgain(q, patience, deliver)
			}
			for range 200 {
				synctest.Wait() // what is being delivered can no longer be taken back
				mu.Lock()
				changeADelay(q, random, due)
				mu.Unlock()
				time.Sleep(time.Duration(random.IntN(15)) * time.Millisecond)
			}
			time.Sleep(time.Second)
			mu.Lock()
			defer mu.Unlock()
			if len(due) > 0 {
				t.Errorf("-seed=%d: never delivered: %v", seed, due)
			}
			q.ShutDown()
		})
	}
}

// getAgainAndAgain gives each Get up after a time.
func getAgainAndAgain(q *Queue[int], patience time.Duration, deliver func(item int)) {
	for {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		item, err := q.GetContext(ctx)
		cancel()
		switch {
		case err == nil:
			deliver(item)
			q.Done(item)
		case errors.Is(err, ErrShutDown):
			return
		}
	}
}

// changeADelay adds, moves or cancels a delivery, in the queue and in due.
func changeADelay(q *Queue[int], random *rand.Rand, due map[int]time.Time) {
	item, delay := random.IntN(10), time.Duration(1+random.IntN(60))*time.Millisecond
	at, pending := due[item]
	switch random.IntN(5) {
	case 0, 1:
		q.AddAfter(item, delay)
		if next := time.Now().Add(delay); !pending || next.Before(at) {
			due[item] = next
		}
	case 2:
		q.AddWith(item, AddOptions{After: delay, When: Replace})
		due[item] = time.Now().Add(delay)
	case 3:
		q.Cancel(item)
		delete(due, item)
	case 4:
		q.Add(item)
		due[item] = time.Now()
	}
}
