package engine

import (
	"context"
	"errors"
	"time"

	"github.com/gocampus/hark/internal/cli/hook"
	"github.com/gocampus/hark/worker"
	"github.com/gocampus/hark/workqueue"
)

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
	if n.object == nil && n.unheard {
		delete(e.ledger.entries, k)
		return nil, false
	}
	if n.parked != nil && !n.owed() { // what it was to be woken for was its own work
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
	if ownWork && sure && j.attempt > 1 {
		return // it is tried again, and what it wrote has not led to that
	}
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
	if r.Outcome == Parked {
		e.disown(j)
	}
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
		if n.held {
			defer e.queue.AddWith(j.key, workqueue.AddOptions{After: max(n.loop.penalty, e.options.Debounce)})
		}
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

// disown drops the changes that came during a run that has parked its key, where all
// of them are its own work. Those that come later find the key parked.
func (e *Engine) disown(j *job) {
	n := j.entry
	e.mu.Lock()
	causes, news, named := append([]cause(nil), n.causes...), n.news, e.named
	e.mu.Unlock()
	decoded := decoder{kind: j.kind}
	for _, c := range causes {
		object, err := decoded.object(c.new)
		old, oldErr := decoded.object(c.old)
		if err != nil || oldErr != nil || judge(old, object, e.options.FieldManager, named) != own {
			return
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if n.news == news {
		n.causes = nil
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
