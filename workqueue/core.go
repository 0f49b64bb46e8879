package workqueue

import (
	"container/list"
	"time"
)

// core is the queue without a lock, a clock, a timer or a goroutine: what it
// does follows from its arguments alone. Whoever passes a now may pass one that
// is a little older than the last.
//
// Invariants, for every node n in nodes (the table has it, under n.hash):
//   - waiting ⇔ n is in deadlines; ready and not running ⇔ n is in order;
//     never both ready and waiting.
//   - idle (not ready, waiting or running) ⇔ kept ⇔ n is in failing; then it
//     has failures or an error. Other idle items are forgotten.
//   - running counts the running nodes, again those that are also ready.
//   - failing.len and errors.Len() <= maxFailures.
//   - closed ⇒ no node is waiting.
type core[T comparable] struct {
	nodes     pages[T]
	table     table
	order     order[T]
	deadlines deadlines[T]
	failing   chain     // idle nodes kept for their failures, the oldest first
	errors    list.List // of *extra, the oldest first
	running   int
	again     int
	closed    bool
	// timed: every now that is passed is known. Otherwise add, take and done
	// may be given unknown.
	timed bool

	// last is the node taken last, most likely the one that is asked for next;
	// 0 once it is forgotten.
	last ref

	backoff     Backoff
	maxFailures int
	stats       Stats
}

// request is what an add asks for.
type request struct {
	after    time.Duration
	when     When
	priority int32
	inherit  bool // take the priority of the run under way instead
	reason   string
}

// add asks for a delivery as soon as possible. Like schedule, retry and record
// it is told the hash of the item, and returns false if the item does not equal
// itself.
func (c *core[T]) add(item T, hash uint32, lane string, now instant) bool {
	if c.closed {
		return c.refuse(item)
	}
	n := c.hold(item, hash, lane)
	if n == nil {
		return false
	}
	c.admit(n)
	c.prioritise(n, 0, now)
	c.makeReady(n, now)
	return true
}

// schedule asks for a delivery at a later time, or with more to say.
func (c *core[T]) schedule(item T, hash uint32, lane string, r *request, now instant) bool {
	if c.closed {
		return c.refuse(item)
	}
	n := c.hold(item, hash, lane)
	if n == nil {
		return false
	}
	c.request(n, r, now)
	return true
}

// refuse counts a request that comes after close.
func (c *core[T]) refuse(item T) bool {
	if !equal(item, item) {
		c.stats.Misused++
		return false
	}
	c.stats.Refused++
	return true
}

// request is schedule for a node that is held.
func (c *core[T]) request(n *node[T], r *request, now instant) {
	c.admit(n)
	if r.priority != 0 {
		c.timed = true
	}
	if r.reason != "" {
		c.details(n).next.add(r.reason)
	}
	priority := r.priority
	if r.inherit && n.state&running != 0 {
		priority = n.ran()
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
		c.deadlines.remove(&c.nodes, n)
		n.at = due
		c.deadlines.push(&c.nodes, n)
	default:
		if isReady {
			c.unready(n)
		}
		n.at = due
		n.state |= waiting
		c.deadlines.push(&c.nodes, n)
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
		c.nodes.setPriority(n, priority)
	case priority <= n.priority():
	case n.state&busy == ready:
		c.order.raise(&c.nodes, n, priority, now)
	default:
		c.nodes.setPriority(n, priority)
	}
}

// makeReady makes n due now, if it is not already.
func (c *core[T]) makeReady(n *node[T], now instant) {
	switch {
	case n.state&ready != 0:
		return
	case n.state&waiting != 0:
		c.deadlines.remove(&c.nodes, n)
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
	c.order.push(&c.nodes, n, since)
}

// unready undoes enqueue.
func (c *core[T]) unready(n *node[T]) {
	n.state &^= ready
	if n.state&running != 0 {
		c.again--
		return
	}
	c.order.remove(&c.nodes, n)
}

// promote makes ready what has become due.
func (c *core[T]) promote(now instant) {
	for c.deadlines.first() <= now && c.deadlines.len > 0 {
		n := c.deadlines.top(&c.nodes)
		c.deadlines.remove(&c.nodes, n)
		n.state &^= waiting
		c.enqueue(n, n.at)
	}
}

// take hands out the node whose turn it is, nil when none is ready. What is due
// must have been promoted, unless it cannot be its turn.
func (c *core[T]) take(now instant) *node[T] {
	n := c.order.take(&c.nodes, now)
	if n == nil {
		return nil
	}
	n.state = n.state&^ready | running
	if c.timed || n.extra != nil {
		c.nodes.more(n).start(now)
	}
	c.running++
	c.stats.Delivered++
	c.last = n.self
	return n
}

// start begins a run.
func (e *extra) start(now instant) {
	e.started, e.ran = now, e.priority
	if e.detail != nil {
		e.detail.now, e.detail.next = e.detail.next, reasons{}
	}
}

// done ends a run of n, which may be nil. It returns false, and nothing has
// changed, when there is none. now may be unknown when again is 0.
func (c *core[T]) done(n *node[T], now instant) bool {
	if n == nil || n.state&running == 0 {
		c.stats.Misused++
		return false
	}
	c.running--
	c.stats.Done++
	n.state &^= running
	if d := n.detail(); d != nil {
		d.now = reasons{}
	}
	switch {
	case n.state&ready != 0:
		c.again--
		n.at = now
		c.order.push(&c.nodes, n, now)
	default:
		c.settle(n)
		c.tidy()
	}
	return true
}

// cancel takes back the pending delivery of n, which may be nil, and tells
// whether there was one.
func (c *core[T]) cancel(n *node[T]) bool {
	if n == nil || n.state&pending == 0 {
		return false
	}
	if n.state&ready != 0 {
		c.unready(n)
	} else {
		c.deadlines.remove(&c.nodes, n)
		n.state &^= waiting
	}
	c.stats.Cancelled++
	if d := n.detail(); d != nil {
		d.next = reasons{}
	}
	c.settle(n)
	c.tidy()
	return true
}

// close refuses everything from now on and drops what is delayed.
func (c *core[T]) close() {
	if c.closed {
		return
	}
	c.closed = true
	c.stats.Dropped += uint64(c.deadlines.len)
	dropped := c.deadlines.all(&c.nodes)
	c.deadlines = deadlines[T]{}
	var failing []*node[T]
	for _, n := range dropped {
		n.prev, n.next = 0, 0
		n.state &^= waiting
		if d := n.detail(); d != nil {
			d.next = reasons{}
		}
		if n.failing() {
			failing = append(failing, n)
		} else {
			c.settle(n)
		}
	}
	for _, n := range inOrder(failing) { // the failures that are kept are in the order of deadlines
		c.settle(n)
	}
	c.tidy()
}

// unfinished is the number of items that close leaves to be done.
func (c *core[T]) unfinished() int { return c.order.aged.len + c.running }
