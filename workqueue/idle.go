package workqueue

// find returns the node of an item, nil when the queue does not know it.
func (c *core[T]) find(item T) *node[T] {
	if c.last != nil && c.last.item == item {
		return c.last
	}
	return c.nodes[item]
}

// hold returns the node of an item, out of the lists of idle nodes; the caller
// makes it busy or settles it. The item must equal itself.
func (c *core[T]) hold(item T, lane string) *node[T] {
	n := c.nodes[item]
	switch {
	case n == nil:
		return c.create(item, lane)
	case n.state&kept != 0:
		c.unkeep(n)
	case n.state == 0:
		c.finished.remove(n)
	}
	return n
}

func (c *core[T]) create(item T, lane string) *node[T] {
	n := c.blank()
	n.item = item
	if lane != "" {
		n.sit(lane)
	}
	if c.nodes == nil {
		c.nodes = make(map[T]*node[T])
	}
	c.nodes[item] = n
	c.peak = max(c.peak, len(c.nodes))
	return n
}

// blank returns an unused node: that of the item finished longest ago once
// enough of them are remembered, or a new one.
func (c *core[T]) blank() *node[T] {
	if c.finished.len == c.maxFinished {
		n := c.finished.head
		c.evict(n)
		*n = node[T]{seat: n.seat}
		if n.seat != nil {
			n.seat.name = ""
		}
		return n
	}
	return new(node[T])
}

// sit names the lane of a node.
func (n *node[T]) sit(name string) {
	if n.seat == nil {
		n.seat = &seat[T]{node: n}
	}
	n.seat.name = name
}

// settle puts a node that has become idle into the list where it belongs; a
// busy one stays where it is.
func (c *core[T]) settle(n *node[T]) {
	if n.state&busy != 0 {
		return
	}
	n.priority, n.ran = 0, 0
	switch {
	case n.failing():
		n.state |= kept
		c.failing.push(n)
		if c.failing.len > c.maxFailures {
			c.evict(c.failing.head)
			c.stats.Evicted++
		}
	default:
		n.detail = nil
		c.finished.push(n)
		if c.finished.len > c.maxFinished || c.closed {
			c.evict(c.finished.head)
		}
	}
}

func (c *core[T]) unkeep(n *node[T]) {
	n.state &^= kept
	c.failing.remove(n)
}

// evict forgets an idle node.
func (c *core[T]) evict(n *node[T]) {
	if n.state&kept != 0 {
		c.failing.remove(n)
	} else {
		c.finished.remove(n)
	}
	c.dropError(n)
	delete(c.nodes, n.item)
	if c.last == n {
		c.last = nil
	}
	c.shrink()
}

// shrink makes the map anew when most of it is unused.
func (c *core[T]) shrink() {
	if c.peak < minShrink || len(c.nodes) > c.peak/16 {
		return
	}
	c.rebuild()
}

// forgetFinished forgets what is idle and has not failed, in one go if that is
// the most there is.
func (c *core[T]) forgetFinished() {
	c.last = nil
	if c.finished.len < len(c.nodes)/2 {
		for c.finished.len > 0 {
			c.evict(c.finished.head)
		}
		return
	}
	for n := c.finished.head; n != nil; n = n.next {
		n.state = gone
	}
	c.finished = chain[T]{}
	c.rebuild()
}

// rebuild makes the map anew.
func (c *core[T]) rebuild() {
	nodes := make(map[T]*node[T])
	for item, n := range c.nodes {
		if n.state != gone {
			nodes[item] = n
		}
	}
	c.nodes, c.peak = nodes, len(nodes)
}

// failing tells whether a node is to be kept for its failures when it is idle.
func (n *node[T]) failing() bool {
	return n.failures > 0 || n.detail != nil && n.detail.recorded != nil
}

func equal[T comparable](a, b T) bool { return a == b }
