package workqueue

import "math"

// retry counts one more failure of an item and schedules it after the backoff
// that follows from it; random is in [0, 1). After close it only counts, as
// client-go does.
func (c *core[T]) retry(item T, lane string, random float64, now instant) {
	n := c.hold(item, lane)
	if n.failures < math.MaxInt32 {
		n.failures++
	}
	c.stats.Retries++
	if c.closed {
		c.stats.Refused++
		c.settle(n)
		return
	}
	delay := c.backoff.jittered(c.backoff.Delay(int(n.failures)), random)
	c.request(n, &request{after: delay, inherit: true}, now)
}

// record keeps the text of an item's last error; the oldest text goes when
// there are too many. Counts do not.
func (c *core[T]) record(item T, lane, text string, now instant) {
	n := c.hold(item, lane)
	d := c.detail(n)
	d.err, d.failedAt = clip(text), now
	if d.recorded != nil {
		c.errors.MoveToBack(d.recorded)
	} else {
		d.recorded = c.errors.PushBack(n)
		if c.errors.Len() > c.maxFailures {
			c.forgetError(c.errors.Front().Value.(*node[T]))
		}
	}
	c.settle(n)
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
	if n.detail != nil && n.detail.recorded != nil {
		c.errors.Remove(n.detail.recorded)
		n.detail.recorded, n.detail.err = nil, ""
	}
}

// forget clears the failures of an item.
func (c *core[T]) forget(item T) {
	n := c.find(item)
	if n == nil {
		return
	}
	n.failures = 0
	c.dropError(n)
	if n.state&kept != 0 {
		c.unkeep(n)
		c.settle(n)
	}
}

func (c *core[T]) failures(item T) int {
	if n := c.find(item); n != nil {
		return int(n.failures)
	}
	return 0
}

func (c *core[T]) detail(n *node[T]) *detail {
	if n.detail == nil {
		n.detail = &detail{}
	}
	return n.detail
}
