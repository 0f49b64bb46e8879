package workqueue

import "time"

// The default backoff: 10 ms, 20 ms, 40 ms … 1000 s.
const (
	DefaultBackoffBase = 10 * time.Millisecond
	DefaultBackoffMax  = 1000 * time.Second
)

// Backoff says how long an item waits after its n-th failure in a row: Base,
// doubled with every further failure, up to Max. It depends on the item alone:
// however many items fail, the first retry of each comes after Base.
type Backoff struct {
	// Base is the delay after the first failure; 0 or less means DefaultBackoffBase.
	Base time.Duration
	// Max bounds the delay; 0 or less means DefaultBackoffMax.
	Max time.Duration
	// Jitter is the part of the delay that is random, from 0, the default, to
	// 1: with 0.2 a delay is between 80 % and 100 % of what it would be.
	Jitter float64
}

// Delay returns the delay after the given number of failures in a row, without
// jitter. It never overflows; less than one failure counts as one.
func (b Backoff) Delay(failures int) time.Duration {
	b = b.withDefaults()
	delay := b.Base
	for ; failures > 1 && delay < b.Max; failures-- {
		if delay > b.Max/2 {
			return b.Max
		}
		delay *= 2
	}
	return min(delay, b.Max)
}

// jittered takes the random part off a delay; random is in [0, 1).
func (b Backoff) jittered(delay time.Duration, random float64) time.Duration {
	return delay - time.Duration(float64(delay)*b.Jitter*random)
}

func (b Backoff) withDefaults() Backoff {
	if b.Base <= 0 {
		b.Base = DefaultBackoffBase
	}
	if b.Max <= 0 {
		b.Max = DefaultBackoffMax
	}
	if !(b.Jitter > 0) { // a NaN too
		b.Jitter = 0
	}
	b.Jitter = min(b.Jitter, 1)
	return b
}
