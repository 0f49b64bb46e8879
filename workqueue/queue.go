package workqueue

import (
	"context"
	"errors"
	"hash/maphash"
	"slices"
	"sync"
	"time"
)

// ErrShutDown is returned by GetContext and GetWith when the queue is shut down
// and nothing is queued, and by Drain when ShutDown ended it early.
var ErrShutDown = errors.New("workqueue: the queue is shut down")

// Queue holds each item at most once until it is taken, and an item that is
// being processed back until Done. The package documentation states order,
// merging and bounds. All methods are safe for concurrent use; only Get,
// GetContext, GetWith, ShutDownWithDrain and Drain block. Use New.
type Queue[T comparable] struct {
	options Options[T]
	epoch   time.Time // instant 0
	seed    maphash.Seed

	// mu guards what follows. No foreign code runs and nothing is sent under it.
	mu      sync.Mutex
	core    core[T]
	waiters waiters
	alarm   alarm
	// drained is closed when the queue is shut down and all is done; forced
	// when ShutDown ends the drains under way. Both are nil while nobody waits.
	drained, forced chan struct{}
}

// The pauses between two tries of a lock that is held, in turns of an empty loop: from half a
// microsecond to some five, ten in all.
const firstPause, lastPause = 2000, 16_000

// lock takes mu. Parking and waking a goroutine takes many times as long as mu is
// held, and sync.Mutex parks at once where other goroutines are ready to run. The
// pauses are longer than mu is held, too: who has the lock then does several operations
// with the queue in its processor's cache, where otherwise each moves it to another one.
func (q *Queue[T]) lock() {
	if !q.mu.TryLock() {
		q.lockHeld()
	}
}

func (q *Queue[T]) lockHeld() {
	for pause := firstPause; pause <= lastPause; pause *= 2 {
		for range pause {
		}
		if q.mu.TryLock() {
			return
		}
	}
	q.mu.Lock()
}

// New returns a queue. It starts nothing.
func New[T comparable](options Options[T]) *Queue[T] {
	options = options.withDefaults()
	q := &Queue[T]{options: options, epoch: time.Now(), seed: maphash.MakeSeed()}
	q.core.backoff = options.Backoff
	q.core.maxFailures = options.MaxFailures
	q.core.timed = options.Times || options.Lane != nil
	q.core.order.fair = options.Lane != nil
	q.core.order.aging = instant(options.Aging)
	return q
}

// Add asks for item to be delivered as soon as possible. It is delivered once,
// however often it is added before; while it is being processed, it is
// delivered again after Done. After ShutDown nothing is added.
func (q *Queue[T]) Add(item T) {
	lane, hash := q.lane(item), q.hash(item)
	q.lock()
	ok := q.core.add(item, hash, lane, q.promote())
	wake := q.notify()
	q.mu.Unlock()
	wake.signal()
	if !ok {
		q.misuse(item)
	}
}

// Len returns the number of items that Get would deliver now. Items that are
// delayed, or that wait for their own run to end, do not count.
func (q *Queue[T]) Len() int {
	q.lock()
	wake := q.catchUp()
	n := q.core.order.aged.len
	q.mu.Unlock()
	wake.signal()
	return n
}

// Done ends the processing of item. It must be called once for every item that
// was got. If the item is not being processed nothing changes: the call is
// counted in Stats.Misused and reported to Options.OnMisuse.
func (q *Queue[T]) Done(item T) {
	q.lock()
	n, now := q.find(item), unknown
	if q.core.again > 0 || n != nil && n.state&waiting != 0 { // only then a run that ends may be followed by another
		now = q.promote()
	}
	ok := q.core.done(n, now)
	q.checkDrained()
	wake := q.notify()
	q.mu.Unlock()
	wake.signal()
	if !ok {
		q.misuse(item)
	}
}

// ShuttingDown tells whether ShutDown, ShutDownWithDrain or Drain was called.
func (q *Queue[T]) ShuttingDown() bool {
	q.lock()
	defer q.mu.Unlock()
	return q.core.closed
}

// Get blocks until an item is due and hands it out, or returns shutdown once
// the queue is shut down and empty. Done must follow.
func (q *Queue[T]) Get() (item T, shutdown bool) {
	q.lock()
	if n := q.take(); n != nil { // next does the same; most calls end here
		item = n.item
		wake := q.notify()
		q.mu.Unlock()
		wake.signal()
		return item, false
	}
	q.mu.Unlock()
	item, err := q.next(context.Background(), nil)
	return item, err != nil
}

// GetContext is Get that also ends with ctx: it then returns the cause of ctx,
// whether or not an item is due. It returns ErrShutDown when the queue is shut
// down and empty.
func (q *Queue[T]) GetContext(ctx context.Context) (T, error) {
	return q.next(ctx, nil)
}

