package informer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/gocampus/hark/delta"
	"github.com/gocampus/hark/internal/goid"
	"github.com/gocampus/hark/watch"
)

// HandlerOptions of one handler. The zero value suits a handler that enqueues
// keys.
type HandlerOptions struct {
	// Name for Status; "" is allowed.
	Name string
	// Every is how many events may wait before changes of one key are merged:
	// 0 merges always (the policy Latest). For a handler that wants each change,
	// such as one that prints, give a bound that fits in memory.
	Every int
	// Resync is how often the cache is replayed to this handler, as Modified
	// with CauseResync, without any request; 0 means never.
	Resync time.Duration
}

// Registration is one handler of an informer. Its methods are safe for
// concurrent use and may be called from the handler itself.
type Registration struct {
	informer *Informer
	handle   func(Event)
	options  HandlerOptions
	queue    *delta.Queue
	closing  chan struct{} // closed by Close
	synced   chan struct{}

	mu        sync.Mutex
	closed    bool
	goroutine uint64        // that delivers
	done      chan struct{} // closed when it has ended; nil before it starts
	delivered uint64
	panics    uint64
	lastPanic *PanicError
}

// PanicError is a panic of a handler.
type PanicError struct {
	Handler string
	Event   Event
	Value   any
	Stack   []byte
}

// Error implements error.
func (e *PanicError) Error() string {
	return fmt.Sprintf("informer: handler %q panicked at %s %s: %v", e.Handler, e.Event.Type, e.Event.Key, e.Value)
}

// ErrClosed is returned by WaitSync of a handler that was closed.
var ErrClosed = errors.New("informer: handler was closed")

// Handle registers a handler, before or during Run. It is told every object
// that the store has as Added, in no particular order, then every change. Calls
// come one at a time from one goroutine. It returns ErrStopped after Run has
// returned. The informer stands still while the store's objects are handed over,
// about a microsecond each. A nil handle panics.
func (i *Informer) Handle(handle func(Event), o HandlerOptions) (*Registration, error) {
	if handle == nil {
		panic("informer: a handler is missing")
	}
	r := &Registration{
		informer: i, handle: handle, options: o,
		queue:   delta.New(delta.Options{Bound: o.Every}),
		closing: make(chan struct{}),
		synced:  make(chan struct{}),
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.life == stopped {
		return nil, ErrStopped
	}
	for _, object := range i.apply.writer.AllTold() {
		r.queue.Push(delta.Change{Key: object.Key(), New: object, Cause: watch.CauseInitial})
	}
	if i.apply.synced {
		r.queue.Mark()
	}
	i.handlers = append(i.handlers, r)
	if i.life == started {
		i.launch(r)
	}
	return r, nil
}

// Close ends the handler: no call starts after Close has returned, and the one
// in flight is waited for, unless Close is called from within it. What was not
// told yet is dropped. Close is idempotent. Two handlers that close each other
// at the same time wait for each other for ever.
func (r *Registration) Close() {
	r.queue.Close() // first: what is pushed from here on, a replay too, is dropped
	r.informer.forget(r)
	r.mu.Lock()
	if !r.closed {
		r.closed = true
		close(r.closing)
	}
	done, inside := r.done, r.goroutine != 0 && r.goroutine == goid.Current()
	r.mu.Unlock()
	if done != nil && !inside {
		<-done
	}
}

func (i *Informer) forget(r *Registration) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.handlers = slices.DeleteFunc(i.handlers, func(other *Registration) bool { return other == r })
}

// Synced is closed when the handler has handled every initial event: the
// objects that existed when the store synced, or when the handler was
// registered if that was later.
func (r *Registration) Synced() <-chan struct{} { return r.synced }

// WaitSync blocks until Synced. When ctx ends first the error says what is
// missing; it is ErrClosed or ErrStopped when the handler was closed or the
// informer stopped before.
func (r *Registration) WaitSync(ctx context.Context) error {
	var err error
	select {
	case <-r.synced:
		return nil
	case <-r.closing:
		err = ErrClosed
	case <-r.informer.ended:
		err = ErrStopped
	case <-ctx.Done():
		err = r.missing(ctx)
	}
	if r.Status().Synced { // both came at once
		return nil
	}
	return err
}

// missing says why a handler is not synced though ctx has ended.
func (r *Registration) missing(ctx context.Context) error {
	if err := r.informer.WaitSync(ctx); err != nil {
		return err
	}
	return fmt.Errorf("informer: handler %q is still handling initial events, %d wait: %w", r.options.Name, r.queue.Len(), context.Cause(ctx))
}

// HandlerStatus is what a handler shows of itself.
type HandlerStatus struct {
	Name      string
	Synced    bool
	Pending   int    // events that wait
	Delivered uint64 // calls that were made
	Panics    uint64
	LastPanic *PanicError // nil when there was none
}

// Status returns the current numbers.
func (r *Registration) Status() HandlerStatus {
	synced := false
	select {
	case <-r.synced:
		synced = true
	default:
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return HandlerStatus{
		Name: r.options.Name, Synced: synced, Pending: r.queue.Len(),
		Delivered: r.delivered, Panics: r.panics, LastPanic: r.lastPanic,
	}
}
