package delta

import (
	"context"
	"errors"
	"sync"

	"github.com/gocampus/hark/watch"
	"github.com/gocampus/hark/wire"
)

// ErrClosed is returned by Pop once the queue was closed.
var ErrClosed = errors.New("delta: queue is closed")

// Options of a Queue. The zero value is the policy Latest.
type Options struct {
	// Bound is the number of waiting events up to which each change is told by
	// itself; beyond it changes of one key coalesce. 0 always coalesces.
	Bound int
}

// Mark is a place between events.
type Mark struct {
	// Fence keeps apart what is before the mark and what is behind it: a change
	// that is pushed later does not coalesce with an event that waits before it.
	// What is popped behind the mark so follows from the state at the mark, whoever
	// was told what came before.
	Fence bool
	// Value is the caller's own.
	Value any
}

// Queue is the changes that wait for one handler, or for several that hear the
// same.
type Queue struct {
	wake chan struct{} // holds a token when the reader, which slept, has something to pop

	mu      sync.Mutex
	pending *pending
	popped  uint64
	asleep  bool // the reader found nothing
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
	q.unlock()
}

// Gather adds a change as Push does and does not wake a Pop that sleeps: Wake does,
// once for all that was gathered.
func (q *Queue) Gather(c Change) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.closed {
		q.pending.push(c)
	}
}

// Wake wakes a Pop that sleeps though something waits.
func (q *Queue) Wake() {
	q.mu.Lock()
	q.unlock()
}

// Seed adds every object as one that did not exist before, as Push would one by
// one, but in a single step.
func (q *Queue) Seed(objects []*wire.Object, cause watch.Cause) {
	q.mu.Lock()
	if !q.closed {
		q.pending.reserve(len(objects))
		for _, o := range objects {
			q.pending.push(Change{Key: o.Key(), New: o, Cause: cause})
		}
	}
	q.unlock()
}

// Mark adds a mark, which Pop delivers when everything pushed before it has
// been popped or has come to nothing.
func (q *Queue) Mark(m *Mark) {
	q.mu.Lock()
	if !q.closed {
		q.pending.addMark(m)
	}
	q.unlock()
}

// Pop blocks for what is next: events, of which it fills in as many as wait, have
// room and come before a mark, or else one mark. It returns ErrClosed after
// Close, or the cause of ctx. Only one goroutine may pop. With room for one event
// a change coalesces until the very moment at which its event is popped; what was
// popped is the caller's and changes no more.
func (q *Queue) Pop(ctx context.Context, events []Event) (n int, mark *Mark, err error) {
	for {
		if ctx.Err() != nil {
			return 0, nil, context.Cause(ctx)
		}
		n, mark, closed := q.tryPop(events)
		switch {
		case closed:
			return 0, nil, ErrClosed
		case n > 0 || mark != nil:
			return n, mark, nil
		}
		select {
		case <-q.wake:
		case <-ctx.Done():
			return 0, nil, context.Cause(ctx)
		}
	}
}

func (q *Queue) tryPop(events []Event) (n int, mark *Mark, closed bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return 0, nil, true
	}
	n, mark = q.pending.popSome(events)
	q.popped += uint64(n)
	q.asleep = n == 0 && mark == nil
	return n, mark, false
}

// Close drops what waits and makes Pop return ErrClosed. It is idempotent.
func (q *Queue) Close() {
	q.mu.Lock()
	q.closed = true
	q.pending = newPending(0)
	q.unlock()
}

// Len returns the number of events that wait.
func (q *Queue) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.pending.length
}

// Popped returns the number of events that were popped so far.
func (q *Queue) Popped() uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.popped
}

// unlock ends a change under mu, and wakes the reader if it sleeps and has
// something to see.
func (q *Queue) unlock() {
	wake := q.asleep && (q.closed || !q.pending.empty())
	if wake {
		q.asleep = false
	}
	q.mu.Unlock()
	if wake {
		q.signal()
	}
}

func (q *Queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default: // one is there from a sleep that the end of a context broke off
	}
}
