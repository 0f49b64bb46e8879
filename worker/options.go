package worker

import "time"

// Options of a pool. The zero value is ready to use.
type Options[T comparable] struct {
	// Workers is the number of runs at a time; 0 or less means DefaultWorkers.
	Workers int
	// Timeout ends the context of a run; 0 or less, the default, means none. A
	// run that goes on regardless keeps its worker and its item; once Grace has
	// passed too it is reported as an overrun.
	Timeout time.Duration
	// Grace is how long a run may go on after Timeout before it is an overrun;
	// 0 or less means DefaultGrace.
	Grace time.Duration
	// MaxTries is the number of runs in a row that may fail before the item is
	// parked; 0 or less, the default, means no limit.
	MaxTries int
	// MaxParked bounds the list of parked items; 0 or less means
	// DefaultMaxParked. The oldest goes when there are too many; that is
	// counted, and the item runs again only when it is added again.
	MaxParked int
	// DrainTimeout is how long runs may go on after the pool's context has
	// ended; 0 means DefaultDrainTimeout, less means not at all.
	DrainTimeout time.Duration
	// DrainQueued makes the pool shut the queue down when its context ends, and
	// run what is queued, within DrainTimeout. The default leaves the queue
	// open and what is in it to whoever runs it next.
	DrainQueued bool
	// AbandonAfter is how long Run waits, once it has ended their contexts, for
	// runs that ignore that. 0 or less, the default, means until they return.
	// Otherwise Run may return while their goroutines are still there: the items
	// are named in the DrainError and stay in processing.
	AbandonAfter time.Duration

	// OnStart is called before a run, OnEnd after it and after Done, both in the
	// goroutine of the worker: a slow one slows the worker. OnOverrun is called
	// when a run becomes an overrun, in a goroutine of its own. All are called
	// without a lock held, must be safe for concurrent use and not panic, and
	// may be nil.
	OnStart   func(item T)
	OnEnd     func(Run[T])
	OnOverrun func(Running[T])
}

// Defaults of Options.
const (
	DefaultWorkers      = 2
	DefaultGrace        = time.Second
	DefaultMaxParked    = 1024
	DefaultDrainTimeout = 30 * time.Second
)

func (o Options[T]) withDefaults() Options[T] {
	if o.Workers <= 0 {
		o.Workers = DefaultWorkers
	}
	if o.Grace <= 0 {
		o.Grace = DefaultGrace
	}
	if o.MaxParked <= 0 {
		o.MaxParked = DefaultMaxParked
	}
	if o.DrainTimeout == 0 {
		o.DrainTimeout = DefaultDrainTimeout
	}
	return o
}
