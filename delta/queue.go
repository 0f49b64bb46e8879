package delta

import (
	"context"
	"errors"
	"sync"
)

// ErrClosed is returned by Pop once the queue was closed.
var ErrClosed = errors.New("delta: queue is closed")

// Options of a Queue. The zero value is the policy Latest.
type Options struct {
	// Bound is the number of waiting events up to which each change is told by
	// itself; beyond it changes of one key coalesce. 0 always coalesces.
	Bound int
}

// Queue is the changes that wait for one handler.
type Queue struct {
	wake chan struct{} // holds a token when there may be something to pop

	mu      sync.Mutex
	pending *pending
	closed  bool
}

// New returns an empty queue.
func New(o Options) *Queue {
	return &Queue{wake: make(chan struct{}, 1), pending: newPending(o.Bound)}
}

// Push adds a change. It never blocks. A closed queue drops it.
func (q *Queue) Push(c Change) {
	q.mu.Lock()
	if !q.closed {
		q.pending.push(c)
	}
	q.mu.Unlock()
	q.signal()
}

// Mark adds a mark, which Pop delivers when everything pushed before it has
// been popped or has come to nothing.
func (q *Queue) Mark() {
	q.mu.Lock()
	if !q.closed {
		q.pending.addMark()
	}
	q.mu.Unlock()
	q.signal()
}

// Pop blocks for the next event or mark. It returns ErrClosed after Close, or
// the cause of ctx. Only one goroutine may pop.
func (q *Queue) Pop(ctx context.Context) (event Event, mark bool, err error) {
	for {
		if ctx.Err() != nil {
			return Event{}, false, context.Cause(ctx)
		}
		event, mark, ok, closed := q.tryPop()
		switch {
		case closed:
			return Event{}, false, ErrClosed
		case ok:
			return event, mark, nil
		}
		select {
		case <-q.wake:
		case <-ctx.Done():
			return Event{}, false, context.Cause(ctx)
		}
	}
}

func (q *Queue) tryPop() (event Event, mark, ok, closed bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return Event{}, false, false, true
	}
	event, mark, ok = q.pending.pop()
	return event, mark, ok, false
}

// Close drops what waits and makes Pop return ErrClosed. It is idempotent.
func (q *Queue) Close() {
	q.mu.Lock()
	q.closed = true
	q.pending = newPending(0)
	q.mu.Unlock()
	q.signal()
}

// Len returns the number of events that wait.
func (q *Queue) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.pending.length
}

func (q *Queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}
