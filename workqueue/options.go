package workqueue

import "time"

// Options of a queue. The zero value is ready to use.
type Options[T comparable] struct {
	// Backoff of AddRateLimited; its zero value means 10 ms, doubled up to
	// 1000 s, without jitter.
	Backoff Backoff
	// Lane names the lane of an item, such as its namespace. Items of one
	// priority are delivered lane by lane in turn. It must always name the same
	// lane for the same item, and be safe for concurrent use; it is called
	// without a lock held. Nil, the default, means no lanes.
	Lane func(item T) string
	// Aging is how long an item may be queued before it is given a turn ahead
	// of items of a higher priority: every second turn goes to the oldest such
	// item. 0 or less means DefaultAging. It matters only where priorities
	// differ; without Times or Lane it counts at the latest from the first time they do.
	Aging time.Duration
	// MaxFailures bounds the idle items whose failure count is kept, and the
	// items whose last error is kept; 0 or less means DefaultMaxFailures. See
	// the package documentation for what is never lost.
	MaxFailures int
	// Times keeps for each item since when it is queued and when its run
	// started, for Snapshot and Delivery. The default does not, where nothing
	// else needs the clock: reading it twice doubles the cost of an
	// Add, Get and Done. With lanes or priorities the times are always there.
	Times bool
	// OnMisuse is called for a Done of an item that is not being processed and
	// for an item that does not equal itself. It runs in the goroutine of the
	// caller, without a lock held. Nil, the default, means that Stats.Misused
	// alone tells.
	OnMisuse func(item T)
}

// Defaults of Options.
const (
	DefaultAging       = 10 * time.Second
	DefaultMaxFailures = 4096
)

func (o Options[T]) withDefaults() Options[T] {
	o.Backoff = o.Backoff.withDefaults()
	if o.Aging <= 0 {
		o.Aging = DefaultAging
	}
	if o.MaxFailures <= 0 {
		o.MaxFailures = DefaultMaxFailures
	}
	return o
}
