package engine

import (
	"context"
	"time"

	"github.com/gocampus/hark/internal/cli/hook"
	"github.com/gocampus/hark/internal/diff"
	"github.com/gocampus/hark/watch"
	"github.com/gocampus/hark/workqueue"
)

// Program does the work for one object. It must be safe for concurrent use, and end
// soon after ctx has.
type Program interface {
	// Run errors: hook.ErrAgain is no failure, a *hook.ParkError parks the key, any
	// other is a failure.
	Run(ctx context.Context, r *hook.Request) (hook.Result, error)
}

// Options of an Engine. Program is required.
type Options struct {
	Program Program
	// Workers is the number of runs at a time; 0 or less means 2.
	Workers int
	// Timeout of a run; 0 means none.
	Timeout time.Duration
	// Grace is how long runs may go on when the engine is to end; 0 means not at
	// all.
	Grace time.Duration
	// MaxTries is how often in a row a key may fail before it is parked; 0 means no
	// limit.
	MaxTries int
	// Backoff after failures; the zero value is 10 ms, doubled up to 1000 s.
	Backoff workqueue.Backoff
	// Debounce puts a run off until a key was quiet for that long, but by no more
	// than ten times that; 0 does not. What existed at the beginning does not wait.
	Debounce time.Duration
	// FairByNamespace makes namespaces take turns.
	FairByNamespace bool
	// On says which types of changes lead to runs; nil means all.
	On map[watch.EventType]bool
	// When says which changes lead to runs, by the state after and before; nil stands
	// for a state that does not exist. Nil means all. An error is told to OnWhenError
	// and counts as no.
	When func(object, old map[string]any) (bool, error)
	// Once ends the engine when what existed at the beginning is done or parked.
	// What programs ask for later is then not done.
	Once bool
	// State of an earlier run, which Save keeps; nil means none.
	State *State
	// Save is told the state when it has changed, at most once a second, and at the
	// end. Nil keeps none. An error is told to OnSaveError, and tried again.
	Save func(*State) error
	// FieldManager is the name under which the program writes. Named says that it
	// does for sure; otherwise that shows with its first write.
	FieldManager string
	Named        bool
	Loop         Loop

	// OnRun is told of each run that has ended, OnLoop of a hot loop when it begins
	// and when it is slowed down further. All are called by workers and feeds, which
	// wait for them, and may be nil.
	OnRun       func(Run)
	OnLoop      func(HotLoop)
	OnWhenError func(Key, error)
	OnSaveError func(error)
}

// Outcome is what became of a key after a run.
type Outcome uint8

const (
	// Done: nothing is left to do.
	Done Outcome = iota + 1
	// Requeued: done, and to be run again after a time.
	Requeued
	// Again: the program asked to be tried again; that is no failure.
	Again
	// Retried: failed, to be tried again.
	Retried
	// Parked: left alone until the object changes.
	Parked
	// Interrupted: broken off because the engine ended.
	Interrupted
)

// Run is a run that has ended.
type Run struct {
	Key     Key
	Attempt int
	Outcome Outcome
	// Err is why, unless it is done.
	Err error
	// Next is the time to the next run, of Requeued, Again and Retried.
	Next time.Duration
}

// HotLoop is a key that is run by its own work over and over.
type HotLoop struct {
	Key     Key
	Request *hook.Request
	// Runs within the time, as it was limited.
	Loop Loop
	// Penalty is what changes of its own wait from now on.
	Penalty time.Duration
	// Sure: managedFields say that the program made the change.
	Sure bool
	// Changes is what the program keeps changing.
	Changes []diff.Change
}
