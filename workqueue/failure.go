package workqueue

import "math"

// retry counts one more failure of an item and schedules it after the backoff
// that follows from it; random is in [0, 1). After close it only counts, as
// client-go does.
func (c *core[T]) retry(item T, hash uint32, lane string, random float64, now instant) bool {
	n := c.hold(item, hash, lane)
	if n == nil {
		return false
	}
	if n.failures < math.MaxInt32 {
		n.failures++
	}
	c.stats.Retries++
	if c.closed {
		c.stats.Refused++
		c.settle(n)
		c.tidy()
		return true
	}
	delay := c.backoff.jittered(c.backoff.Delay(int(n.failures)), random)
	c.request(n, &request{after: delay, inherit: true}, now)
	return true
}

// record keeps the text of an item's last error; the oldest text goes when
// there are too many. Counts do not.
func (c *core[T]) record(item T, hash uint32, lane, text string, now instant) bool {
	n := c.hold(item, hash, lane)
	if n == nil {
		return false
	}
	d := c.details(n)
	d.err, d.failedAt = clip(text), now
	if d.recorded != nil {
		c.errors.MoveToBack(d.recorded)
	} else {
		d.recorded = c.errors.PushBack(n.extra)
		if c.errors.Len() > c.maxFailures {
			c.forgetError(c.nodes.at(c.errors.Front().Value.(*extra).node))
		}
	}
	c.settle(n)
	c.tidy()
	return true
}

// forgetError drops the text of an item's last error, and the item too if it
// was kept for nothing else.
func (c *core[T]) forgetError(n *node[T]) {
	c.dropError(n)
	if n.state&kept != 0 && n.failures == 0 {
		c.unkeep(n)
		c.settle(n)
	}
}

func (c *core[T]) dropError(n *node[T]) {
	if d := n.detail(); d != nil && d.recorded != nil {
		c.errors.Remove(d.recorded)
		d.recorded, d.err = nil, ""
	}
}

// forget clears the failures of n, which may be nil.
func (c *core[T]) forget(n *node[T]) {
	if n == nil {
		return
	}
	n.failures = 0
	c.dropError(n)
	if n.state&kept != 0 {
		c.unkeep(n)
		c.settle(n)
		c.tidy()
	}
}

// details returns the detail of n, made when it is missing.
func (c *core[T]) details(n *node[T]) *detail {
	e := c.nodes.more(n)
	if e.detail == nil {
		e.detail = &detail{}
	}
	return e.detail
}
