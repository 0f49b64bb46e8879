package engine

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/gocampus/hark/internal/cli/hook"
	"github.com/gocampus/hark/watch"
	"github.com/gocampus/hark/worker"
	"github.com/gocampus/hark/workqueue"
)

// Engine runs a program for the changes of a feed. Use New.
type Engine struct {
	options Options
	queue   *workqueue.Queue[Key]
	pool    *worker.Pool[Key]
	saver   saver
	end     context.CancelCauseFunc // set by Run

	mu     sync.Mutex // guards what follows
	ledger ledger
	counts Summary         // without its lists
	named  bool            // the program writes under its field manager's name
	owed   map[Key]Kept    // from Options.State, as long as their objects were not told
	gone   map[Key]Trouble // parked keys of deleted objects
	synced bool            // all that existed has been told
	last   bool            // nothing more will be told
}

// errDone is the cause of the end when all is done.
var errDone = errors.New("engine: all is done")

// debounceLimit is how many times Debounce a run is put off at most.
const debounceLimit = 10

// New returns an engine; it does nothing before Run.
func New(o Options) *Engine {
	e := &Engine{options: o, ledger: ledger{entries: map[Key]*entry{}}, named: o.Named, owed: o.State.byKey(), gone: map[Key]Trouble{}}
	queue := workqueue.Options[Key]{Backoff: o.Backoff}
	if o.FairByNamespace {
		queue.Lane = func(k Key) string { return k.Namespace }
	}
	e.queue = workqueue.New(queue)
	grace := o.Grace
	if grace <= 0 {
		grace = -1 // 0 would mean the default
	}
	e.pool = worker.New(e.queue, e.run, worker.Options[Key]{
		Workers: o.Workers, Timeout: o.Timeout, DrainTimeout: grace,
		OnEnd: func(worker.Run[Key]) { e.endIfIdle() },
	})
	e.saver = saver{save: o.Save, failed: o.OnSaveError, changed: make(chan struct{}, 1)}
	return e
}

// Run works until ctx ends, runs under way having finished or been broken off after
// Options.Grace; or until all is done, with Once and at the end of the feed. The
// summary is complete in any case. Errors are those of the feed, and of the last
// Save.
func (e *Engine) Run(ctx context.Context, feed Feed) (Summary, error) {
	ctx, e.end = context.WithCancelCause(ctx)
	defer e.end(nil)
	var beside sync.WaitGroup
	var feedErr error
	beside.Go(func() { feedErr = e.listen(ctx, feed) })
	saving, stopSaving := context.WithCancel(context.WithoutCancel(ctx))
	defer stopSaving()
	if e.options.Save != nil {
		beside.Go(func() { e.saver.run(saving, e.state) })
	}
	_ = e.pool.Run(ctx) // what is left undone is in the summary
	e.end(errDone)
	e.queue.ShutDown()
	stopSaving()
	beside.Wait()
	err := feedErr
	if e.options.Save != nil {
		err = errors.Join(err, e.options.Save(e.state()))
	}
	return e.summary(), err
}

// listen runs the feed. Its error counts only while the engine is at work.
func (e *Engine) listen(ctx context.Context, feed Feed) error {
	err := feed.Run(ctx, e)
	switch {
	case ctx.Err() != nil:
		return nil
	case err != nil:
		e.end(err)
		return err
	}
	e.mu.Lock()
	e.last = true
	e.mu.Unlock()
	e.endIfIdle()
	return nil
}

// Synced implements Sink.
func (e *Engine) Synced() {
	e.mu.Lock()
	e.synced = true
	clear(e.owed) // of objects that exist no more
	e.mu.Unlock()
	e.saver.touch()
	e.endIfIdle()
}

