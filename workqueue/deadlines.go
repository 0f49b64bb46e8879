package workqueue

import (
	"cmp"
	"slices"
	"sort"
)

// deadlines holds the waiting nodes. Their delays come in few lengths, so that
// most of them become due in the order in which they come: they are kept as
// runs, each in the order of its due times. A node goes to the end of the run
// whose last time is the latest that is not after its own; only when there is
// none does a run begin.
//
// Invariants: runs are in the order of last, the latest first, and no two are
// the same. A run's nodes are in the order of node.at, then of arrival, none
// after last; node.run is the place of its run. heads is a binary heap of the
// first nodes of the runs that are not empty, by due time and then by place:
// of two nodes with the same time in different runs, the one that came first is
// in the run with the later last, as each run keeps its place among the others.
type deadlines[T comparable] struct {
	runs  []run
	heads []head
	len   int // nodes
}

type run struct {
	chain
	last  instant // no time in the run is later; it stays when nodes leave
	place int32   // in heads, while the run is not empty
}

type head struct {
	due instant
	run int32
}

func (h head) before(other head) bool {
	return h.due < other.due || h.due == other.due && h.run < other.run
}

// minRuns is the number of runs up to which empty ones are left alone.
const minRuns = 64

// first returns the earliest deadline, forever when there is none.
func (d *deadlines[T]) first() instant {
	if len(d.heads) == 0 {
		return forever
	}
	return d.heads[0].due
}

// top returns the node that becomes due first; there is one.
func (d *deadlines[T]) top(p *pages[T]) *node[T] { return p.at(d.runs[d.heads[0].run].head) }

// push adds n, which becomes due at n.at.
func (d *deadlines[T]) push(p *pages[T], n *node[T]) {
	i := 0
	if len(d.runs) > 0 && d.runs[0].last > n.at {
		i = sort.Search(len(d.runs), func(i int) bool { return d.runs[i].last <= n.at })
	}
	if i == len(d.runs) {
		d.runs = append(d.runs, run{})
	}
	r := &d.runs[i]
	r.last, n.run = n.at, int32(i)
	p.push(&r.chain, n)
	d.len++
	if r.len == 1 {
		d.heads = append(d.heads, head{})
		d.up(len(d.heads)-1, head{n.at, n.run})
	}
}

func (d *deadlines[T]) remove(p *pages[T], n *node[T]) {
	r := &d.runs[n.run]
	first := r.head == n.self
	p.remove(&r.chain, n)
	d.len--
	switch {
	case d.len == 0:
		d.clear()
	case r.len == 0:
		d.behead(int(r.place))
		d.sweep(p)
	case first:
		d.down(int(r.place), head{p.at(r.head).at, n.run})
	}
}

// clear forgets the runs, which are empty, and the memory of many.
func (d *deadlines[T]) clear() {
	if cap(d.runs) > minRuns {
		*d = deadlines[T]{}
		return
	}
	d.runs, d.heads = d.runs[:0], d.heads[:0]
}

// behead takes entry i off the heap.
func (d *deadlines[T]) behead(i int) {
	last := len(d.heads) - 1
	moved := d.heads[last]
	d.heads = d.heads[:last]
	if i < last && !d.up(i, moved) {
		d.down(i, moved)
	}
}

// sweep gives up the empty runs once they are most of many. It visits all nodes,
// which is done only if they are not many more than the runs.
func (d *deadlines[T]) sweep(p *pages[T]) {
	if len(d.runs) <= minRuns || len(d.heads) > len(d.runs)/8 || d.len > 16*len(d.runs) {
		return
	}
	runs := make([]run, 0, 2*len(d.heads))
	for _, r := range d.runs {
		if r.len == 0 {
			continue
		}
		for n := range p.members(&r.chain) {
			n.run = int32(len(runs))
		}
		d.heads[r.place].run = int32(len(runs)) // the order of the runs stays
		runs = append(runs, r)
	}
	d.runs, d.heads = runs, append(make([]head, 0, cap(runs)), d.heads...)
}

func (d *deadlines[T]) set(i int, h head) {
	d.heads[i] = h
	d.runs[h.run].place = int32(i)
}

// up puts h into the heap at i or nearer to the root, and tells whether nearer.
func (d *deadlines[T]) up(i int, h head) bool {
	start := i
	for i > 0 {
		parent := (i - 1) / 2
		if !h.before(d.heads[parent]) {
			break
		}
		d.set(i, d.heads[parent])
		i = parent
	}
	d.set(i, h)
	return i != start
}

// down puts h into the heap at i or farther from the root.
func (d *deadlines[T]) down(i int, h head) {
	for {
		child := 2*i + 1
		if child >= len(d.heads) {
			break
		}
		if right := child + 1; right < len(d.heads) && d.heads[right].before(d.heads[child]) {
			child = right
		}
		if !d.heads[child].before(h) {
			break
		}
		d.set(i, d.heads[child])
		i = child
	}
	d.set(i, h)
}

// sorted returns the nodes in the order in which they become due.
func (d *deadlines[T]) sorted(p *pages[T]) []*node[T] { return inOrder(d.all(p)) }

// all returns the nodes; of those with the same deadline, in the order in which they came.
func (d *deadlines[T]) all(p *pages[T]) []*node[T] {
	nodes := make([]*node[T], 0, d.len)
	for i := range d.runs {
		nodes = slices.AppendSeq(nodes, p.members(&d.runs[i].chain))
	}
	return nodes
}

// inOrder sorts what all has returned, or a part of it, by deadline.
func inOrder[T comparable](nodes []*node[T]) []*node[T] {
	slices.SortStableFunc(nodes, func(a, b *node[T]) int { return cmp.Compare(a.at, b.at) })
	return nodes
}
