package delta

import (
	"github.com/gocampus/hark/key"
	"github.com/gocampus/hark/watch"
	"github.com/gocampus/hark/wire"
)

// entry is one thing to tell. It is linked in first-in first-out order.
type entry struct {
	prev, next   *entry
	older, newer *entry // of the same key

	key    key.Key
	seen   *wire.Object // what the handler will have been told before this entry
	now    *wire.Object // what is true after it
	last   *wire.Object // last known state of the object seen, once it is deleted
	mark   *Mark        // a mark instead of an event
	merged int
	fences uint32 // passed by the writer before this entry was made
	cause  watch.Cause
	final  bool // last is from its DELETED event
}

// pending is the queue without lock and signal.
//
// Invariants: the ring through head holds every waiting entry once; of two entries
// of one key, the later one's seen is the earlier one's now; an entry that has
// nothing to tell is not in the ring; fences never falls along the ring. If
// indexed, last[k] is the newest waiting entry of k, or absent; else last is empty
// and few entries wait.
type pending struct {
	bound   int
	fences  uint32 // marks that are fences, of all that were added
	head    entry  // sentinel
	waiting int    // entries in the ring
	length  int    // those that are events
	indexed bool
	last    map[key.Key]*entry
	peak    int // largest len(last) since it was made
	free    *entry
	freed   int
}

// maxWalk is up to how many waiting entries a key is looked for by walking: to
// compare some keys costs less than to put one into a map and take it out again.
const maxWalk = 8

// maxFree bounds the entries kept for reuse.
const maxFree = 256

func newPending(bound int) *pending {
	p := &pending{bound: bound, last: map[key.Key]*entry{}}
	p.head.prev, p.head.next = &p.head, &p.head
	return p
}

// push takes in one change.
func (p *pending) push(c Change) {
	waiting := p.find(c.Key)
	switch {
	case waiting == nil:
		p.append(c, nil)
	case c.Cause == watch.CauseResync:
		// A newer truth is on its way already; replaying would only be late.
	case p.length < p.bound, waiting.fences != p.fences:
		p.append(c, waiting)
	default:
		p.merge(waiting, c)
	}
}

// find returns the newest waiting entry of a key, or nil.
func (p *pending) find(k key.Key) *entry {
	if p.indexed {
		return p.last[k]
	}
	for e := p.head.prev; e != &p.head; e = e.prev {
		if e.mark == nil && e.key == k {
			return e
		}
	}
	return nil
}

// index begins to keep last.
func (p *pending) index() {
	p.indexed = true
	for e := p.head.next; e != &p.head; e = e.next {
		if e.mark == nil {
			p.last[e.key] = e
		}
	}
	p.peak = max(p.peak, len(p.last))
}

// reserve makes room for n keys.
func (p *pending) reserve(n int) {
	if n > maxWalk && len(p.last) == 0 {
		p.last = make(map[key.Key]*entry, n)
	}
}

func (p *pending) empty() bool { return p.head.next == &p.head }

// append adds an entry behind older, the newest of its key, which may be nil.
func (p *pending) append(c Change, older *entry) {
	if c.Old == nil && c.New == nil {
		return
	}
	e := p.take()
	e.key, e.seen, e.now, e.cause, e.fences = c.Key, c.Old, c.New, c.Cause, p.fences
	e.remember(c)
	if e.older = older; older != nil {
		older.newer = e
	}
	p.link(e)
}

// merge folds a change into the entry that waits for the same key.
func (p *pending) merge(e *entry, c Change) {
	e.now, e.cause = c.New, c.Cause
	e.merged++
	e.remember(c)
	if !e.tells() {
		p.drop(e)
	}
}

