package workqueue

import (
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

// TestCase42_TheTimerIsGoneWhenShutdownReturns also when it goes off just then:
// the call of ring has ended, or will not come.
func TestCase42_TheTimerIsGoneWhenShutdownReturns(t *testing.T) {
	for round := range 300 {
		q := New(Options[int]{})
		var both sync.WaitGroup
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
		if q.alarm.timer.Stop() { // nobody else has the queue any more
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

func TestTheTimerIsSetForTheEarliestDelayOnlyAndStoppedWithoutOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(Options[string]{})
		if q.alarm.timer != nil {
			t.Fatal("New started a timer")
		}
		expect := func(when string, set bool, due time.Duration) {
			t.Helper()
			synctest.Wait()
			q.mu.Lock()
			defer q.mu.Unlock()
			if q.alarm.set != set || set && q.alarm.due != instant(due) {
				t.Errorf("%s: set %t for %v; want %t for %v", when, q.alarm.set, time.Duration(q.alarm.due), set, due)
			}
		}
		q.AddAfter("a", time.Hour)
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
