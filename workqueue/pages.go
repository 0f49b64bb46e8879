package workqueue

const (
	// pageSize is the number of nodes that are allocated at a time.
	pageSize = 64
	// minShrink is the number of nodes from which on room is given back when
	// most of it has become unused.
	minShrink = 1024
	// maxExtras bounds the unused extras that are kept.
	maxExtras = 1024
)

// pages holds the nodes. What refers to a node is a number, so that the garbage
// collector finds few pointers here, and nodes can be moved together when most
// of the room has become unused.
//
// Invariants: nodes[r].self == r for 0 < r < made; used of them are in use, the
// others are in free.
type pages[T comparable] struct {
	pages []*[pageSize]node[T]
	made  ref // nodes beyond have never been used; 0 while there are no pages
	used  int
	free  ref // the first unused node, chained by next
	// extras are not in use: they are blank, but for their started.
	extras []*extra
}

// at returns the node of r, which is not 0.
func (p *pages[T]) at(r ref) *node[T] { return &p.pages[r/pageSize][r%pageSize] }

// take returns a node that is not in use. It has no links, item, extra,
// failures or state; the rest may be anything.
func (p *pages[T]) take() *node[T] {
	p.used++
	if r := p.free; r != 0 {
		n := p.at(r)
		p.free, n.next, n.state = n.next, 0, 0
		return n
	}
	if p.made == 0 {
		p.made = 1 // 0 names no node
	}
	if int(p.made/pageSize) == len(p.pages) {
		p.pages = append(p.pages, new([pageSize]node[T]))
	}
	n := p.at(p.made)
	n.self = p.made
	p.made++
	return n
}

// release takes a node out of use, which is in no list and which nothing may
// refer to any longer.
func (p *pages[T]) release(n *node[T]) {
	p.used--
	if n.extra != nil {
		p.spare(n.extra)
		n.extra = nil
	}
	var none T
	n.item, n.failures = none, 0 // nothing is kept alive
	n.next, n.state = p.free, unused
	p.free = n.self
}

// spare keeps an extra for reuse, if there is room.
func (p *pages[T]) spare(e *extra) {
	if len(p.extras) < maxExtras {
		*e = extra{started: unknown}
		p.extras = append(p.extras, e)
	}
}

// sparse tells whether so much room is unused that compact pays.
func (p *pages[T]) sparse() bool {
	return p.made >= minShrink && p.used < int(p.made)/8
}

// compact moves the nodes that are in use to the front, tells of each where it
// came from, and gives the other pages back.
func (p *pages[T]) compact(moved func(n *node[T], from ref)) {
	if p.made == 0 {
		return
	}
	end, to := ref(p.used)+1, ref(1)
	for from := end; from < p.made; from++ {
		n := p.at(from)
		if n.state == unused {
			continue
		}
		for p.at(to).state != unused {
			to++
		}
		target := p.at(to)
		*target = *n
		target.self = to
		moved(target, from)
	}
	kept := int(end-1)/pageSize + 1
	for r := end; int(r) < kept*pageSize; r++ {
		*p.at(r) = node[T]{}
	}
	p.pages = append(make([]*[pageSize]node[T], 0, 2*kept), p.pages[:kept]...)
	p.made, p.free = end, 0
}

// more returns the extra of n, made when it is missing.
func (p *pages[T]) more(n *node[T]) *extra {
	if n.extra == nil {
		if last := len(p.extras) - 1; last >= 0 {
			n.extra, p.extras = p.extras[last], p.extras[:last]
		} else {
			n.extra = &extra{started: unknown}
		}
		n.extra.node = n.self
	}
	return n.extra
}

// setPriority of the pending delivery of n.
func (p *pages[T]) setPriority(n *node[T], priority int32) {
	if priority != 0 || n.extra != nil {
		p.more(n).priority = priority
	}
}

// all calls yield with each node in use, in no order.
func (p *pages[T]) all(yield func(*node[T]) bool) {
	for r := ref(1); r < p.made; r++ {
		if n := p.at(r); n.state != unused && !yield(n) {
			return
		}
	}
}

// chain is a list of nodes.
type chain struct {
	head, tail ref
	len        int
}

// push appends n to a chain.
func (p *pages[T]) push(l *chain, n *node[T]) {
	n.prev = l.tail
	if l.tail == 0 {
		l.head = n.self
	} else {
		p.at(l.tail).next = n.self
	}
	l.tail = n.self
	l.len++
}

// remove takes n out of a chain.
func (p *pages[T]) remove(l *chain, n *node[T]) {
	if n.prev == 0 {
		l.head = n.next
	} else {
		p.at(n.prev).next = n.next
	}
	if n.next == 0 {
		l.tail = n.prev
	} else {
		p.at(n.next).prev = n.prev
	}
	n.prev, n.next = 0, 0
	l.len--
}

// relink tells the neighbours of n in a chain that it has moved.
func (p *pages[T]) relink(l *chain, n *node[T]) {
	if n.prev == 0 {
		l.head = n.self
	} else {
		p.at(n.prev).next = n.self
	}
	if n.next == 0 {
		l.tail = n.self
	} else {
		p.at(n.next).prev = n.self
	}
}

// members calls yield with each node of a chain, in order.
func (p *pages[T]) members(l *chain) func(yield func(*node[T]) bool) {
	return func(yield func(*node[T]) bool) {
		for r := l.head; r != 0; {
			n := p.at(r)
			r = n.next
			if !yield(n) {
				return
			}
		}
	}
}
