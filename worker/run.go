package worker

import (
	"context"
	"errors"
	"runtime/debug"
	"time"
)

// run is the place of a worker in the list of those under way. The pool's mutex
// guards it.
type run[T comparable] struct {
	Running[T]
	busy  bool // there is a run
	again bool // the item was delivered once more meanwhile
}

// handle runs one item and settles it with the queue, however the run ends.
func (p *Pool[T]) handle(runs context.Context, s *session[T], r *run[T], item T) {
	if !p.start(r, item) {
		return
	}
	e := ending{err: ErrGoexit} // until the function has returned
	defer func() {
		e.interrupted = runs.Err() != nil
		p.finish(s, r, &e)
	}()
	if p.options.OnStart != nil {
		p.options.OnStart(item)
	}
	if p.options.Timeout > 0 {
		p.callTimed(runs, r, &e)
	} else {
		p.call(runs, item, &e)
	}
}

// start puts a run on the list of those under way. It refuses an item that runs
// already, which the queue delivers only if somebody else than the pool, such as
// the function, has called Done: the item is run again when its run has ended.
func (p *Pool[T]) start(r *run[T], item T) bool {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	for other := range p.workers {
		if other.busy && other.Item == item {
			other.again = true
			return false
		}
	}
	r.Running = Running[T]{Item: item, Started: now}
	r.busy = true
	p.parking.remove(item)
	return true
}

// call calls the function. A panic becomes an error; so does one in the methods
// of the error that it returned.
func (p *Pool[T]) call(ctx context.Context, item T, e *ending) {
	returned := false
	defer func() {
		e.late = errors.Is(context.Cause(ctx), ErrTimeout)
	}()
	defer func() {
		if returned {
			return
		}
		if value := recover(); value != nil {
			*e = ending{err: &PanicError{Value: value, Stack: debug.Stack()}, panicked: true}
			return
		}
		e.goexit = true
	}()
	result, err := p.fn(ctx, item)
	*e = classify(result, err, context.Cause(ctx))
	returned = true
}

// callTimed calls the function with a timeout.
func (p *Pool[T]) callTimed(parent context.Context, r *run[T], e *ending) {
	ctx, cancel := context.WithTimeoutCause(parent, p.options.Timeout, p.timeout)
	defer cancel()
	reported := make(chan struct{})
	watch := time.AfterFunc(p.options.Timeout+p.options.Grace, func() {
		defer close(reported)
		p.overrun(r)
	})
	defer func() {
		if !watch.Stop() {
			<-reported
		}
	}()
	p.call(ctx, r.Item, e)
}

// overrun reports a run that ignores the end of its context.
func (p *Pool[T]) overrun(r *run[T]) {
	p.mu.Lock()
	r.Overrun = true
	p.stats.Overruns++
	running := r.Running
	p.mu.Unlock()
	if p.options.OnOverrun != nil {
		p.options.OnOverrun(running)
	}
}

// finish decides what becomes of the item, and tells the queue, the stats and
// the observer. Done comes last of what the queue is told.
func (p *Pool[T]) finish(s *session[T], r *run[T], e *ending) {
	done := Run[T]{Item: r.Item, Started: r.Started, Duration: time.Since(r.Started), Result: e.result, Err: e.err}
	if e.err != nil || p.options.OnEnd != nil {
		done.Tries = p.queue.NumRequeues(done.Item) + 1
	}
	done.Outcome = e.outcome(done.Tries, p.options.MaxTries)
	p.settle(done.Item, e, done.Outcome)
	s.note(done.Item, done.Outcome == Interrupted || done.Outcome == Retried && p.queue.ShuttingDown())
	if again := p.count(r, e, &done); again {
		p.queue.Add(done.Item)
	}
	p.queue.Done(done.Item)
	if p.options.OnEnd != nil {
		p.options.OnEnd(done)
	}
}

// settle tells the queue what becomes of the item.
func (p *Pool[T]) settle(item T, e *ending, outcome Outcome) {
	switch outcome {
	case Succeeded:
		p.queue.Forget(item)
	case Requeued:
		p.queue.Forget(item)
		p.queue.AddAfter(item, e.result.RequeueAfter)
	case Retried:
		p.queue.RecordError(item, e.err)
		p.queue.AddRateLimited(item)
	case Parked:
		p.queue.Forget(item)
	case Interrupted:
		p.queue.AddAfter(item, 0) // which keeps the priority of the run, where Add does not
	}
}

// count takes the run off the list of those under way and into the stats. It tells
// whether the item was delivered once more meanwhile.
func (p *Pool[T]) count(r *run[T], e *ending, done *Run[T]) (again bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	done.Overrun, again = r.Overrun, r.again
	*r = run[T]{}
	p.stats.count(done.Outcome, e)
	if done.Outcome != Parked {
		return again
	}
	parked := ParkedItem[T]{Item: done.Item, Err: done.Err, Tries: done.Tries, Since: done.Started.Add(done.Duration)}
	if p.parking.add(parked, p.options.MaxParked) {
		p.stats.ParkedDropped++
	}
	return again
}
