package workqueue

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// TestAnItemIsNotLostOnAGetThatGivesUp: of two goroutines that wait, the one
// that an item wakes has its context ended at the same moment.
func TestAnItemIsNotLostOnAGetThatGivesUp(t *testing.T) {
	for round := range 2000 {
		synctest.Test(t, func(t *testing.T) {
			q := New(Options[int]{})
			impatient, cancel := context.WithCancel(t.Context())
			var getters sync.WaitGroup
			var got atomic.Int64
			for _, ctx := range []context.Context{impatient, t.Context()} {
				getters.Go(func() {
					if item, err := q.GetContext(ctx); err == nil {
						got.Add(1)
						q.Done(item)
					}
				})
				synctest.Wait() // the impatient one is first in line
			}
			switch round % 3 {
			case 0:
				q.Add(1)
				cancel()
			case 1:
				cancel()
				q.Add(1)
			default:
				cancel()
				synctest.Wait()
				q.Add(1)
			}
			synctest.Wait()
			if got.Load() != 1 {
				t.Errorf("round %d: the item was delivered %d times; want once", round, got.Load())
			}
			q.ShutDown()
			getters.Wait()
			if q.waiters.len != 0 || q.waiters.waking != 0 {
				t.Errorf("round %d: %d still wait, %d are waking", round, q.waiters.len, q.waiters.waking)
			}
		})
	}
}

func TestAnAddWakesNoMoreGoroutinesThanThereAreItems(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(Options[int]{})
		var getters sync.WaitGroup
		for range 5 {
			getters.Go(func() {
				for {
					item, shutdown := q.Get()
					if shutdown {
						return
					}
					q.Done(item)
				}
			})
		}
		synctest.Wait()
		q.mu.Lock()
		q.core.add(1, q.hash(1), "", unknown)
		q.core.add(2, q.hash(2), "", unknown)
		wake := q.wake()
		if q.waiters.waking != 2 || q.waiters.len != 3 || q.wake() != nil {
			t.Errorf("%d waking, %d wait; want 2 and 3", q.waiters.waking, q.waiters.len)
		}
		q.mu.Unlock()
		wake.signal()
		q.ShutDown()
		getters.Wait()
		if q.waiters.spares != 5 {
			t.Errorf("%d waiters are kept for reuse; want 5", q.waiters.spares)
		}
	})
}
