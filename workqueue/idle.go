package workqueue

// recent returns the node taken last if it is that of item.
func (c *core[T]) recent(item T) *node[T] {
	if c.last != 0 {
		if n := c.nodes.at(c.last); n.item == item {
			return n
		}
	}
	return nil
}

// find returns the node of an item, nil when the queue does not know it.
func (c *core[T]) find(item T, hash uint32) *node[T] {
	slots := c.table.slots
	if len(slots) == 0 {
		return nil
	}
	for i := c.table.home(hash); ; i++ {
		s := slots[i&uint32(len(slots)-1)]
		if s.node == 0 {
			return nil
		}
		if s.hash == hash {
			if n := c.nodes.at(s.node); n.item == item {
				return n
			}
		}
	}
}

// hold returns the node of an item, out of the lists of idle nodes; the caller
// makes it busy or settles it. It counts a misuse and returns nil if the item
// does not equal itself.
func (c *core[T]) hold(item T, hash uint32, lane string) *node[T] {
	n := c.find(item, hash)
	switch {
	case n == nil:
		return c.create(item, hash, lane)
	case n.state&kept != 0:
		c.unkeep(n)
	case n.state == 0:
		c.nodes.remove(&c.finished, n)
	}
	return n
}

func (c *core[T]) create(item T, hash uint32, lane string) *node[T] {
	if !equal(item, item) {
		c.stats.Misused++
		return nil
	}
	n := c.blank()
	n.item, n.hash = item, hash
	if lane != "" {
		n.more().name = lane
	}
	c.table.insert(hash, n.self)
	return n
}

// blank returns an unused node: that of the item finished longest ago once
// enough of them are remembered, or a new one.
func (c *core[T]) blank() *node[T] {
	if c.finished.len < c.maxFinished {
		return c.nodes.take()
	}
	n := c.nodes.at(c.finished.head)
	c.nodes.remove(&c.finished, n)
	c.lose(n)
	if n.extra != nil {
		*n.extra = extra{node: n.self, started: unknown}
	}
	*n = node[T]{self: n.self, extra: n.extra}
	return n
}

// settle puts a node that has become idle into the list where it belongs; a
// busy one stays where it is.
func (c *core[T]) settle(n *node[T]) {
	if n.state&busy != 0 {
		return
	}
	if e := n.extra; e != nil {
		e.priority, e.ran = 0, 0
	}
	if n.failing() {
		n.state |= kept
		c.nodes.push(&c.failing, n)
		if c.failing.len > c.maxFailures {
			c.evict(c.nodes.at(c.failing.head))
			c.stats.Evicted++
		}
		return
	}
	if n.extra != nil {
		n.extra.detail = nil
	}
	c.nodes.push(&c.finished, n)
	if c.finished.len > c.maxFinished || c.closed {
		c.evict(c.nodes.at(c.finished.head))
	}
}

func (c *core[T]) unkeep(n *node[T]) {
	n.state &^= kept
	c.nodes.remove(&c.failing, n)
}

// evict forgets an idle node.
func (c *core[T]) evict(n *node[T]) {
	if n.state&kept != 0 {
		c.nodes.remove(&c.failing, n)
	} else {
		c.nodes.remove(&c.finished, n)
	}
	c.dropError(n)
	c.lose(n)
	c.nodes.release(n)
}

// lose makes n, which is in no list, one that is not found.
func (c *core[T]) lose(n *node[T]) {
	c.table.remove(n.hash, n.self)
	if c.last == n.self {
		c.last = 0
	}
}

// tidy gives memory back once most of it is unused. It moves nodes.
func (c *core[T]) tidy() {
	if c.nodes.sparse() {
		c.compact()
	}
}

func (c *core[T]) compact() {
	c.nodes.compact(c.moved)
	c.table.reset(c.nodes.used)
	for n := range c.nodes.all {
		c.table.insert(n.hash, n.self)
	}
}

// moved puts right what refers to a node, except for the table.
func (c *core[T]) moved(n *node[T], from ref) {
	if l := c.chainOf(n); l != nil {
		c.nodes.relink(l, n)
	}
	if n.extra != nil {
		n.extra.node = n.self
	}
	if c.last == from {
		c.last = n.self
	}
}

// chainOf returns the list that n is in, nil when there is none.
func (c *core[T]) chainOf(n *node[T]) *chain {
	switch {
	case n.state&waiting != 0:
		return &c.deadlines.runs[n.run].chain
	case n.state&running != 0:
		return nil
	case n.state&ready != 0:
		return &c.order.aged
	case n.state&kept != 0:
		return &c.failing
	}
	return &c.finished
}

// failing tells whether a node is to be kept for its failures when it is idle.
func (n *node[T]) failing() bool {
	if n.failures > 0 {
		return true
	}
	d := n.detail()
	return d != nil && d.recorded != nil
}

func equal[T comparable](a, b T) bool { return a == b }
