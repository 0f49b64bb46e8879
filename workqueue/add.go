package workqueue

import (
	"math"
	"math/rand/v2"
	"time"
)

// When says how a new moment is merged into the pending delivery of an item.
type When uint8

const (
	// Earliest keeps the earlier moment. It is the default, and client-go's way.
	Earliest When = iota
	// Latest keeps the later moment: it postpones an item that is delayed. An
	// item that is due already stays due.
	Latest
	// Replace drops the pending delivery, also one that is due but that nobody
	// has taken yet, in favour of the new moment.
	Replace
)

// AddOptions say more about an add. The zero value makes AddWith an Add.
type AddOptions struct {
	// After delays the delivery; 0 or less means now.
	After time.Duration
	// When says what becomes of a delivery that is already pending.
	When When
	// Priority, 0 by default; higher ones are delivered first. Adding a pending
	// item again raises its priority and never lowers it; it ends with the
	// delivery. Values beyond 32 bits count as the nearest that has 32.
	Priority int
	// Reason for people, shown by Snapshot and Delivery. The different reasons
	// for one delivery are collected.
	Reason string
}

// AddWith adds item as the options say.
func (q *Queue[T]) AddWith(item T, options AddOptions) {
	q.request(item, &request{
		after:    options.After,
		when:     options.When,
		priority: int32(min(max(options.Priority, math.MinInt32), math.MaxInt32)),
		reason:   options.Reason,
	})
}

// AddAfter adds item once the delay has passed; 0 or less means now. An item
// that is pending already is delivered at the earlier moment. During a run of
// item, the priority of the run is kept.
func (q *Queue[T]) AddAfter(item T, delay time.Duration) {
	q.request(item, &request{after: delay, inherit: true})
}

func (q *Queue[T]) request(item T, r *request) {
	lane, hash, now := q.lane(item), q.hash(item), q.now()
	q.lock()
	q.core.promote(now)
	ok := q.core.schedule(item, hash, lane, r, now)
	wake := q.notify()
	q.mu.Unlock()
	wake.signal()
	if !ok {
		q.misuse(item)
	}
}

// AddRateLimited counts a failure of item and adds it after Options.Backoff,
// otherwise as AddAfter does. The count goes on until Forget.
func (q *Queue[T]) AddRateLimited(item T) {
	random := 0.0
	if q.options.Backoff.Jitter > 0 {
		random = rand.Float64()
	}
	lane, hash, now := q.lane(item), q.hash(item), q.now()
	q.lock()
	q.core.promote(now)
	ok := q.core.retry(item, hash, lane, random, now)
	wake := q.notify()
	q.mu.Unlock()
	wake.signal()
	if !ok {
		q.misuse(item)
	}
}

// Cancel takes back the pending delivery of item, whether it is queued, delayed
// or waits for the end of a run, and tells whether there was one. A run under
// way goes on, and failures stay counted.
func (q *Queue[T]) Cancel(item T) bool {
	q.lock()
	n := q.find(item)
	q.promote() // or the turns of lanes would depend on who looked
	cancelled := q.core.cancel(n)
	q.checkDrained()
	wake := q.notify()
	q.mu.Unlock()
	wake.signal()
	return cancelled
}

// Forget clears the failures of item, after success or for good. A delivery
// that is pending stays so, and Done must still be called.
func (q *Queue[T]) Forget(item T) {
	q.lock()
	q.core.forget(q.find(item))
	q.mu.Unlock()
}

// NumRequeues returns the failures of item since the last Forget.
func (q *Queue[T]) NumRequeues(item T) int {
	q.lock()
	failures := 0
	if n := q.find(item); n != nil {
		failures = int(n.failures)
	}
	q.mu.Unlock()
	return failures
}

// RecordError keeps the text of item's last error, cut after 512 bytes, and its
// time, for Snapshot, until Forget. It does not count a failure; AddRateLimited
// does. The texts of the last Options.MaxFailures items are kept.
func (q *Queue[T]) RecordError(item T, err error) {
	if err == nil {
		return
	}
	lane, hash, text, now := q.lane(item), q.hash(item), err.Error(), q.now()
	q.lock()
	ok := q.core.record(item, hash, lane, text, now)
	q.mu.Unlock()
	if !ok {
		q.misuse(item)
	}
}
