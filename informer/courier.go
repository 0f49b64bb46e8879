package informer

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gocampus/hark/delta"
	"github.com/gocampus/hark/internal/goid"
	"github.com/gocampus/hark/watch"
	"github.com/gocampus/hark/wire"
)

// courier is one queue and the goroutine that tells handlers what is in it: one
// handler event by event, or a group of quick ones, each in turn a batch.
//
// A handler joins at a place in the queue. What comes before it is not for this
// handler; what comes behind it follows from the objects that it is told there.
type courier struct {
	informer  *Informer
	queue     *delta.Queue
	goroutine atomic.Uint64 // that tells; 0 before it starts

	mu      sync.Mutex
	members []*Registration

	// The rest belongs to the goroutine. A handler may end it, and its successor
	// goes on from here.
	room    []Event
	batch   []Event // what is being told, in room
	to      []*Registration
	turn    int      // whose turn it is, in to
	at      int      // how much of the batch that one was told
	joining *joining // nil when nobody is
}

// groupBatch is how many events a quick handler is told before the next one's turn.
const groupBatch = 64

// joining is the value of the mark at which a handler joins.
type joining struct {
	member  *Registration
	objects []*wire.Object // still to be told
	synced  bool           // they are all that there was when the store was synced
}

func newCourier(i *Informer, bound, batch int) *courier {
	return &courier{informer: i, queue: delta.New(delta.Options{Bound: bound}), room: make([]Event, batch)}
}

// add lets a handler join behind what waits now, and tells it objects there. The
// caller holds the informer's lock.
func (c *courier) add(r *Registration, objects []*wire.Object, synced bool) {
	j := &joining{r, objects, synced}
	c.mu.Lock()
	r.initial, r.awaits = len(objects), j
	c.members = append(c.members, r)
	c.mu.Unlock()
	c.queue.Mark(&delta.Mark{Fence: true, Value: j})
}

// remove takes a handler out, and reports whether it was the last one: then the
// courier is at its end. The caller holds the informer's lock.
func (c *courier) remove(r *Registration) (last bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.members = slices.DeleteFunc(c.members, func(other *Registration) bool { return other == r })
	if r.awaits != nil {
		r.awaits.objects = nil // its mark may wait for long yet
	}
	if len(c.members) > 0 {
		return false
	}
	c.queue.Close()
	return true
}

// pending returns how many events wait for a member. It counts what moves on
// meanwhile as waiting; while the member has not joined, so does all that waits
// before its place.
func (c *courier) pending(r *Registration) int {
	delivered := r.delivered.Load() // first, Popped last: an event is counted twice rather than never
	waiting := c.queue.Len() - int(delivered)
	c.mu.Lock()
	defer c.mu.Unlock()
	waiting += r.initial
	if r.awaits == nil {
		waiting += int(c.queue.Popped() - r.before)
	}
	return waiting
}

// inside reports whether it is called from within a handler of this courier.
func (c *courier) inside() bool {
	id := c.goroutine.Load()
	return id != 0 && id == goid.Current()
}

// run tells until ctx ends or the queue is closed. A handler that ends its
// goroutine (runtime.Goexit, as t.FailNow does) ends this one; another goes on.
func (c *courier) run(ctx context.Context) {
	returned := false
	defer func() {
		if !returned {
			defer c.informer.running.Go(func() { c.run(ctx) })
			c.exited()
		}
	}()
	c.goroutine.Store(goid.Current())
	for c.tellAll(ctx) && c.fetch(ctx) {
	}
	returned = true
}

// errGoexit is the value of the PanicError of a handler that ended its goroutine.
var errGoexit = errors.New("runtime.Goexit was called")

// exited reports the handler that ended the goroutine.
func (c *courier) exited() {
	r := c.to[c.turn]
	defer r.end()
	r.panicked(c.batch[c.at-1], errGoexit)
}

// tellAll tells the batch to who has not been told, and reports whether ctx goes
// on: no other handler is called when it has ended.
func (c *courier) tellAll(ctx context.Context) bool {
	for c.turn < len(c.to) {
		if ctx.Err() != nil {
			return false
		}
		c.tell(c.to[c.turn])
		c.turn, c.at = c.turn+1, 0
	}
	return true
}

// tell calls one handler for the rest of the batch.
func (c *courier) tell(r *Registration) {
	if !r.begin() {
		return
	}
	for c.at < len(c.batch) && !r.closed.Load() {
		c.call(r)
	}
	r.end()
}

// call calls the handler until the batch is told or it panics. A panic is the
// handler's own: it is counted and reported, and the next event follows.
func (c *courier) call(r *Registration) {
	defer func() {
		if value := recover(); value != nil {
			r.panicked(c.batch[c.at-1], value)
		}
	}()
	for c.at < len(c.batch) && !r.closed.Load() {
		event := c.batch[c.at]
		c.at++
		r.delivered.Add(1)
		r.handle(event)
	}
}

// fetch makes the next batch, and reports whether there can be one.
func (c *courier) fetch(ctx context.Context) bool {
	c.forget()
	if c.joining != nil {
		c.introduce()
		return true
	}
	n, mark, err := c.queue.Pop(ctx, c.room)
	switch {
	case err != nil:
		return false
	case mark != nil:
		c.pass(mark)
	default:
		c.batch, c.to = c.room[:n], c.joined(c.to)
	}
	return true
}

// forget lets go of the batch that was told: what it holds on to may be gone.
func (c *courier) forget() {
	clear(c.batch)
	clear(c.to)
	c.batch, c.to, c.turn, c.at = nil, c.to[:0], 0, 0
}

// joined appends to list who is told now.
func (c *courier) joined(list []*Registration) []*Registration {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.members {
		if r.awaits == nil {
			list = append(list, r)
		}
	}
	return list
}

// pass passes a mark: that of the store's sync, or of a handler that joins.
func (c *courier) pass(mark *delta.Mark) {
	if j, ok := mark.Value.(*joining); ok {
		c.joining = j
		popped := c.queue.Popped()
		c.mu.Lock()
		defer c.mu.Unlock()
		j.member.awaits, j.member.before = nil, popped
		return
	}
	for _, r := range c.joined(nil) {
		close(r.synced)
	}
}

// introduce makes a batch of the objects that the joining handler is told first.
func (c *courier) introduce() {
	j := c.joining
	n := min(len(j.objects), len(c.room))
	switch {
	case j.member.closed.Load():
		c.joining = nil
		return
	case n == 0:
		c.joining = nil
		if j.synced {
			close(j.member.synced)
		}
		return
	}
	for at, o := range j.objects[:n] {
		c.room[at] = Event{Type: watch.EventAdded, Key: o.Key(), New: o, Cause: watch.CauseInitial}
	}
	j.objects = j.objects[n:]
	c.batch, c.to = c.room[:n], append(c.to, j.member)
}
