package informer

import (
	"github.com/gocampus/hark/delta"
	"github.com/gocampus/hark/key"
	"github.com/gocampus/hark/store"
	"github.com/gocampus/hark/watch"
	"github.com/gocampus/hark/wire"
)

// ChangeCounts is how often what a source delivered changed something, or why
// it did not.
type ChangeCounts struct {
	Stored  uint64 // new objects and new versions
	Deleted uint64
	Known   uint64 // this very version was there already
	Stale   uint64 // a newer version was there already
	Missing uint64 // a deletion of what was not there
	Unknown uint64 // an event type that this code does not know
}

// applier is the reflector's sink: it changes the store and tells the handlers,
// as one step under the informer's lock. It belongs to the reflector's
// goroutine; counts are guarded by the informer's lock.
type applier struct {
	informer *Informer
	writer   *store.Writer
	force    bool
	held     held
	synced   bool // guarded by informer.mu
	counts   ChangeCounts
}

// Begin implements reflector.Sink.
func (a *applier) Begin(force, anew bool) {
	a.force = force
	a.held.begin(a.informer.store.Version())
	a.writer.Begin(force, anew)
}

// Keep implements wire.Keeper.
func (a *applier) Keep(draft *wire.Draft) *wire.Object { return a.writer.Keep(draft) }

// Put implements reflector.Sink.
func (a *applier) Put(object *wire.Object) (stale bool) {
	return a.put(object, a.listCause(), a.force) == store.Stale
}

// listCause is the cause of what a list shows: the first complete state is the
// initial one.
func (a *applier) listCause() watch.Cause {
	if a.synced {
		return watch.CauseRelist
	}
	return watch.CauseInitial
}

// Apply implements reflector.Sink.
func (a *applier) Apply(t watch.EventType, object *wire.Object) {
	switch t {
	case watch.EventAdded, watch.EventModified:
		a.put(object, watch.CauseWatch, false)
	case watch.EventDeleted:
		a.delete(object)
	default:
		a.count(&a.counts.Unknown)
	}
}

func (a *applier) put(object *wire.Object, cause watch.Cause, force bool) store.Outcome {
	plan := a.writer.Prepare(object, force || a.held.has(object.Key()))
	i := a.informer
	i.mu.Lock()
	defer i.mu.Unlock()
	switch plan.Outcome {
	case store.Known:
		a.counts.Known++
	case store.Stale:
		a.counts.Stale++
	case store.Stored:
		if a.held.take(plan.Old, plan.New) {
			break
		}
		a.counts.Stored++
		a.writer.Store(plan)
		i.tell(delta.Change{Key: plan.New.Key(), Old: plan.Old, New: plan.New, Cause: cause})
	}
	return plan.Outcome
}

// delete handles a DELETED event, whose object is the last state. One that is
// older than what the store has is of an object that was made again since.
func (a *applier) delete(final *wire.Object) {
	i := a.informer
	i.mu.Lock()
	defer i.mu.Unlock()
	a.held.deleted(final)
	current := a.writer.Told(final.Key())
	switch {
	case current == nil:
		a.counts.Missing++
		return
	case current.UID() != final.UID() && olderThan(final, current):
		a.counts.Stale++
		return
	}
	a.counts.Deleted++
	a.writer.Reach(final.ResourceVersion())
	a.writer.Delete(final.Key())
	i.tell(delta.Change{Key: final.Key(), Old: current, Final: final, Cause: watch.CauseWatch})
}

// olderThan compares versions where both are integers.
func olderThan(a, b *wire.Object) bool {
	x, xOK := a.Version()
	y, yOK := b.Version()
	return xOK && yOK && x < y
}

// Commit implements reflector.Sink: what the list did not have is gone.
func (a *applier) Commit(version string, keep bool) {
	cause := a.listCause()
	for _, object := range a.held.end() {
		a.put(object, cause, a.force)
	}
	for _, k := range a.writer.End(version) {
		if !keep {
			a.sweep(k, cause)
		}
	}
	a.writer.Advance(version)
	i := a.informer
	i.mu.Lock()
	defer i.mu.Unlock()
	if !a.synced {
		a.synced = true
		for _, c := range i.couriers {
			c.queue.Mark(&delta.Mark{})
		}
	}
}

func (a *applier) sweep(k key.Key, cause watch.Cause) {
	i := a.informer
	i.mu.Lock()
	defer i.mu.Unlock()
	old := a.writer.Delete(k)
	a.counts.Deleted++
	i.tell(delta.Change{Key: k, Old: old, Cause: cause})
}

// Advance implements reflector.Sink.
func (a *applier) Advance(version string) { a.writer.Advance(version) }

// Flush implements reflector.Sink: those who tell handlers are woken once for all
// that came together, not once a change.
func (a *applier) Flush() {
	i := a.informer
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, c := range i.couriers {
		c.queue.Wake()
	}
}

func (a *applier) count(n *uint64) {
	a.informer.mu.Lock()
	defer a.informer.mu.Unlock()
	*n++
}

// tell pushes a change to every courier's queue. The caller holds mu; pushing
// runs no foreign code and does not block.
func (i *Informer) tell(change delta.Change) {
	for _, c := range i.couriers {
		c.queue.Gather(change)
	}
}
