package workqueue

// level holds the nodes of one priority: a ring of lanes that take turns.
type level struct {
	priority    int32
	first, last *lane            // in the order of their turns
	lanes       map[string]*lane // by name; nil without lanes, where first is the only one
	peak        int              // most lanes at a time: maps do not shrink
}

// lane holds the nodes of one priority and one name, first in, first out.
type lane struct {
	level      *level
	name       string
	head, tail *extra
	prev, next *lane
}

func (l *level) push(o *places, e *extra) {
	ln := l.first
	if o.fair {
		ln = l.lanes[e.name]
	}
	if ln == nil {
		ln = l.addLane(o, e.name)
	}
	ln.push(e)
}

func (l *level) addLane(o *places, name string) *lane {
	var ln *lane
	if last := len(o.spareLanes) - 1; last >= 0 {
		ln, o.spareLanes = o.spareLanes[last], o.spareLanes[:last]
	} else {
		ln = &lane{}
	}
	*ln = lane{level: l, name: name}
	if o.fair {
		if l.lanes == nil {
			l.lanes = make(map[string]*lane)
		}
		l.lanes[name] = ln
		l.peak = max(l.peak, len(l.lanes))
	}
	l.append(ln)
	return ln
}

// rotate ends the turn of the first lane.
func (l *level) rotate() {
	if ln := l.first; ln != l.last {
		l.unlink(ln)
		l.append(ln)
	}
}

// remove takes e out of its lane. An empty lane or level is given up.
func (l *level) remove(o *places, e *extra) {
	ln := e.lane
	ln.remove(e)
	if ln.head != nil {
		return
	}
	l.unlink(ln)
	delete(l.lanes, ln.name)
	*ln = lane{}
	if len(o.spareLanes) < maxSpare {
		o.spareLanes = append(o.spareLanes, ln)
	}
	if l.first == nil {
		o.dropLevel(l)
	}
}

func (l *level) append(ln *lane) {
	ln.prev, ln.next = l.last, nil
	if l.last == nil {
		l.first = ln
	} else {
		l.last.next = ln
	}
	l.last = ln
}

func (l *level) unlink(ln *lane) {
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

func (ln *lane) push(e *extra) {
	e.lane, e.prev = ln, ln.tail
	if ln.tail == nil {
		ln.head = e
	} else {
		ln.tail.next = e
	}
	ln.tail = e
}

func (ln *lane) remove(e *extra) {
	if e.prev == nil {
		ln.head = e.next
	} else {
		e.prev.next = e.next
	}
	if e.next == nil {
		ln.tail = e.prev
	} else {
		e.next.prev = e.prev
	}
	e.lane, e.prev, e.next = nil, nil, nil
}
