package workqueue

import "time"

// instant is a moment on the monotonic clock: nanoseconds since the queue was
// made.
type instant int64

const (
	// unknown is an instant that nobody asked for, so that no clock was read.
	unknown instant = -1
	// forever is the latest instant, 292 years on.
	forever instant = 1<<63 - 1
)

// after returns t+d; it saturates instead of overflowing.
func (t instant) after(d time.Duration) instant {
	if d > 0 && t > forever-instant(d) {
		return forever
	}
	return t + instant(d)
}

// state is a set of flags. ready and waiting exclude each other.
type state uint8

const (
	// running: handed out by take; done has not been called yet.
	running state = 1 << iota
	// ready: to be delivered now. The node is in the order, unless it is
	// running: then done puts it there.
	ready
	// waiting: to be delivered at node.at. The node is in the deadlines.
	waiting
	// kept: idle, and in the list of those whose failures are remembered.
	kept
	// gone: about to be taken out of the map.
	gone

	pending = ready | waiting
	busy    = ready | waiting | running
)

// node is all that the queue knows of one item.
type node[T comparable] struct {
	item T
	// prev and next chain a node that is in the order (ready and not running) or
	// that is idle.
	prev, next *node[T]
	// seat is what lanes and priorities need to know; nil as long as there are none.
	seat *seat[T]
	// at is the due time of a waiting node, and the time since which a ready
	// one can be taken (unknown where no clock was read).
	at      instant
	started instant // of the run, while running
	// priority of the pending delivery; ran is that of the run under way.
	priority, ran int32
	failures      int32
	slot          int32 // position in the deadlines, while waiting
	state         state
	detail        *detail // nil for most
}

// chain is a list of nodes.
type chain[T comparable] struct {
	head, tail *node[T]
	len        int
}

func (l *chain[T]) push(n *node[T]) {
	n.prev = l.tail
	if l.tail == nil {
		l.head = n
	} else {
		l.tail.next = n
	}
	l.tail = n
	l.len++
}

func (l *chain[T]) remove(n *node[T]) {
	if n.prev == nil {
		l.head = n.next
	} else {
		n.prev.next = n.next
	}
	if n.next == nil {
		l.tail = n.prev
	} else {
		n.next.prev = n.prev
	}
	n.prev, n.next = nil, nil
	l.len--
}
