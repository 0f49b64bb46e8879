package workqueue

// level holds the nodes of one priority: a ring of lanes that take turns.
type level[T comparable] struct {
	priority    int32
	first, last *lane[T]            // in the order of their turns
	lanes       map[string]*lane[T] // by name; nil without lanes, where first is the only one
	peak        int                 // most lanes at a time: maps do not shrink
}

// lane holds the nodes of one priority and one name, first in, first out.
type lane[T comparable] struct {
	level      *level[T]
	name       string
	head, tail *seat[T]
	prev, next *lane[T]
}

// seat is the place of a node in a lane.
type seat[T comparable] struct {
	node       *node[T]
	name       string   // of its lanes, by Options.Lane
	lane       *lane[T] // nil while it is in none
	prev, next *seat[T]
}

func (l *level[T]) push(o *order[T], n *node[T]) {
	if n.seat == nil {
		n.seat = &seat[T]{node: n}
	}
	ln := l.first
	if o.fair {
		ln = l.lanes[n.seat.name]
	}
	if ln == nil {
		ln = l.addLane(o, n.seat.name)
	}
	ln.push(n.seat)
}

func (l *level[T]) addLane(o *order[T], name string) *lane[T] {
	var ln *lane[T]
	if last := len(o.spareLanes) - 1; last >= 0 {
		ln, o.spareLanes = o.spareLanes[last], o.spareLanes[:last]
	} else {
		ln = &lane[T]{}
	}
	*ln = lane[T]{level: l, name: name}
	if o.fair {
		if l.lanes == nil {
			l.lanes = make(map[string]*lane[T])
		}
		l.lanes[name] = ln
		l.peak = max(l.peak, len(l.lanes))
	}
	l.append(ln)
	return ln
}

// rotate ends the turn of the first lane.
func (l *level[T]) rotate() {
	if ln := l.first; ln != l.last {
		l.unlink(ln)
		l.append(ln)
	}
}

// remove takes n out of its lane. An empty lane or level is given up.
func (l *level[T]) remove(o *order[T], n *node[T]) {
	ln := n.seat.lane
	ln.remove(n.seat)
	if ln.head != nil {
		return
	}
	l.unlink(ln)
	delete(l.lanes, ln.name)
	*ln = lane[T]{}
	if len(o.spareLanes) < maxSpare {
		o.spareLanes = append(o.spareLanes, ln)
	}
	if l.first == nil {
		o.dropLevel(l)
	}
}

func (l *level[T]) append(ln *lane[T]) {
	ln.prev, ln.next = l.last, nil
	if l.last == nil {
		l.first = ln
	} else {
		l.last.next = ln
	}
	l.last = ln
}

func (l *level[T]) unlink(ln *lane[T]) {
	if ln.prev == nil {
		l.first = ln.next
	} else {
		ln.prev.next = ln.next
	}
	if ln.next == nil {
		l.last = ln.prev
	} else {
		ln.next.prev = ln.prev
	}
}

func (ln *lane[T]) push(s *seat[T]) {
	s.lane, s.prev = ln, ln.tail
	if ln.tail == nil {
		ln.head = s
	} else {
		ln.tail.next = s
	}
	ln.tail = s
}

func (ln *lane[T]) remove(s *seat[T]) {
	if s.prev == nil {
		ln.head = s.next
	} else {
		s.prev.next = s.next
	}
	if s.next == nil {
		ln.tail = s.prev
	} else {
		s.next.prev = s.prev
	}
	s.lane, s.prev, s.next = nil, nil, nil
}
