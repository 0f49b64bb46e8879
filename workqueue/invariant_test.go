package workqueue

import (
	"fmt"
	"slices"
)

// broken returns the first invariant of the core that does not hold, or nil.
func (c *core[T]) broken() error {
	for _, check := range []func() error{c.brokenNodes, c.brokenDeadlines, c.brokenOrder, c.brokenIdle} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (c *core[T]) brokenNodes() error {
	runs, again := 0, 0
	queued, waits, idle := c.order.aged.members(), 0, 0
	for item, n := range c.nodes {
		if n.item != item {
			return fmt.Errorf("node of %v is filed under %v", n.item, item)
		}
		if n.state&pending == pending {
			return fmt.Errorf("%v is ready and waiting", item)
		}
		if inOrder := n.state&busy == ready; inOrder != queued[n] {
			return fmt.Errorf("%v: state %b, in order %t", item, n.state, queued[n])
		}
		if n.state&kept != 0 && n.state&busy != 0 {
			return fmt.Errorf("%v: kept and busy: %b", item, n.state)
		}
		switch {
		case n.state&busy == 0:
			idle++
		case n.state&waiting != 0:
			waits++
		}
		if n.state&running != 0 {
			runs++
			if n.state&ready != 0 {
				again++
			}
		}
	}
	if runs != c.running || again != c.again {
		return fmt.Errorf("running %d, again %d; want %d, %d", c.running, c.again, runs, again)
	}
	if idle != c.finished.len+c.failing.len {
		return fmt.Errorf("%d finished and %d failing; want %d idle", c.finished.len, c.failing.len, idle)
	}
	if waits != len(c.deadlines.heap) {
		return fmt.Errorf("%d deadlines; want %d", len(c.deadlines.heap), waits)
	}
	if c.closed && (waits > 0 || c.finished.len > 0) {
		return fmt.Errorf("closed with %d waiting, %d finished", waits, c.finished.len)
	}
	return nil
}

func (c *core[T]) brokenDeadlines() error {
	heap := c.deadlines.heap
	for i := range heap {
		if heap[i].node.slot != int32(i) || heap[i].due != heap[i].node.at || heap[i].node.state&waiting == 0 {
			return fmt.Errorf("deadline %d: slot %d, due %d, at %d, state %b",
				i, heap[i].node.slot, heap[i].due, heap[i].node.at, heap[i].node.state)
		}
		if parent := (i - 1) / 2; i > 0 && heap[i].before(&heap[parent]) {
			return fmt.Errorf("deadline %d is before its parent", i)
		}
	}
	return nil
}

func (c *core[T]) brokenOrder() error {
	o := &c.order
	if err := o.aged.broken(); err != nil {
		return err
	}
	if o.aged.len == 0 && o.sorted || !o.sorted && len(o.levels) > 0 {
		return fmt.Errorf("%d queued, sorted %t, %d levels", o.aged.len, o.sorted, len(o.levels))
	}
	for _, l := range o.spareLevels {
		if l.peak > maxSpare || l.first != nil || len(o.spareLevels) > maxSpare || len(o.spareLanes) > maxSpare {
			return fmt.Errorf("%d spare levels, one of %d lanes, %d spare lanes", len(o.spareLevels), l.peak, len(o.spareLanes))
		}
	}
	total := 0
	for i, l := range o.levels {
		if i > 0 && l.priority >= o.levels[i-1].priority {
			return fmt.Errorf("level %d has priority %d after %d", i, l.priority, o.levels[i-1].priority)
		}
		n, err := l.broken(o)
		if err != nil {
			return err
		}
		total += n
	}
	if o.sorted && total != o.aged.len {
		return fmt.Errorf("%d in lanes; want %d", total, o.aged.len)
	}
	for n := range o.aged.members() {
		if !o.sorted && (n.priority != 0 || n.seat != nil && n.seat.lane != nil) {
			return fmt.Errorf("%v: priority %d in a plain order", n.item, n.priority)
		}
	}
	return nil
}

// broken checks a level and returns the number of its nodes.
func (l *level[T]) broken(o *order[T]) (total int, err error) {
	lanes := 0
	for ln := l.first; ln != nil; ln = ln.next {
		lanes++
		if ln.head == nil || ln.level != l || ln.next == nil && l.last != ln {
			return 0, fmt.Errorf("lane %q of level %d is empty or badly linked", ln.name, l.priority)
		}
		for s := ln.head; s != nil; s = s.next {
			total++
			if s.lane != ln || s.node.seat != s || s.node.priority != l.priority || o.fair && s.name != ln.name ||
				s.next == nil && ln.tail != s || s.next != nil && s.next.prev != s {
				return 0, fmt.Errorf("%v sits badly in lane %q of level %d", s.node.item, ln.name, l.priority)
			}
		}
	}
	if lanes == 0 || o.fair && len(l.lanes) != lanes || !o.fair && lanes != 1 {
		return 0, fmt.Errorf("level %d has %d lanes, %d by name", l.priority, lanes, len(l.lanes))
	}
	return total, nil
}

func (c *core[T]) brokenIdle() error {
	for _, l := range []*chain[T]{&c.finished, &c.failing} {
		if err := l.broken(); err != nil {
			return err
		}
		for n := range l.members() {
			recorded := n.detail != nil && n.detail.recorded != nil
			failing := n.failures > 0 || recorded
			if failing != (l == &c.failing) || failing != (n.state == kept) || n.state&^kept != 0 {
				return fmt.Errorf("%v is idle: failing %t, state %b", n.item, failing, n.state)
			}
			if c.nodes[n.item] != n {
				return fmt.Errorf("%v is idle and unknown", n.item)
			}
		}
	}
	if c.finished.len > c.maxFinished || c.failing.len > c.maxFailures || c.errors.Len() > c.maxFailures {
		return fmt.Errorf("%d finished, %d failing, %d errors", c.finished.len, c.failing.len, c.errors.Len())
	}
	for e := c.errors.Front(); e != nil; e = e.Next() {
		n := e.Value.(*node[T])
		if c.nodes[n.item] != n || n.detail.recorded != e || n.detail.err == "" {
			return fmt.Errorf("the error of %v is filed wrongly", n.item)
		}
	}
	return nil
}

// members walks a chain forwards.
func (l *chain[T]) members() map[*node[T]]bool {
	members := make(map[*node[T]]bool)
	for n := l.head; n != nil; n = n.next {
		members[n] = true
	}
	return members
}

// broken compares a walk forwards with one backwards.
func (l *chain[T]) broken() error {
	var there, back []T
	for n := l.head; n != nil; n = n.next {
		there = append(there, n.item)
	}
	for n := l.tail; n != nil; n = n.prev {
		back = append(back, n.item)
	}
	slices.Reverse(back)
	if !slices.Equal(there, back) || len(there) != l.len {
		return fmt.Errorf("chain of %d: %v forwards, %v backwards", l.len, there, back)
	}
	return nil
}
