package engine

import (
	"time"

	"github.com/gocampus/hark/kube"
	"github.com/gocampus/hark/watch"
	"github.com/gocampus/hark/wire"
)

// maxCauses bounds the changes of a key that are told one by one.
const maxCauses = 8

// cause is one change, or several whose last has the newest state.
type cause struct {
	event    watch.EventType
	why      watch.Cause // 0: the program has asked for the run
	time     time.Time
	old, new *wire.Object
	merged   int  // further changes that this one stands for
	beside   bool // it arrived while the key was being run, or right after
}

// entry is what is known of one object. Invariant: causes[:running] are those that
// the run under way was told.
type entry struct {
	kind    kube.Kind
	object  *wire.Object // the newest state; nil when it is deleted
	last    *wire.Object // the last known state of a deleted one
	causes  []cause      // since the last success
	running int
	requeue bool // a run is to come that the program has asked for
	held    bool // own changes came during the run under way: they wait for its end
	unheard bool // the newest change is of those that lead to no run
	news    int  // changes since the last run has begun

	tries    int // since the last success
	failures int // those of them that count
	err      string
	parked   *parking

	loop           loop
	started, ended time.Time // of the last run; ended is zero while it goes on
}

// parking is since when a key is left alone.
type parking struct{ since time.Time }

// ledger is what is known of all objects. It has no lock and no clock.
type ledger struct {
	entries map[Key]*entry
}

// tell takes in the newest state of an object and returns its entry.
func (l *ledger) tell(e *Event) *entry {
	k := e.key()
	known := l.entries[k]
	if known == nil {
		known = &entry{}
		l.entries[k] = known
	}
	known.kind = e.Kind
	known.object = e.New
	known.last = nil
	if e.New == nil {
		known.last = e.Old
	}
	return known
}

// note adds a change to what the next run is told, and returns since when changes
// wait.
func (n *entry) note(e *Event) (since time.Time) {
	n.news++
	c := cause{event: e.Type, why: e.Cause, time: e.Time, old: e.Old, new: e.New, merged: e.Merged, beside: n.beside(e.Time)}
	if waiting := n.causes[n.running:]; len(waiting) >= maxCauses {
		newest := &waiting[len(waiting)-1]
		c.old, c.merged, c.beside = newest.old, newest.merged+1+c.merged, newest.beside && c.beside
		*newest = c
	} else {
		n.causes = append(n.causes, c)
	}
	return n.causes[n.running].time
}

// beside tells whether a moment is within the last run or right after it.
func (n *entry) beside(t time.Time) bool {
	return !n.started.IsZero() && !t.Before(n.started) && (n.ended.IsZero() || t.Before(n.ended.Add(echo)))
}

// echo is how long after a run a change may arrive that the run has made.
const echo = time.Second

// owed tells whether a run of the key is to come or under way.
func (n *entry) owed() bool { return len(n.causes) > 0 || n.requeue }

// begin starts a run and returns what it is told.
func (n *entry) begin(now time.Time) []cause {
	if n.parked != nil { // it has changed since
		n.parked, n.tries, n.failures = nil, 0, 0
	}
	n.requeue, n.held, n.news = false, false, 0
	n.started, n.ended = now, time.Time{}
	if len(n.causes) == 0 {
		n.causes = append(n.causes, n.asked(now))
	}
	n.running = len(n.causes)
	return append([]cause(nil), n.causes...)
}

// asked is the cause of a run that no change has led to.
func (n *entry) asked(now time.Time) cause {
	c := cause{event: watch.EventModified, time: now, old: n.object, new: n.object}
	if n.object == nil {
		c = cause{event: watch.EventDeleted, time: now, old: n.last}
	}
	return c
}

// done ends a run after which nothing of what it was told is left to do.
func (n *entry) done(now time.Time, requeue bool) {
	n.causes = append([]cause(nil), n.causes[n.running:]...)
	n.running, n.requeue, n.ended = 0, requeue, now
	n.tries, n.failures, n.err = 0, 0, ""
}

// failed ends a run that is to be tried again, or whose key is parked.
func (n *entry) failed(now time.Time, counts bool, err error) {
	n.running, n.ended = 0, now
	n.tries++
	if counts {
		n.failures++
	}
	n.err = clip(err.Error())
}

// park leaves the key alone after a run that has failed. What the run was told is
// not told again.
func (n *entry) park(now time.Time, told int) {
	n.causes = append([]cause(nil), n.causes[told:]...)
	n.parked = &parking{since: now}
}

// unfinished ends a run that was broken off. It is no try.
func (n *entry) unfinished(now time.Time) { n.running, n.ended = 0, now }

// sweep forgets a deleted object that nothing is to be done for any more.
func (l *ledger) sweep(k Key) {
	if n := l.entries[k]; n != nil && n.object == nil && !n.owed() && n.running == 0 {
		delete(l.entries, k)
	}
}

// maxError bounds the bytes of an error that are kept.
const maxError = 512

func clip(text string) string {
	if len(text) > maxError {
		text = text[:maxError]
	}
	return text
}
