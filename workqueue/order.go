package workqueue

import "slices"

// order holds the nodes that can be taken. As long as all of them have priority
// 0 and there are no lanes it is a plain first-in first-out list. The first
// other priority sorts it, and it stays sorted until it is empty.
//
// Invariants: aged holds every node, in order of arrival. When sorted, every
// node is also in one lane, at the level of its priority; no lane and no level
// is empty; levels are ordered by priority, the highest first. When not sorted
// there are no levels.
type order[T comparable] struct {
	aged   chain
	aging  instant // the wait that earns a turn out of order
	sorted bool
	jumped bool // the last turn was one out of order
	places
}

// places are the lanes of all priorities.
type places struct {
	levels []*level
	fair   bool // lanes are in use

	spareLevels []*level
	spareLanes  []*lane
}

// maxSpare bounds the levels and the lanes that are kept for reuse.
const maxSpare = 64

// push appends n. now must be known if there are priorities or lanes.
func (o *order[T]) push(p *pages[T], n *node[T], now instant) {
	if !o.sorted && (o.fair || n.priority() != 0) {
		o.sort(p, now)
	}
	p.push(&o.aged, n)
	if o.sorted {
		o.place(p.more(n))
	}
}

// sort puts the nodes of a plain list into their lanes.
func (o *order[T]) sort(p *pages[T], now instant) {
	o.sorted = true
	for n := range p.members(&o.aged) {
		if n.at == unknown {
			n.at = now
		}
		o.place(p.more(n))
	}
}

// take removes and returns the node whose turn it is, nil when there is none.
func (o *order[T]) take(p *pages[T], now instant) *node[T] {
	if o.aged.head == 0 {
		return nil
	}
	n := p.at(o.aged.head)
	if o.sorted {
		top := o.levels[0]
		o.jumped = !o.jumped && n.priority() < top.priority && now-n.at >= o.aging
		if !o.jumped {
			n = p.at(top.first.head.node)
			top.rotate()
		}
	} else {
		o.jumped = false
	}
	o.remove(p, n)
	return n
}

// remove takes n out, whatever its place.
func (o *order[T]) remove(p *pages[T], n *node[T]) {
	p.remove(&o.aged, n)
	if !o.sorted {
		return
	}
	n.extra.lane.level.remove(&o.places, n.extra)
	o.sorted = o.aged.len > 0
}

// raise gives n a higher priority. It keeps its age.
func (o *order[T]) raise(p *pages[T], n *node[T], priority int32, now instant) {
	if o.sorted {
		n.extra.lane.level.remove(&o.places, n.extra)
		n.extra.priority = priority
		o.place(n.extra)
		return
	}
	p.setPriority(n, priority)
	if priority != 0 {
		o.sort(p, now)
	}
}

// place puts a node into its lane.
func (o *places) place(e *extra) { o.level(e.priority).push(o, e) }

// level returns the level of a priority and makes it when it is missing.
func (o *places) level(priority int32) *level {
	i, found := slices.BinarySearchFunc(o.levels, priority, func(l *level, p int32) int {
		return int(int64(p) - int64(l.priority))
	})
	if found {
		return o.levels[i]
	}
	var l *level
	if last := len(o.spareLevels) - 1; last >= 0 {
		l, o.spareLevels = o.spareLevels[last], o.spareLevels[:last]
	} else {
		l = &level{}
	}
	l.priority = priority
	o.levels = slices.Insert(o.levels, i, l)
	return l
}

func (o *places) dropLevel(l *level) {
	i := slices.Index(o.levels, l)
	o.levels = slices.Delete(o.levels, i, i+1)
	if len(o.spareLevels) < maxSpare && l.peak <= maxSpare {
		o.spareLevels = append(o.spareLevels, l)
	}
}
