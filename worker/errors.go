package worker

import (
	"errors"
	"fmt"
	"strings"
)

var (
	// ErrRunning is returned by Run when the pool is running already.
	ErrRunning = errors.New("worker: the pool is running already")
	// ErrTimeout is wrapped by the cause of a run's context that ended because
	// of Options.Timeout, and by the error of such a run.
	ErrTimeout = errors.New("worker: the run exceeded its timeout")
	// ErrDrainTimeout is the cause of a run's context that ended because the
	// pool's context did and Options.DrainTimeout had passed.
	ErrDrainTimeout = errors.New("worker: the pool stopped and the drain timed out")
	// ErrGoexit is the error of a run that ended its goroutine with runtime.Goexit.
	ErrGoexit = errors.New("worker: the run called runtime.Goexit")
)

// PermanentError marks an error that no retry will cure.
type PermanentError struct{ Err error }

// Permanent marks err as one that no retry will cure: the item is parked.
// Permanent(nil) is nil.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &PermanentError{err}
}

// Error implements error.
func (e *PermanentError) Error() string { return e.Err.Error() }

// Unwrap returns the marked error.
func (e *PermanentError) Unwrap() error { return e.Err }

// PanicError is the error of a run that panicked.
type PanicError struct {
	// Value given to panic.
	Value any
	// Stack of the goroutine, as debug.Stack returns it.
	Stack []byte
}

// Error implements error. It does not contain the stack.
func (e *PanicError) Error() string { return fmt.Sprintf("worker: the run panicked: %v", e.Value) }

// Unwrap returns the value given to panic if it was an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// DrainError is returned by Run when it ended with work undone.
type DrainError[T comparable] struct {
	// Left are the items that were not done: their runs were interrupted or
	// abandoned, or failed when the queue was shut down already, so that there is no
	// retry; and with Options.DrainQueued those whose run never came.
	Left []T
	// TimedOut: Options.DrainTimeout passed.
	TimedOut bool
}

// maxNamed bounds the items that the text of a DrainError names.
const maxNamed = 10

// Error implements error.
func (e *DrainError[T]) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "worker: stopped with %d undone:", len(e.Left))
	for i, item := range e.Left {
		if i == maxNamed {
			fmt.Fprintf(&b, " and %d more", len(e.Left)-maxNamed)
			break
		}
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, " %v", item)
	}
	return b.String()
}

// Unwrap returns ErrDrainTimeout if the drain timed out.
func (e *DrainError[T]) Unwrap() error {
	if e.TimedOut {
		return ErrDrainTimeout
	}
	return nil
}
