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
	aged   chain[T]
	levels []*level[T]
	aging  instant // the wait that earns a turn out of order
	sorted bool
	fair   bool // lanes are in use
	jumped bool // the last turn was one out of order

	spareLevels []*level[T]
	spareLanes  []*lane[T]
}

// maxSpare bounds the levels and the lanes that are kept for reuse.
const maxSpare = 64

// push appends n. now must be known if there are priorities or lanes.
func (o *order[T]) push(n *node[T], now instant) {
	if !o.sorted && (o.fair || n.priority != 0) {
		o.sort(now)
	}
	o.aged.push(n)
	if o.sorted {
		o.level(n.priority).push(o, n)
	}
}

// sort puts the nodes of a plain list into their lanes.
func (o *order[T]) sort(now instant) {
	o.sorted = true
	for n := o.aged.head; n != nil; n = n.next {
		if n.at == unknown {
			n.at = now
		}
		o.level(n.priority).push(o, n)
	}
}

// take removes and returns the node whose turn it is, nil when there is none.
func (o *order[T]) take(now instant) *node[T] {
	n := o.aged.head
	if n == nil {
		return nil
	}
	if o.sorted {
		top := o.levels[0]
		o.jumped = !o.jumped && n.priority < top.priority && now-n.at >= o.aging
		if !o.jumped {
			n = top.first.head.node
			top.rotate()
		}
	} else {
		o.jumped = false
	}
	o.remove(n)
	return n
}

// remove takes n out, whatever its place.
func (o *order[T]) remove(n *node[T]) {
	o.aged.remove(n)
	if !o.sorted {
		return
	}
	n.seat.lane.level.remove(o, n)
	o.sorted = o.aged.len > 0
}

// raise gives n a higher priority. It keeps its age.
func (o *order[T]) raise(n *node[T], priority int32, now instant) {
	if o.sorted {
		n.seat.lane.level.remove(o, n)
		n.priority = priority
		o.level(priority).push(o, n)
		return
	}
	n.priority = priority
	if priority != 0 {
		o.sort(now)
	}
}

// level returns the level of a priority and makes it when it is missing.
func (o *order[T]) level(priority int32) *level[T] {
	i, found := slices.BinarySearchFunc(o.levels, priority, func(l *level[T], p int32) int {
		return int(int64(p) - int64(l.priority))
	})
	if found {
		return o.levels[i]
	}
	var l *level[T]
	if last := len(o.spareLevels) - 1; last >= 0 {
		l, o.spareLevels = o.spareLevels[last], o.spareLevels[:last]
	} else {
		l = &level[T]{}
	}
	l.priority = priority
	o.levels = slices.Insert(o.levels, i, l)
	return l
}

func (o *order[T]) dropLevel(l *level[T]) {
	i := slices.Index(o.levels, l)
	o.levels = slices.Delete(o.levels, i, i+1)
	if len(o.spareLevels) < maxSpare && l.peak <= maxSpare {
		o.spareLevels = append(o.spareLevels, l)
	}
}