// Delivery is an item handed out, with what the queue knows of it.
type Delivery[T comparable] struct {
	Item T
	// Reasons for which the item was added, in order, without repetitions; at
	// most eight, each cut after 512 bytes. MoreReasons counts the others.
	Reasons     []string
	MoreReasons int
	Priority    int
	// Failures since the last Forget.
	Failures int
	// Queued is since when the item could be got: when it became due, or when the run
	// ended during which it did. It may be zero without Options.Times,
	// lanes or priorities: then it is there only if the clock was read anyway.
	Queued time.Time
}

// GetWith is GetContext that also tells what the queue knows of the item.
func (q *Queue[T]) GetWith(ctx context.Context) (Delivery[T], error) {
	var d Delivery[T]
	_, err := q.next(ctx, &d)
	return d, err
}

// next takes the next item, and fills d if there is one.
func (q *Queue[T]) next(ctx context.Context, d *Delivery[T]) (item T, err error) {
	var w *waiter // of the round before
	for {
		if ctx.Err() != nil {
			q.passOn(w)
			return item, context.Cause(ctx)
		}
		q.lock()
		if w != nil {
			q.waiters.back(w)
		}
		if n := q.take(); n != nil {
			item = n.item
			if d != nil {
				q.describe(n, d)
			}
			wake := q.notify()
			q.mu.Unlock()
			wake.signal()
			return item, nil
		}
		if q.core.closed {
			q.mu.Unlock()
			return item, ErrShutDown
		}
		w = q.waiters.join()
		q.setAlarm()
		q.mu.Unlock()
		q.await(ctx, w)
	}
}

func (q *Queue[T]) describe(n *node[T], d *Delivery[T]) {
	*d = Delivery[T]{Item: n.item, Priority: int(n.ran()), Failures: int(n.failures), Queued: q.timeOf(n.at)}
	if n := n.detail(); n != nil {
		d.Reasons, d.MoreReasons = slices.Clone(n.now.texts), n.now.more
	}
}

// promote makes ready what is due, and returns the time if it had to be read.
// Whatever puts an item behind others, or counts what is queued, comes after it.
func (q *Queue[T]) promote() instant {
	if q.core.deadlines.len == 0 && !q.core.timed {
		return unknown // nobody would look at it
	}
	return q.promoteNow()
}

func (q *Queue[T]) promoteNow() instant {
	now := q.now()
	q.core.promote(now)
	return now
}

// take is that of the core, after what is due. Where there are neither lanes
// nor priorities, what has become due in the meantime comes after what is
// ready, and the clock need not be read.
func (q *Queue[T]) take() *node[T] {
	now := unknown
	if q.core.timed || q.core.order.aged.len == 0 {
		now = q.promote()
	}
	return q.core.take(now)
}

// notify ends an operation under the lock: it returns the waiters to signal and
// sets the alarm for those that are left.
func (q *Queue[T]) notify() *waiter {
	if q.waiters.head == nil && !q.alarm.set {
		return nil
	}
	return q.notifyWaiters()
}

func (q *Queue[T]) notifyWaiters() *waiter {
	wake := q.wake()
	q.setAlarm()
	return wake
}

// catchUp makes ready what is due, for those who look at the queue.
func (q *Queue[T]) catchUp() (wake *waiter) {
	if q.core.deadlines.len > 0 {
		q.promoteNow()
	}
	return q.notify()
}

// lane is called without the lock.
func (q *Queue[T]) lane(item T) string {
	if q.options.Lane == nil {
		return ""
	}
	return q.options.Lane(item)
}

// hash is what the core finds item by. It panics for an interface that holds
// what cannot be compared, as a map would.
func (q *Queue[T]) hash(item T) uint32 { return uint32(maphash.Comparable(q.seed, item) >> 32) }

// find returns the node of item, nil when the queue does not know it. It is
// called with the lock held, and when it panics as hash does, it releases it.
func (q *Queue[T]) find(item T) *node[T] {
	if n := q.core.recent(item); n != nil {
		return n
	}
	return q.lookup(item)
}

func (q *Queue[T]) lookup(item T) *node[T] {
	hashed := false
	defer func() {
		if !hashed {
			q.mu.Unlock()
		}
	}()
	hash := q.hash(item)
	hashed = true
	return q.core.find(item, hash)
}

// misuse tells of an item that was counted in Stats.Misused. It is called
// without the lock.
func (q *Queue[T]) misuse(item T) {
	if q.options.OnMisuse != nil {
		q.options.OnMisuse(item)
	}
}

// now reads the clock.
func (q *Queue[T]) now() instant { return instant(time.Since(q.epoch)) }

// timeOf returns the zero time for unknown.
func (q *Queue[T]) timeOf(t instant) time.Time {
	if t == unknown {
		return time.Time{}
	}
	return q.epoch.Add(time.Duration(t))
}
