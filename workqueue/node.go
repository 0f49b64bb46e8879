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
	// unused: of no item. The node is in the list of those to be used again.
	unused

	pending = ready | waiting
	busy    = ready | waiting | running
)

// ref names a node by its place in the pages. Unlike a pointer it costs the
// garbage collector nothing. 0 is no node. Memory ends before the numbers do:
// 2³² nodes are more than 200 GB.
type ref uint32

// node is all that the queue knows of an ordinary item. It is moved when pages
// are given up; only at the end of an operation are they.
type node[T comparable] struct {
	item T
	// extra is nil for most.
	extra *extra
	// at is the due time of a waiting node, and the time since which a ready
	// one can be taken (unknown where no clock was read).
	at instant
	// prev and next chain a node that is in the order (ready and not running),
	// in the deadlines (waiting), idle or unused.
	prev, next ref
	self       ref
	hash       uint32
	failures   int32
	run        int32 // of the deadlines, while waiting
	state      state
}

// extra is what few nodes need: those with a lane, a priority, times, reasons
// or an error.
type extra struct {
	node ref // it belongs to
	// The place in a lane, nil while it is in none, and the name that
	// Options.Lane gives.
	name       string
	lane       *lane
	prev, next *extra
	// priority of the pending delivery; ran is that of the run under way.
	priority, ran int32
	started       instant // of the run, while running
	detail        *detail // nil for most
}

// priority of the pending delivery.
func (n *node[T]) priority() int32 {
	if n.extra == nil {
		return 0
	}
	return n.extra.priority
}

// ran is the priority of the run under way.
func (n *node[T]) ran() int32 {
	if n.extra == nil {
		return 0
	}
	return n.extra.ran
}

// detail returns that of n, nil when it has none.
func (n *node[T]) detail() *detail {
	if n.extra == nil {
		return nil
	}
	return n.extra.detail
}