// remember keeps the last known state of the object that the handler knows: that
// of its DELETED event, else the last one that the store had.
func (e *entry) remember(c Change) {
	switch {
	case e.seen == nil:
	case c.New != nil && c.New.UID() == e.seen.UID():
		e.last, e.final = nil, false // it lives
	case c.Final != nil && c.Final.UID() == e.seen.UID():
		e.last, e.final = c.Final, true
	case c.Old != nil && c.Old.UID() == e.seen.UID():
		e.last, e.final = c.Old, false
	}
}

// tells whether there is anything to say: the handler's view differs from the
// truth, or this is a replay.
func (e *entry) tells() bool {
	if e.cause == watch.CauseResync {
		return e.now != nil
	}
	return !same(e.seen, e.now)
}

// same reports whether two states are one.
func same(a, b *wire.Object) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Equal(b)
}

// addMark puts a mark behind everything that waits now.
func (p *pending) addMark(m *Mark) {
	e := p.take()
	e.mark = m
	p.link(e)
	if m.Fence {
		p.fences++
	}
}

// popSome fills events from the front, up to the next mark, or else pops the
// mark that is next.
func (p *pending) popSome(events []Event) (n int, mark *Mark) {
	for n < len(events) {
		e := p.head.next
		switch {
		case e == &p.head || e.mark != nil && n > 0:
			return n, nil
		case e.mark != nil:
			mark = e.mark
			p.drop(e)
			return 0, mark
		}
		events[n] = p.popEvent(e)
		n++
	}
	return n, nil
}

// popEvent takes the event out of the entry at the head. A change of UID is told
// in two steps: the first leaves the entry at the head as an addition.
func (p *pending) popEvent(e *entry) Event {
	event := Event{Key: e.key, Cause: e.cause, Merged: e.merged}
	switch {
	case e.seen == nil:
		event.Type, event.New = watch.EventAdded, e.now
	case e.now == nil:
		event.deleted(e.last, e.final)
	case e.seen.UID() != e.now.UID():
		event.deleted(e.last, e.final)
		event.Merged = 0
		e.seen, e.last, e.final = nil, nil, false
		return event
	default:
		event.Type, event.Old, event.New = watch.EventModified, e.seen, e.now
	}
	p.drop(e)
	return event
}

// deleted makes e the event of a deletion.
func (e *Event) deleted(last *wire.Object, final bool) {
	e.Type, e.Old, e.FinalStateUnknown = watch.EventDeleted, last, !final
}

func (p *pending) link(e *entry) {
	e.prev, e.next = p.head.prev, &p.head
	e.prev.next, e.next.prev = e, e
	p.waiting++
	if e.mark == nil {
		p.length++
	}
	switch {
	case !p.indexed && p.waiting > maxWalk:
		p.index()
	case p.indexed && e.mark == nil:
		p.last[e.key] = e
		p.peak = max(p.peak, len(p.last))
	}
}

func (p *pending) drop(e *entry) {
	e.prev.next, e.next.prev = e.next, e.prev
	p.waiting--
	if e.mark == nil {
		p.length--
		p.unchain(e)
	}
	*e = entry{}
	if p.freed < maxFree {
		e.next, p.free = p.free, e
		p.freed++
	}
}

// unchain takes e out of its key's entries.
func (p *pending) unchain(e *entry) {
	if e.older != nil {
		e.older.newer = e.newer
	}
	if e.newer != nil {
		e.newer.older = e.older
		return
	}
	switch {
	case !p.indexed:
	case e.older != nil:
		p.last[e.key] = e.older
	default:
		delete(p.last, e.key)
		p.shrink()
	}
}

// shrink ends the index once it is empty, and gives its memory back after it has
// been large: a Go map keeps its buckets.
func (p *pending) shrink() {
	if len(p.last) > 0 || p.waiting > maxWalk {
		return
	}
	p.indexed = false
	if p.peak > maxFree {
		p.last, p.peak = map[key.Key]*entry{}, 0
	}
}

func (p *pending) take() *entry {
	e := p.free
	if e == nil {
		return &entry{}
	}
	p.free = e.next
	p.freed--
	e.next = nil
	return e
}
