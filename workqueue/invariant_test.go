package workqueue

import (
	"fmt"
	"slices"
)

// broken returns the first invariant of the core that does not hold, or nil.
func (c *core[T]) broken() error {
	for _, check := range []func() error{c.brokenPages, c.brokenTable, c.brokenNodes, c.brokenDeadlines, c.brokenOrder, c.brokenIdle} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (c *core[T]) brokenPages() error {
	p := &c.nodes
	used, unusedNodes := 0, 0
	for r := ref(1); r < p.made; r++ {
		n := p.at(r)
		if n.self != r {
			return fmt.Errorf("node %d calls itself %d", r, n.self)
		}
		if n.state&unused == 0 {
			used++
		}
		if n.extra != nil && (n.state&unused != 0 || n.extra.node != r) {
			return fmt.Errorf("node %d: state %b, has the extra of %d", r, n.state, n.extra.node)
		}
	}
	for r := p.free; r != 0; r = p.at(r).next {
		if n, none := p.at(r), *new(T); n.item != none || n.extra != nil || n.prev != 0 || n.failures != 0 || n.state != unused {
			return fmt.Errorf("node %d is unused and holds %v", r, n)
		}
		unusedNodes++
	}
	if c.last != 0 && p.at(c.last).state&unused != 0 {
		return fmt.Errorf("node %d was taken last and is unused", c.last)
	}
	if used != p.used || p.made > 0 && used+unusedNodes != int(p.made)-1 {
		return fmt.Errorf("%d nodes made, %d in use, %d found, %d to be used again", p.made, p.used, used, unusedNodes)
	}
	return nil
}

func (c *core[T]) brokenTable() error {
	t := &c.table
	if err := t.brokenGrowth(); err != nil {
		return err
	}
	found := 0
	for _, h := range []*half{&t.half, &t.old} {
		for i, s := range h.slots {
			if s.node == 0 {
				continue
			}
			found++
			if n := c.nodes.at(s.node); n.state&unused != 0 || n.hash != s.hash {
				return fmt.Errorf("slot %d: node %d of hash %x, state %b, filed under %x", i, s.node, n.hash, n.state, s.hash)
			}
			for j := int(h.home(s.hash)); j != i; j = (j + 1) % len(h.slots) {
				if h.slots[j].node == 0 {
					return fmt.Errorf("slot %d is free, between %d and its home", j, i)
				}
			}
		}
	}
	if found != t.used || found != c.nodes.used || 3*found > 2*len(t.slots) {
		return fmt.Errorf("%d found in %d slots; want %d and %d", found, len(t.slots), t.used, c.nodes.used)
	}
	return nil
}

func (t *table) brokenGrowth() error {
	if !t.growing() {
		return nil
	}
	old := t.old.slots
	if len(t.slots) != 2*len(old) {
		return fmt.Errorf("%d slots grow to %d", len(old), len(t.slots))
	}
	for i, s := range old[:t.next] {
		if s.node != 0 {
			return fmt.Errorf("slot %d of old was left behind", i)
		}
	}
	return nil
}

func (c *core[T]) brokenNodes() error {
	runs, again := 0, 0
	queued, waits, idle := make(map[*node[T]]bool), 0, 0
	for n := range c.nodes.members(&c.order.aged) {
		queued[n] = true
	}
	for n := range c.nodes.all {
		item := n.item
		if c.find(item, n.hash) != n {
			return fmt.Errorf("%v is not found", item)
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
	if idle != c.failing.len {
		return fmt.Errorf("%d failing; want %d idle", c.failing.len, idle)
	}
	if waits != c.deadlines.len {
		return fmt.Errorf("%d deadlines; want %d", c.deadlines.len, waits)
	}
	if c.closed && waits > 0 {
		return fmt.Errorf("closed with %d waiting", waits)
	}
	return nil
}

func (c *core[T]) brokenDeadlines() error {
	d, nodes, filled := &c.deadlines, 0, 0
	for i := range d.runs {
		r := &d.runs[i]
		if i > 0 && r.last >= d.runs[i-1].last {
			return fmt.Errorf("run %d ends at %d, that before at %d", i, r.last, d.runs[i-1].last)
		}
		if err := brokenChain(&c.nodes, &r.chain); err != nil {
			return err
		}
		at := instant(0)
		for n := range c.nodes.members(&r.chain) {
			if n.state&waiting == 0 || n.run != int32(i) || n.at < at || n.at > r.last {
				return fmt.Errorf("%v, state %b, due at %d after %d, waits in run %d, which ends at %d, as in %d",
					n.item, n.state, n.at, at, i, r.last, n.run)
			}
			at = n.at
		}
		nodes += r.len
		if r.len == 0 {
			continue
		}
		filled++
		if h := d.heads[r.place]; h.run != int32(i) || h.due != c.nodes.at(r.head).at {
			return fmt.Errorf("run %d has the head of %d, due at %d", i, h.run, h.due)
		}
	}
	if nodes != d.len || filled != len(d.heads) {
		return fmt.Errorf("%d wait in %d runs; want %d in %d", nodes, filled, d.len, len(d.heads))
	}
	for i := range d.heads {
		if parent := (i - 1) / 2; i > 0 && d.heads[i].before(d.heads[parent]) {
			return fmt.Errorf("head %d is before its parent", i)
		}
	}
	return nil
}

func (c *core[T]) brokenOrder() error {
	o := &c.order
	if err := brokenChain(&c.nodes, &o.aged); err != nil {
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
		n, err := c.brokenLevel(l)
		if err != nil {
			return err
		}
		total += n
	}
	if o.sorted && total != o.aged.len {
		return fmt.Errorf("%d in lanes; want %d", total, o.aged.len)
	}
	for n := range c.nodes.members(&o.aged) {
		if !o.sorted && (n.priority() != 0 || n.extra != nil && n.extra.lane != nil) {
			return fmt.Errorf("%v: priority %d in a plain order", n.item, n.priority())
		}
	}
	return nil
}

// brokenLevel checks a level and returns the number of its nodes.
func (c *core[T]) brokenLevel(l *level) (total int, err error) {
	o, lanes := &c.order, 0
	for ln := l.first; ln != nil; ln = ln.next {
		lanes++
		if ln.head == nil || ln.level != l || ln.next == nil && l.last != ln {
			return 0, fmt.Errorf("lane %q of level %d is empty or badly linked", ln.name, l.priority)
		}
		for e := ln.head; e != nil; e = e.next {
			total++
			n := c.nodes.at(e.node)
			if e.lane != ln || n.extra != e || e.priority != l.priority || o.fair && e.name != ln.name ||
				e.next == nil && ln.tail != e || e.next != nil && e.next.prev != e {
				return 0, fmt.Errorf("%v sits badly in lane %q of level %d", n.item, ln.name, l.priority)
			}
		}
	}
	if lanes == 0 || o.fair && len(l.lanes) != lanes || !o.fair && lanes != 1 {
		return 0, fmt.Errorf("level %d has %d lanes, %d by name", l.priority, lanes, len(l.lanes))
	}
	return total, nil
}

func (c *core[T]) brokenIdle() error {
	if err := brokenChain(&c.nodes, &c.failing); err != nil {
		return err
	}
	for n := range c.nodes.members(&c.failing) {
		if recorded := n.detail() != nil && n.detail().recorded != nil; n.state != kept || n.failures == 0 && !recorded {
			return fmt.Errorf("%v is idle: %d failures, recorded %t, state %b", n.item, n.failures, recorded, n.state)
		}
	}
	if c.failing.len > c.maxFailures || c.errors.Len() > c.maxFailures {
		return fmt.Errorf("%d failing, %d errors", c.failing.len, c.errors.Len())
	}
	for _, e := range c.nodes.extras {
		if *e != (extra{started: unknown}) || len(c.nodes.extras) > maxExtras {
			return fmt.Errorf("%d spare extras, one holds %v", len(c.nodes.extras), *e)
		}
	}
	for e := c.errors.Front(); e != nil; e = e.Next() {
		n := c.nodes.at(e.Value.(*extra).node)
		if d := n.detail(); n.extra != e.Value.(*extra) || d.recorded != e || d.err == "" {
			return fmt.Errorf("the error of %v is filed wrongly", n.item)
		}
	}
	return nil
}

// brokenChain compares a walk forwards with one backwards.
func brokenChain[T comparable](p *pages[T], l *chain) error {
	var there, back []ref
	for r := l.head; r != 0; r = p.at(r).next {
		there = append(there, r)
	}
	for r := l.tail; r != 0; r = p.at(r).prev {
		back = append(back, r)
	}
	slices.Reverse(back)
	if !slices.Equal(there, back) || len(there) != l.len {
		return fmt.Errorf("chain of %d: %v forwards, %v backwards", l.len, there, back)
	}
	return nil
}
