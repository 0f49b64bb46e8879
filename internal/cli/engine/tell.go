package engine

import (
	"time"

	"github.com/gocampus/hark/watch"
	"github.com/gocampus/hark/workqueue"
)

// debounceLimit is how many times Debounce a run is put off at most.
const debounceLimit = 10

// Tell implements Sink.
func (e *Engine) Tell(event Event) {
	matches := e.matches(&event)
	k := event.key()
	n := e.note(k, &event, matches)
	if !n.leads {
		return
	}
	for range n.failures {
		e.queue.AddRateLimited(k) // counts them; the run itself comes sooner
	}
	e.queue.AddWith(k, n.add)
}

// matches tells whether a change is of those that lead to runs.
func (e *Engine) matches(event *Event) bool {
	if on := e.options.On; on != nil && !on[event.Type] {
		return false
	}
	if e.options.When == nil {
		return true
	}
	matched, err := e.evaluate(event)
	if err != nil && e.options.OnWhenError != nil {
		e.options.OnWhenError(event.key(), err)
	}
	return matched
}

func (e *Engine) evaluate(event *Event) (bool, error) {
	decoded := decoder{kind: event.Kind}
	object, err := decoded.object(event.New)
	if err != nil {
		return true, nil // the run will tell
	}
	old, err := decoded.object(event.Old)
	if err != nil {
		return true, nil
	}
	return e.options.When(object, old)
}

// noted is what follows from a change.
type noted struct {
	leads    bool // to a run
	add      workqueue.AddOptions
	failures int // of an earlier engine
}

// note takes a change into the ledger and says whether and when it leads to a run.
func (e *Engine) note(k Key, event *Event, matches bool) noted {
	whose := e.whose(k, event)
	e.mu.Lock()
	defer e.mu.Unlock()
	n := e.ledger.tell(event)
	defer e.ledger.sweep(k)
	delete(e.gone, k)
	n.unheard = !matches
	kept, isKept := e.kept(k, event)
	switch {
	case isKept && n.restore(kept, event, matches):
		return noted{}
	case !matches && n.object == nil && n.running == 0: // nor is it tried again
		delete(e.ledger.entries, k)
		e.saver.touch()
		return noted{}
	case !matches && !(isKept && n.tries > 0):
		return noted{}
	case e.options.Once && e.synced: // the newest state is known, but it is no cause
		return noted{}
	case event.Cause == watch.CauseResync && (n.parked != nil || n.owed() || n.running > 0):
		return noted{}
	case n.parked != nil && whose == own:
		return noted{}
	}
	waits := whose == own || whose == unknown && n.beside(event.Time)
	since := n.note(event)
	if whose == own && (n.running > 0 || n.tries > 0) { // it makes no pause after a failure shorter
		n.held = n.running > 0
		return noted{}
	}
	if n.loop.penalty > 0 && waits {
		return noted{leads: true, add: workqueue.AddOptions{After: n.loop.penalty}}
	}
	result := noted{leads: true, add: e.debounced(event, n, since)}
	if isKept {
		result.failures = min(n.tries, maxRestored)
	}
	return result
}

// debounced puts a run off, until its key was quiet, but not for ever.
func (e *Engine) debounced(event *Event, n *entry, since time.Time) workqueue.AddOptions {
	d := e.options.Debounce
	if d <= 0 || event.Cause == watch.CauseInitial || event.Cause == watch.CauseResync {
		return workqueue.AddOptions{}
	}
	if n.tries > 0 { // the causes are of a run that failed
		return workqueue.AddOptions{After: d}
	}
	left := since.Add(debounceLimit * d).Sub(event.Time)
	return workqueue.AddOptions{After: min(d, left), When: workqueue.Replace}
}

// whose tells whose work a change is, where that matters already now.
func (e *Engine) whose(k Key, event *Event) verdict {
	e.mu.Lock()
	n := e.ledger.entries[k]
	matters := n != nil && (n.parked != nil || n.loop.penalty > 0 || n.running > 0 || n.tries > 0)
	named := e.named
	e.mu.Unlock()
	if !matters || event.Cause == watch.CauseInitial || event.Cause == watch.CauseResync {
		return foreign
	}
	decoded := decoder{kind: event.Kind}
	object, err := decoded.object(event.New)
	old, oldErr := decoded.object(event.Old)
	if err != nil || oldErr != nil {
		return unknown
	}
	return judge(old, object, e.options.FieldManager, named)
}
