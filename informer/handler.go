package informer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gocampus/hark/delta"
	"github.com/gocampus/hark/watch"
)

// HandlerOptions of one handler. The zero value suits any handler that wants the
// newest state; Quick makes one cheap that only enqueues keys.
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
	// Quick promises that the handler returns at once, as one does that only
	// enqueues a key: it neither blocks nor works. The quick handlers of an informer
	// share one queue and one goroutine, which tells each in turn up to 64 events: a
	// change that comes meanwhile is an event of its own. One that is slow after all
	// delays the other quick ones and makes changes wait for them, but never the
	// reader nor any other handler. With Every or Resync it has no effect.
	Quick bool
}

// grouped reports whether the handler goes with others.
func (o HandlerOptions) grouped() bool { return o.Quick && o.Every == 0 && o.Resync == 0 }

// Registration is one handler of an informer. Its methods are safe for
// concurrent use and may be called from the handler itself.
type Registration struct {
	informer *Informer
	handle   func(Event)
	options  HandlerOptions
	courier  *courier
	closing  chan struct{} // closed by Close
	synced   chan struct{} // closed by the courier

	// Guarded by the courier's mu.
	awaits  *joining // its place in the queue; nil when the courier has come there
	before  uint64   // events that the courier had popped by then
	initial int      // objects that it is told there

	delivered atomic.Uint64
	closed    atomic.Bool // set under mu

	mu        sync.Mutex
	calling   bool          // a call is in flight, or about to start
	idle      chan struct{} // closed when none is any more; nil while nobody waits
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
// come one at a time, from one goroutine. It returns ErrStopped after Run has
// returned. The informer stands still while the store's objects are handed over:
// less than a microsecond each, and for a quick handler hardly at all. A nil handle
// panics.
func (i *Informer) Handle(handle func(Event), o HandlerOptions) (*Registration, error) {
	if handle == nil {
		panic("informer: a handler is missing")
	}
	r := &Registration{
		informer: i, handle: handle, options: o,
		closing: make(chan struct{}), synced: make(chan struct{}),
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.life == stopped {
		return nil, ErrStopped
	}
	i.handlers = append(i.handlers, r)
	if o.grouped() {
		i.join(r)
	} else {
		i.employ(r)
	}
	if i.life == started && o.Resync > 0 {
		i.launchReplay(r)
	}
	return r, nil
}

// join adds a quick handler to their group. The caller holds mu.
func (i *Informer) join(r *Registration) {
	if i.group == nil {
		i.group = newCourier(i, 0, groupBatch)
		i.engage(i.group)
	}
	r.courier = i.group
	r.courier.add(r, i.apply.writer.AllTold(), i.apply.synced)
}

// employ makes a courier for a handler alone. What the store has goes through its
// queue, to coalesce with what changes before it is told. The caller holds mu.
func (i *Informer) employ(r *Registration) {
	r.courier = newCourier(i, r.options.Every, 1)
	r.courier.add(r, nil, false)
	r.courier.queue.Seed(i.apply.writer.AllTold(), watch.CauseInitial)
	if i.apply.synced {
		r.courier.queue.Mark(&delta.Mark{})
	}
	i.engage(r.courier)
}

// engage lets a courier hear of changes. The caller holds mu.
func (i *Informer) engage(c *courier) {
	i.couriers = append(i.couriers, c)
	if i.life == started {
		i.launch(c)
	}
}

// Close ends the handler: no call starts after Close has returned, and the one
// in flight is waited for, unless Close is called from within it. What was not
// told yet is dropped. Close is idempotent. Two handlers that close each other
// at the same time wait for each other for ever.
func (r *Registration) Close() {
	r.mu.Lock()
	if !r.closed.Swap(true) {
		close(r.closing)
	}
	r.mu.Unlock()
	r.informer.forget(r)
	if !r.courier.inside() {
		r.await()
	}
}

// forget takes a handler out, and its courier when that has no other.
func (i *Informer) forget(r *Registration) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.handlers = slices.DeleteFunc(i.handlers, func(other *Registration) bool { return other == r })
	c := r.courier
	if !c.remove(r) {
		return
	}
	i.couriers = slices.DeleteFunc(i.couriers, func(other *courier) bool { return other == c })
	if i.group == c {
		i.group = nil
	}
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
	return fmt.Errorf("informer: handler %q is still handling initial events, %d wait: %w", r.options.Name, r.pending(), context.Cause(ctx))
}

// pending returns how many events wait; none does once the handler is closed.
func (r *Registration) pending() int {
	if r.closed.Load() {
		return 0
	}
	return r.courier.pending(r)
}

// HandlerStatus is what a handler shows of itself.
type HandlerStatus struct {
	Name      string
	Synced    bool
	Pending   int    // events that wait; before a quick handler was told anything, at most that many
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
	pending := r.pending()
	r.mu.Lock()
	defer r.mu.Unlock()
	return HandlerStatus{
		Name: r.options.Name, Synced: synced, Pending: pending,
		Delivered: r.delivered.Load(), Panics: r.panics, LastPanic: r.lastPanic,
	}
}
