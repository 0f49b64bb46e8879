package worker

import (
	"errors"
	"fmt"
	"time"
)

// Result is what a successful run asks for. The zero Result asks for nothing.
type Result struct {
	// RequeueAfter makes the item run again after that time, or earlier if it
	// is added earlier; 0 or less means that it does not. It is ignored when
	// the run returns an error.
	RequeueAfter time.Duration
}

// Outcome is what became of an item after a run.
type Outcome uint8

const (
	// Succeeded: done, its failures are forgotten.
	Succeeded Outcome = iota + 1
	// Requeued: succeeded, and runs again after Result.RequeueAfter.
	Requeued
	// Retried: failed, and runs again after the queue's backoff, unless the queue is shut down.
	Retried
	// Parked: failed for good.
	Parked
	// Interrupted: failed after the pool had ended the run's context because it stops; it
	// is queued again and the failure does not count.
	Interrupted
)

var outcomeNames = [...]string{"unknown", "succeeded", "requeued", "retried", "parked", "interrupted"}

// String returns the outcome in one lower-case word.
func (o Outcome) String() string {
	if int(o) >= len(outcomeNames) {
		o = 0
	}
	return outcomeNames[o]
}

// MarshalText implements encoding.TextMarshaler.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// ending is how a run ended.
type ending struct {
	result                    Result
	err                       error
	permanent                 bool // err is, or wraps, a *PermanentError
	panicked, goexit, timeout bool // what err comes from
	interrupted               bool // the pool had ended all contexts
	late                      bool // the run's own timeout had ended its context before
}

// classify looks at what a function returned, and at the cause of its context's
// end. It calls methods of the error, which may be anybody's code.
func classify(result Result, err, cause error) ending {
	if err == nil {
		return ending{result: result}
	}
	e := ending{err: err, timeout: errors.Is(cause, ErrTimeout)}
	if e.timeout && !errors.Is(err, ErrTimeout) {
		e.err = fmt.Errorf("%w: %w", cause, err)
	}
	_, e.permanent = errors.AsType[*PermanentError](err)
	_ = err.Error() // asked for later, where a panic would hurt
	return e
}

// outcome decides what becomes of the item; tries includes this run.
func (e *ending) outcome(tries, maxTries int) Outcome {
	switch {
	case e.err == nil && e.result.RequeueAfter > 0:
		return Requeued
	case e.err == nil:
		return Succeeded
	case e.permanent:
		return Parked
	case e.interrupted && !e.late:
		return Interrupted
	case maxTries > 0 && tries >= maxTries:
		return Parked
	}
	return Retried
}
