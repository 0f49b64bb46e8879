package informer

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/gocampus/hark/delta"
	"github.com/gocampus/hark/reflector"
	"github.com/gocampus/hark/store"
	"github.com/gocampus/hark/watch"
	"github.com/gocampus/hark/wire"
)

// Event is what a handler is told.
type Event = delta.Event

// ErrStopped is returned when an informer is used that has stopped. A stopped
// informer does not start again; make a new one.
var ErrStopped = errors.New("informer: it has stopped")

// Options of an Informer. The zero value is ready to use.
type Options struct {
	// Reflector says how to list and watch.
	Reflector reflector.Options
	// Indexes of the store, by name.
	Indexes map[string]store.IndexFunc
	// Compact keeps objects in a fraction of the memory: see store.Options.
	Compact bool
	// OnPanic is called, from the handler's goroutine, for each panic of a
	// handler: the informer goes on with the next event. Nil means that panics
	// are only counted (Status).
	OnPanic func(*PanicError)
}

// Informer is the local copy of one kind and the handlers that follow it.
// All methods are safe for concurrent use.
type Informer struct {
	options   Options
	store     *store.Store
	reflector *reflector.Reflector
	apply     *applier

	// mu makes a change of the store and its telling one step for those who
	// register: a new handler gets each object either from the store or told.
	mu       sync.Mutex
	handlers []*Registration
	couriers []*courier // of the handlers
	group    *courier   // of the quick handlers among them; nil while there are none
	life     lifeCycle
	ended    chan struct{}   // closed when life becomes stopped
	run      context.Context // of Run, while it runs
	running  sync.WaitGroup  // handler goroutines
}

type lifeCycle uint8

const (
	notStarted lifeCycle = iota
	started
	stopped
)

// New returns an informer over a source; it does nothing before Run.
func New(source watch.Source, o Options) *Informer {
	i := &Informer{options: o, ended: make(chan struct{})}
	s, writer := store.New(store.Options{Indexes: o.Indexes, Compact: o.Compact})
	i.store = s
	i.apply = &applier{informer: i, writer: writer}
	i.reflector = reflector.New(source, i.apply, o.Reflector)
	return i
}

// Store returns the local copy, for reading.
func (i *Informer) Store() *store.Store { return i.store }

// Observe lets reads of the Store see at once what this program has just written:
// object is the server's answer to a write (not to a deletion), of this
// informer's kind and selection. It reports whether reads see it now; an answer that comes later
// than what the watch has told changes nothing, and never brings back what was
// deleted. Handlers hear of the write from the watch, in its order. See
// store.Writer.Observe.
func (i *Informer) Observe(object *wire.Object) bool { return i.apply.writer.Observe(object) }

// Run keeps the copy up to date and handlers told until ctx ends, and returns
// its cause. It returns when every handler's running call has returned and
// nothing that it started is left. It runs once: a second call returns
// ErrStopped, or panics while the first one still runs.
func (i *Informer) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(ErrStopped)
	if err := i.start(ctx); err != nil {
		return err
	}
	err := i.reflector.Run(ctx)
	i.stop()
	i.running.Wait()
	return err
}

func (i *Informer) start(ctx context.Context) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	switch i.life {
	case started:
		panic("informer: Run called twice")
	case stopped:
		return ErrStopped
	}
	i.life, i.run = started, ctx
	for _, c := range i.couriers {
		i.launch(c)
	}
	for _, r := range i.handlers {
		if r.options.Resync > 0 {
			i.launchReplay(r)
		}
	}
	return nil
}

func (i *Informer) stop() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.life, i.run = stopped, nil
	close(i.ended)
}

// launch starts the goroutine of a courier. The caller holds mu.
func (i *Informer) launch(c *courier) {
	ctx := i.run
	i.running.Go(func() { c.run(ctx) })
}

// launchReplay starts the resyncs of a handler. The caller holds mu.
func (i *Informer) launchReplay(r *Registration) {
	ctx := i.run
	i.running.Go(func() { r.replay(ctx) })
}

// Synced is closed when the store has held one complete state. Handlers may
// still have to be told: see Registration.Synced.
func (i *Informer) Synced() <-chan struct{} { return i.reflector.Synced() }

// WaitSync blocks until the store has held one complete state. When ctx ends
// first the error says why it did not come: for example that listing is
// forbidden. It is ErrStopped when the informer stops first.
func (i *Informer) WaitSync(ctx context.Context) error {
	err := i.reflector.WaitSync(ctx)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, reflector.ErrStopped):
		return ErrStopped
	}
	return fmt.Errorf("informer: %w", err)
}

// Status is what an informer shows of itself: plain data, a copy.
type Status struct {
	Reflector reflector.Status
	Store     store.Stats
	Handlers  []HandlerStatus
	Changes   ChangeCounts
}

// Status returns the current state and numbers.
func (i *Informer) Status() Status {
	i.mu.Lock()
	handlers := append([]*Registration(nil), i.handlers...)
	changes := i.apply.counts
	i.mu.Unlock()
	s := Status{Reflector: i.reflector.Status(), Store: i.store.Stats(), Changes: changes}
	for _, r := range handlers {
		s.Handlers = append(s.Handlers, r.Status())
	}
	return s
}
