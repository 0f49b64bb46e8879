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

	pending = ready | waiting
	busy    = ready | waiting | running
)

// node is all that the queue knows of one item.
type node[T comparable] struct {
	item T
	// links[byAge] chains a node that is in the order (ready and not running)
	// or that is idle; links[byLane] one that is in a lane.
	links [2]link[T]
	lane  *lane[T]
	// laneName is what Options.Lane said of the item.
	laneName string
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

type link[T comparable] struct{ prev, next *node[T] }

// The two chains that a node can be in.
const (
	byAge = iota
	byLane
)

// chain is a list of nodes; the zero chain links them by age.
type chain[T comparable] struct {
	head, tail *node[T]
	len        int
	links      uint8 // byAge or byLane
}

func (l *chain[T]) push(n *node[T]) {
	at := &n.links[l.links&1]
	at.prev = l.tail
	if l.tail == nil {
		l.head = n
	} else {
		l.tail.links[l.links&1].next = n
	}
	l.tail = n
	l.len++
}

func (l *chain[T]) remove(n *node[T]) {
	at := &n.links[l.links&1]
	if at.prev == nil {
		l.head = at.next
	} else {
		at.prev.links[l.links&1].next = at.next
	}
	if at.next == nil {
		l.tail = at.prev
	} else {
		at.next.links[l.links&1].prev = at.prev
	}
	*at = link[T]{}
	l.len--
}
