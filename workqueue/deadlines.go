package workqueue

import (
	"cmp"
	"slices"
)

// deadlines holds the waiting nodes, the earliest first: a binary heap by time,
// then by order of arrival. Invariant: heap[i].node.slot == i, and
// heap[i].due == heap[i].node.at.
type deadlines[T comparable] struct {
	heap []deadline[T]
	seq  uint64
}

type deadline[T comparable] struct {
	due  instant
	seq  uint64
	node *node[T]
}

func (d *deadline[T]) before(other *deadline[T]) bool {
	return d.due < other.due || d.due == other.due && d.seq < other.seq
}

// first returns the earliest deadline, forever when there is none.
func (d *deadlines[T]) first() instant {
	if len(d.heap) == 0 {
		return forever
	}
	return d.heap[0].due
}

func (d *deadlines[T]) push(n *node[T]) {
	d.seq++
	d.heap = append(d.heap, deadline[T]{n.at, d.seq, n})
	d.up(len(d.heap) - 1)
}

// move puts n where its new n.at belongs, behind others of the same time.
func (d *deadlines[T]) move(n *node[T]) {
	d.seq++
	i := int(n.slot)
	d.heap[i].due, d.heap[i].seq = n.at, d.seq
	if !d.up(i) {
		d.down(i)
	}
}

func (d *deadlines[T]) remove(n *node[T]) {
	i, last := int(n.slot), len(d.heap)-1
	moved := d.heap[last]
	d.heap[last] = deadline[T]{}
	d.heap = d.heap[:last]
	if i != last {
		d.set(i, moved)
		if !d.up(i) {
			d.down(i)
		}
	}
	d.shrink()
}

// shrink gives memory back once three quarters of a large heap are unused.
func (d *deadlines[T]) shrink() {
	if cap(d.heap) > 1024 && len(d.heap) < cap(d.heap)/4 {
		d.heap = append(make([]deadline[T], 0, cap(d.heap)/2), d.heap...)
	}
}

func (d *deadlines[T]) set(i int, entry deadline[T]) {
	d.heap[i] = entry
	entry.node.slot = int32(i)
}

// up moves entry i towards the root and tells whether it moved. The entry's
// slot is set in any case.
func (d *deadlines[T]) up(i int) bool {
	entry, start := d.heap[i], i
	for i > 0 {
		parent := (i - 1) / 2
		if !entry.before(&d.heap[parent]) {
			break
		}
		d.set(i, d.heap[parent])
		i = parent
	}
	d.set(i, entry)
	return i != start
}

func (d *deadlines[T]) down(i int) {
	entry := d.heap[i]
	for {
		child := 2*i + 1
		if child >= len(d.heap) {
			break
		}
		if right := child + 1; right < len(d.heap) && d.heap[right].before(&d.heap[child]) {
			child = right
		}
		if !d.heap[child].before(&entry) {
			break
		}
		d.set(i, d.heap[child])
		i = child
	}
	d.set(i, entry)
}

// sorted returns a copy of the entries in the order in which they become due.
func (d *deadlines[T]) sorted() []deadline[T] { return sortDeadlines(slices.Clone(d.heap)) }

func sortDeadlines[T comparable](entries []deadline[T]) []deadline[T] {
	slices.SortFunc(entries, func(a, b deadline[T]) int {
		return cmp.Or(cmp.Compare(a.due, b.due), cmp.Compare(a.seq, b.seq))
	})
	return entries
}
