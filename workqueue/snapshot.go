package workqueue

import (
	"cmp"
	"slices"
	"time"
)

// Stats counts what has happened since New, and what is there now.
type Stats struct {
	// Added counts accepted requests; Merged those of them that found the item
	// pending; Refused those that came after shutdown.
	Added, Merged, Refused uint64
	// Delivered counts items handed out, Done those given back.
	Delivered, Done uint64
	// Retries counts AddRateLimited.
	Retries uint64
	// Cancelled counts pending deliveries taken back by Cancel, Dropped delayed
	// ones dropped at shutdown.
	Cancelled, Dropped uint64
	// Misused counts calls of Done for an item that was not being processed,
	// and items that do not equal themselves.
	Misused uint64
	// Evicted counts idle items whose failures were forgotten for want of room:
	// see Options.MaxFailures.
	Evicted uint64

	// Queued, Delayed and Processing are the numbers of items now. An item may
	// be delayed and processing at the same time; Again counts those that are
	// processing and will be queued after Done.
	Queued, Delayed, Processing, Again int
	// Failing is the number of idle items whose failures are remembered.
	Failing int
}

// Entry is what the queue knows of one item.
type Entry[T comparable] struct {
	Item T
	// Priority of the pending delivery, or of the run if nothing is pending.
	Priority int
	// Lane as named by Options.Lane.
	Lane string
	// Due is when a delayed item will be queued, or was to be; zero otherwise.
	Due time.Time
	// Queued is since when the item can be got, or is due where it waits for the end of
	// its run; Started is when it was got. Both are zero where they do not apply or are
	// not kept: see Options.Times.
	Queued, Started time.Time
	// Again: the item is being processed and will be queued after Done.
	Again bool
	// Reasons of the run under way, then of the pending delivery.
	Reasons     []string
	MoreReasons int
	// Failures since the last Forget.
	Failures int
	// LastError and FailedAt are what RecordError was last told.
	LastError string
	FailedAt  time.Time
}

// Snapshot is the content of a queue at one moment.
type Snapshot[T comparable] struct {
	Time         time.Time
	ShuttingDown bool
	Stats        Stats
	// Queued items by priority, then by age: the order of delivery as far as
	// lanes and aging do not change it.
	Queued []Entry[T]
	// Delayed items, the earliest first.
	Delayed []Entry[T]
	// Processing items, in no order. One that is also delayed has its Due set
	// and is not repeated in Delayed.
	Processing []Entry[T]
	// Failing items are idle and have failures, the oldest first.
	Failing []Entry[T]
}

// Stats returns the counts. It is cheap.
func (q *Queue[T]) Stats() Stats {
	q.lock()
	wake := q.catchUp()
	stats := q.core.count()
	q.mu.Unlock()
	wake.signal()
	return stats
}

// Snapshot copies the content of the queue. It takes time and memory in
// proportion to the items, and holds the queue up meanwhile; Stats does not.
func (q *Queue[T]) Snapshot() Snapshot[T] {
	s := q.snapshot()
	slices.SortStableFunc(s.Queued, func(a, b Entry[T]) int { return cmp.Compare(b.Priority, a.Priority) })
	return s
}

func (q *Queue[T]) snapshot() Snapshot[T] {
	q.lock()
	now, c := q.promoteNow(), &q.core
	wake := q.notify()
	defer func() {
		q.mu.Unlock()
		wake.signal()
	}()
	s := Snapshot[T]{Time: q.timeOf(now), ShuttingDown: c.closed, Stats: c.count()}
	s.Queued = make([]Entry[T], 0, s.Stats.Queued)
	for n := range c.nodes.members(&c.order.aged) {
		s.Queued = append(s.Queued, q.entry(n))
	}
	for n := range c.nodes.members(&c.failing) {
		s.Failing = append(s.Failing, q.entry(n))
	}
	for _, n := range c.deadlines.sorted(&c.nodes) {
		if n.state&running == 0 {
			s.Delayed = append(s.Delayed, q.entry(n))
		}
	}
	if c.running == 0 {
		return s
	}
	for n := range c.nodes.all {
		if n.state&running != 0 {
			s.Processing = append(s.Processing, q.entry(n))
		}
	}
	return s
}

func (q *Queue[T]) entry(n *node[T]) Entry[T] {
	e := Entry[T]{
		Item:     n.item,
		Priority: int(n.priority()),
		Again:    n.state&busy == running|ready,
		Failures: int(n.failures),
	}
	if n.extra != nil {
		e.Lane = n.extra.name
	}
	if n.state&running != 0 {
		if n.extra != nil {
			e.Started = q.timeOf(n.extra.started)
		}
		if n.state&pending == 0 {
			e.Priority = int(n.ran())
		}
	}
	switch n.state & pending {
	case waiting:
		e.Due = q.timeOf(n.at)
	case ready:
		e.Queued = q.timeOf(n.at)
	}
	if d := n.detail(); d != nil {
		e.Reasons = slices.Concat(d.now.texts, d.next.texts)
		e.MoreReasons = d.now.more + d.next.more
		if d.recorded != nil {
			e.LastError, e.FailedAt = d.err, q.timeOf(d.failedAt)
		}
	}
	return e
}

// count completes the stats with the numbers of now.
func (c *core[T]) count() Stats {
	s := c.stats
	s.Queued = c.order.aged.len
	s.Delayed = c.deadlines.len
	s.Processing = c.running
	s.Again = c.again
	s.Failing = c.failing.len
	return s
}

// left returns what is running and then what is queued.
func (c *core[T]) left() []T {
	if c.unfinished() == 0 {
		return nil
	}
	left := make([]T, 0, c.unfinished())
	for n := range c.nodes.all {
		if n.state&running != 0 {
			left = append(left, n.item)
		}
	}
	for n := range c.nodes.members(&c.order.aged) {
		left = append(left, n.item)
	}
	return left
}
