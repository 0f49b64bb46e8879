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
	for h := c.table.first(); h != nil; h = c.table.after(h) {
		slots := h.slots
		for i := h.home(hash); ; i++ {
			s := slots[i&uint32(len(slots)-1)]
			if s.node == 0 {
				break
			}
			if s.hash == hash {
				if n := c.nodes.at(s.node); n.item == item {
					return n
				}
			}
		}
	}
	return nil
}

// hold returns the node of an item, out of the list of idle nodes; the caller
// makes it busy or settles it. It counts a misuse and returns nil if the item
// does not equal itself.
func (c *core[T]) hold(item T, hash uint32, lane string) *node[T] {
	n := c.find(item, hash)
	if n == nil {
		return c.create(item, hash, lane)
	}
	if n.state&kept != 0 {
		c.unkeep(n)
	}
	return n
}

func (c *core[T]) create(item T, hash uint32, lane string) *node[T] {
	if !equal(item, item) {
		c.stats.Misused++
		return nil
	}
	n := c.nodes.take()
	n.item, n.hash = item, hash
	if lane != "" {
		c.nodes.more(n).name = lane
	}
	c.table.insert(hash, n.self)
	return n
}

// settle forgets a node that has become idle, or keeps it for its failures; a
// busy one stays where it is.
func (c *core[T]) settle(n *node[T]) {
	if n.state&busy != 0 {
		return
	}
	if !n.failing() {
		c.drop(n)
		return
	}
	if e := n.extra; e != nil {
		e.priority, e.ran = 0, 0
	}
	n.state |= kept
	c.nodes.push(&c.failing, n)
	if c.failing.len > c.maxFailures {
		c.evict(c.nodes.at(c.failing.head))
		c.stats.Evicted++
	}
}

func (c *core[T]) unkeep(n *node[T]) {
	n.state &^= kept
	c.nodes.remove(&c.failing, n)
}

// evict forgets an idle node for want of room.
func (c *core[T]) evict(n *node[T]) {
	c.unkeep(n)
	c.dropError(n)
	c.drop(n)
}

// drop forgets a node that is in no list.
func (c *core[T]) drop(n *node[T]) {
	c.table.remove(n.hash, n.self)
	if c.last == n.self {
		c.last = 0
	}
	c.nodes.release(n)
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
	}
	return &c.failing
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
