package workqueue

import (
	"container/list"
	"time"
)

// core is the queue without a lock, a clock, a timer or a goroutine: what it
// does follows from its arguments alone. Whoever passes a now may pass one that
// is a little older than the last.
//
// Invariants, for every node n in nodes (nodes[n.item] == n):
//   - waiting ⇔ n is in deadlines; ready and not running ⇔ n is in order;
//     never both ready and waiting.
//   - idle (not ready, waiting or running) ⇔ n is in exactly one of finished
//     and failing; kept ⇔ in failing ⇔ idle and has failures or an error.
//   - running counts the running nodes, again those that are also ready.
//   - finished.len <= maxFinished, failing.len and errors.Len() <= maxFailures.
//   - closed ⇒ no node is waiting, and finished is empty.
type core[T comparable] struct {
	nodes     map[T]*node[T]
	order     order[T]
	deadlines deadlines[T]
	finished  chain[T] // idle nodes kept for the next add, the oldest first
	failing   chain[T] // idle nodes kept for their failures, the oldest first
	errors    list.List
	running   int
	again     int
	closed    bool
	// timed: every now that is passed is known. Otherwise add, take and done
	// may be given unknown.
	timed bool

	// last is the node taken last, most likely the one that is asked for next.
	last *node[T]
	// peak is the largest len(nodes) since nodes was made: maps do not shrink.
	peak int

	backoff     Backoff
	maxFailures int
	maxFinished int
	stats       Stats
}

const (
	// defaultFinished bounds the finished items that are remembered.
	defaultFinished = 1024
	// minShrink is the size from which on a map is made anew when it has become
	// mostly empty.
	minShrink = 4 * defaultFinished
)

// request is what an add asks for.
type request struct {
	after    time.Duration
	when     When
	priority int32
	inherit  bool // take the priority of the run under way instead
	reason   string
}

// add asks for a delivery as soon as possible.
func (c *core[T]) add(item T, lane string, now instant) {
	if c.closed {
		c.stats.Refused++
		return
	}
	n := c.hold(item, lane)
	c.admit(n)
	c.prioritise(n, 0, now)
	c.makeReady(n, now)
}

// schedule asks for a delivery at a later time, or with more to say.
func (c *core[T]) schedule(item T, lane string, r *request, now instant) {
	if c.closed {
		c.stats.Refused++
		return
	}
	c.request(c.hold(item, lane), r, now)
}

// request is schedule for a node that is held.
func (c *core[T]) request(n *node[T], r *request, now instant) {
	c.admit(n)
	if r.priority != 0 {
		c.timed = true
	}
	if r.reason != "" {
		c.detail(n).next.add(r.reason)
	}
	priority := r.priority
	if r.inherit && n.state&running != 0 {
		priority = n.ran
	}
	c.prioritise(n, priority, now)
	due := now
	if r.after > 0 {
		due = now.after(r.after)
	}
	c.setDue(n, r.when, due, now)
}

// setDue merges a moment into the pending delivery of n.
func (c *core[T]) setDue(n *node[T], when When, due, now instant) {
	isWaiting, isReady := n.state&waiting != 0, n.state&ready != 0
	switch {
	case isWaiting && (when == Earliest && due >= n.at || when == Latest && due <= n.at):
	case isReady && (when != Replace || due <= now):
	case due <= now:
		c.makeReady(n, now)
	case isWaiting:
		n.at = due
		c.deadlines.move(n)
	default:
		if isReady {
			c.unready(n)
		}
		n.at = due
		n.state |= waiting
		c.deadlines.push(n)
	}
}

// admit counts a request.
func (c *core[T]) admit(n *node[T]) {
	c.stats.Added++
	if n.state&pending != 0 {
		c.stats.Merged++
	}
}

// prioritise raises the pending delivery of n to a priority, or begins one.
func (c *core[T]) prioritise(n *node[T], priority int32, now instant) {
	switch {
	case n.state&pending == 0:
		n.priority = priority
	case priority <= n.priority:
	case n.state&busy == ready:
		c.order.raise(n, priority, now)
	default:
		n.priority = priority
	}
}

// makeReady makes n due now, if it is not already.
func (c *core[T]) makeReady(n *node[T], now instant) {
	switch {
	case n.state&ready != 0:
		return
	case n.state&waiting != 0:
		c.deadlines.remove(n)
		n.state &^= waiting
	}
	c.enqueue(n, now)
}

// enqueue puts n, which is neither ready nor waiting, where take or done finds it.
func (c *core[T]) enqueue(n *node[T], since instant) {
	n.state |= ready
	n.at = since
	if n.state&running != 0 {
		c.again++
		return
	}
	c.order.push(n, since)
}

// unready undoes enqueue.
func (c *core[T]) unready(n *node[T]) {
	n.state &^= ready
	if n.state&running != 0 {
		c.again--
		return
	}
	c.order.remove(n)
}

// promote makes ready what has become due.
func (c *core[T]) promote(now instant) {
	for c.deadlines.first() <= now && len(c.deadlines.heap) > 0 {
		n := c.deadlines.heap[0].node
		c.deadlines.remove(n)
		n.state &^= waiting
		c.enqueue(n, n.at)
	}
}

// take hands out the node whose turn it is, nil when none is ready. What is due
// must have been promoted.
func (c *core[T]) take(now instant) *node[T] {
	n := c.order.take(now)
	if n == nil {
		return nil
	}
	n.state = n.state&^ready | running
	n.started = now
	n.ran = n.priority
	if n.detail != nil {
		n.detail.now, n.detail.next = n.detail.next, reasons{}
	}
	c.running++
	c.stats.Delivered++
	c.last = n
	return n
}

// done ends a run. It returns false, and nothing has changed, when there is none.
// now may be unknown when again is 0.
func (c *core[T]) done(item T, now instant) bool {
	n := c.find(item)
	if n == nil || n.state&running == 0 {
		c.stats.Misused++
		return false
	}
	c.running--
	c.stats.Done++
	n.state &^= running
	if n.detail != nil {
		n.detail.now = reasons{}
	}
	switch {
	case n.state&ready != 0:
		c.again--
		n.at = now
		c.order.push(n, now)
	default:
		c.settle(n)
	}
	return true
}

// cancel takes back the pending delivery of an item and tells whether there was one.
func (c *core[T]) cancel(item T) bool {
	n := c.find(item)
	if n == nil || n.state&pending == 0 {
		return false
	}
	if n.state&ready != 0 {
		c.unready(n)
	} else {
		c.deadlines.remove(n)
		n.state &^= waiting
	}
	c.stats.Cancelled++
	if n.detail != nil {
		n.detail.next = reasons{}
	}
	c.settle(n)
	return true
}

// close refuses everything from now on, drops what is delayed, and forgets all
// that is idle but has not failed.
func (c *core[T]) close() {
	if c.closed {
		return
	}
	c.closed = true
	c.stats.Dropped += uint64(len(c.deadlines.heap))
	var failed []deadline[T]
	for _, entry := range c.deadlines.heap {
		n := entry.node
		n.state &^= waiting
		if n.detail != nil {
			n.detail.next = reasons{}
		}
		switch {
		case n.state != 0:
		case n.failing():
			failed = append(failed, entry)
		default:
			c.finished.push(n)
		}
	}
	c.deadlines.heap = nil
	for _, entry := range sortDeadlines(failed) {
		c.settle(entry.node)
	}
	c.forgetFinished()
}

// unfinished is the number of items that close leaves to be done.
func (c *core[T]) unfinished() int { return c.order.aged.len + c.running }
