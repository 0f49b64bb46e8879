package worker

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"
)

// run is one call of the function. The pool's mutex guards it.
type run[T comparable] struct{ Running[T] }

// handle runs one item and settles it with the queue, however the run ends.
func (p *Pool[T]) handle(runs context.Context, s *session[T], item T) {
	r := p.start(item)
	e := ending{err: ErrGoexit} // until the function has returned
	defer func() {
		e.interrupted = runs.Err() != nil
		p.observe(p.finish(s, r, &e))
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

func (p *Pool[T]) start(item T) *run[T] {
	r := &run[T]{Running[T]{Item: item, Started: time.Now()}}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running[r] = struct{}{}
	p.parking.remove(item)
	return r
}

// call calls the function. A panic becomes an error; so does one in the methods
// of the error that it returned.
func (p *Pool[T]) call(ctx context.Context, item T, e *ending) {
	returned := false
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
	cause := fmt.Errorf("%w of %v", ErrTimeout, p.options.Timeout)
	ctx, cancel := context.WithTimeoutCause(parent, p.options.Timeout, cause)
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

// finish decides what becomes of the item, tells the queue, and calls Done.
func (p *Pool[T]) finish(s *session[T], r *run[T], e *ending) Run[T] {
	defer p.queue.Done(r.Item)
	e.tries = p.queue.NumRequeues(r.Item) + 1
	done := Run[T]{
		Item:     r.Item,
		Started:  r.Started,
		Duration: time.Since(r.Started),
		Tries:    e.tries,
		Result:   e.result,
		Err:      e.err,
		Outcome:  e.outcome(p.options.MaxTries),
	}
	p.settle(r.Item, e, done.Outcome)
	s.note(r.Item, done.Outcome)
	p.count(r, e, &done)
	return done
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
		p.queue.Add(item)
	}
}

// count takes the run off the list of those under way and into the stats.
func (p *Pool[T]) count(r *run[T], e *ending, done *Run[T]) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.running, r)
	done.Overrun = r.Overrun
	p.stats.count(done.Outcome, e)
	if done.Outcome == Parked {
		parked := ParkedItem[T]{Item: done.Item, Err: done.Err, Tries: done.Tries, Since: done.Started.Add(done.Duration)}
		if p.parking.add(parked, p.options.MaxParked) {
			p.stats.ParkedDropped++
		}
	}
}

func (p *Pool[T]) observe(done Run[T]) {
	if p.options.OnEnd != nil {
		p.options.OnEnd(done)
	}
}