// endIfIdle ends the engine when there is nothing to do and nothing will come. A
// key that is to be run again is in the queue before its run leaves it.
func (e *Engine) endIfIdle() {
	e.mu.Lock()
	ends := e.last || e.synced && e.options.Once
	e.mu.Unlock()
	if s := e.queue.Stats(); ends && s.Queued+s.Delayed+s.Processing == 0 {
		e.end(errDone)
	}
}

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
	kept, isKept := e.kept(k, event)
	switch {
	case !matches:
		return noted{}
	case isKept && n.restore(kept, event):
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
	matters := n != nil && (n.parked != nil || n.loop.penalty > 0)
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

// run is one run of a key, by a worker.
func (e *Engine) run(ctx context.Context, k Key) (worker.Result, error) {
	job, ok := e.begin(k)
	if !ok {
		return worker.Result{}, nil
	}
	request, err := job.request(ctx, e.options.FieldManager, e.isNamed)
	if err != nil {
		err = &hook.ParkError{Reason: err.Error()}
		return e.settle(ctx, job, hook.Result{}, err)
	}
	e.watchLoop(job, request)
	result, err := e.options.Program.Run(ctx, request)
	return e.settle(ctx, job, result, err)
}

// begin takes what a run is told out of the ledger. There is nothing to run for a
// deleted object whose deletion does not matter.
func (e *Engine) begin(k Key) (*job, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := e.ledger.entries[k]
	if n == nil {
		return nil, false
	}
	if on := e.options.On; n.object == nil && on != nil && !on[watch.EventDeleted] {
		delete(e.ledger.entries, k)
		return nil, false
	}
	j := &job{key: k, entry: n, kind: n.kind}
	j.news = min(n.news, len(n.causes))
	j.causes = n.begin(time.Now())
	j.object, j.last, j.attempt = n.object, n.last, n.tries+1
	return j, true
}

// isNamed remembers that the program writes under its name, once seen, and tells
// whether it was seen.
func (e *Engine) isNamed(seen bool) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.named = e.named || seen
	return e.named
}

// watchLoop looks for a hot loop at the start of a run.
func (e *Engine) watchLoop(j *job, request *hook.Request) {
	if j.news == 0 {
		return // it is tried again, or was asked for
	}
	ownWork, sure := j.own()
	e.mu.Lock()
	news := j.entry.loop.run(e.options.Loop, time.Now(), ownWork, sure)
	penalty := j.entry.loop.penalty
	e.mu.Unlock()
	if !news || e.options.OnLoop == nil {
		return
	}
	loop := HotLoop{Key: j.key, Request: request, Loop: e.options.Loop, Penalty: penalty, Sure: sure}
	for _, c := range request.Causes {
		if c.Diff != nil {
			loop.Changes = append(loop.Changes, *c.Diff...)
		}
	}
	e.options.OnLoop(loop)
}

// settle writes down how a run ended, and tells the pool and the observer.
func (e *Engine) settle(ctx context.Context, j *job, result hook.Result, err error) (worker.Result, error) {
	if err != nil && errors.Is(context.Cause(ctx), worker.ErrTimeout) {
		err = &TimeoutError{After: e.options.Timeout}
	}
	if e.options.Once {
		result.RequeueAfter = 0
	}
	r := Run{Key: j.key, Attempt: j.attempt, Err: err, Next: result.RequeueAfter}
	switch retries := e.queue.NumRequeues(j.key); {
	case err != nil && errors.Is(context.Cause(ctx), worker.ErrDrainTimeout):
		r.Outcome = Interrupted
	case err == nil && result.RequeueAfter > 0:
		r.Outcome = Requeued
	case err == nil:
		r.Outcome = Done
	default:
		r.Outcome = e.failure(j, err)
		r.Next = e.options.Backoff.Delay(retries + 1)
	}
	e.write(j, &r)
	if e.options.OnRun != nil {
		e.options.OnRun(r)
	}
	if r.Outcome == Parked {
		err = worker.Permanent(err)
	}
	return worker.Result{RequeueAfter: result.RequeueAfter}, err
}

// failure says what a failure leads to.
func (e *Engine) failure(j *job, err error) Outcome {
	_, park := errors.AsType[*hook.ParkError](err)
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case park:
		return Parked
	case errors.Is(err, hook.ErrAgain):
		return Again
	case e.options.MaxTries > 0 && j.entry.failures+1 >= e.options.MaxTries:
		return Parked
	}
	return Retried
}

// write writes a run into the ledger.
func (e *Engine) write(j *job, r *Run) {
	now := time.Now()
	e.mu.Lock()
	defer e.mu.Unlock()
	n := j.entry
	changed := n.tries > 0
	e.counts.count(r.Outcome)
	switch r.Outcome {
	case Done, Requeued:
		n.done(now, r.Outcome == Requeued)
	case Interrupted:
		n.unfinished(now)
	default:
		changed = true
		n.failed(now, r.Outcome != Again, r.Err)
		if r.Outcome == Parked {
			n.park(now, len(j.causes))
			e.bury(j.key, n)
		}
	}
	e.ledger.sweep(j.key)
	if changed {
		e.saver.touch()
	}
}

// maxGone bounds the parked keys of deleted objects that are remembered.
const maxGone = 1000

// bury remembers a parked key whose object will not change any more. The caller
// holds mu.
func (e *Engine) bury(k Key, n *entry) {
	if n.object == nil && len(e.gone) < maxGone {
		e.gone[k] = n.trouble(k)
	}
}

// TimeoutError is the error of a run that took too long.
type TimeoutError struct{ After time.Duration }

// Error implements error.
func (e *TimeoutError) Error() string { return "timed out after " + e.After.String() }
