package informer

import (
	"context"
	"errors"
	"runtime/debug"
	"time"

	"github.com/gocampus/hark/delta"
	"github.com/gocampus/hark/internal/goid"
	"github.com/gocampus/hark/key"
	"github.com/gocampus/hark/watch"
)

// deliver calls the handler for one event after the other until ctx ends or the
// registration is closed.
func (r *Registration) deliver(ctx context.Context) {
	done := make(chan struct{})
	defer close(done)
	if !r.enter(done) {
		return
	}
	for r.deliverNext(ctx) {
	}
}

// deliverNext makes one call, and reports whether there can be a next one. A
// handler that ends its goroutine (runtime.Goexit, as t.FailNow does) ends this
// one; another goes on.
func (r *Registration) deliverNext(ctx context.Context) bool {
	event, mark, err := r.queue.Pop(ctx)
	switch {
	case err != nil:
		return false
	case mark:
		close(r.synced)
		return true
	}
	returned := false
	defer func() {
		if !returned {
			r.panicked(&PanicError{Handler: r.options.Name, Event: event, Value: errGoexit, Stack: debug.Stack()})
			r.informer.running.Go(func() { r.deliver(ctx) })
		}
	}()
	r.call(event)
	returned = true
	return true
}

// errGoexit is the value of the PanicError of a handler that ended its goroutine.
var errGoexit = errors.New("runtime.Goexit was called")

// enter notes which goroutine delivers, and reports whether there is anything
// to deliver for.
func (r *Registration) enter(done chan struct{}) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.goroutine, r.done = goid.Current(), done
	return !r.closed
}

// call runs the handler once. A panic is the handler's own: it is counted and
// reported, and the next event follows.
func (r *Registration) call(event Event) {
	defer func() {
		if value := recover(); value != nil {
			r.panicked(&PanicError{Handler: r.options.Name, Event: event, Value: value, Stack: debug.Stack()})
		}
	}()
	r.mu.Lock()
	r.delivered++
	r.mu.Unlock()
	r.handle(event)
}

func (r *Registration) panicked(p *PanicError) {
	r.mu.Lock()
	r.panics++
	r.lastPanic = p
	r.mu.Unlock()
	if r.informer.options.OnPanic != nil {
		r.informer.options.OnPanic(p)
	}
}

// replay pushes the cache to this handler at every resync, until ctx ends or
// the registration is closed.
func (r *Registration) replay(ctx context.Context) {
	ticker := time.NewTicker(r.options.Resync)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			r.resync()
		case <-r.closing:
			return
		case <-ctx.Done():
			return
		}
	}
}

// resyncBatch is how many keys are replayed while the informer's lock is held.
const resyncBatch = 256

// resync replays the cache. Each object is read and pushed under the lock that
// changes are told under, so that a replay never overtakes or undoes a change.
func (r *Registration) resync() {
	var keys []key.Key
	for _, object := range r.informer.apply.writer.AllTold() {
		keys = append(keys, object.Key())
	}
	for len(keys) > 0 {
		n := min(len(keys), resyncBatch)
		r.resyncKeys(keys[:n])
		keys = keys[n:]
	}
}

func (r *Registration) resyncKeys(keys []key.Key) {
	i := r.informer
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, k := range keys {
		if object := i.apply.writer.Told(k); object != nil {
			r.queue.Push(delta.Change{Key: k, Old: object, New: object, Cause: watch.CauseResync})
		}
	}
}
