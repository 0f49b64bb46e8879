package engine

import "time"

// Loop says what a hot loop is: a key that is run more than Runs times within
// Window, each time because of what its run before did. Runs of 0 looks for none.
type Loop struct {
	Runs   int
	Window time.Duration
}

const (
	firstPenalty = time.Second
	// surePenalty and unsurePenalty bound how long a change waits that is the
	// program's own, or that is only taken for it.
	surePenalty   = time.Minute
	unsurePenalty = 8 * time.Second
)

// loop follows the runs of one key. It has no clock.
type loop struct {
	starts  []time.Time   // of the last runs, each caused by the one before
	penalty time.Duration // what the next own change waits; 0 while the key is not hot
}

// run takes in the start of a run and tells whether there is news of a hot loop:
// it has begun, or is slowed down further. own says that the run was caused by the
// one before, sure that managedFields say so.
func (l *loop) run(limit Loop, now time.Time, own, sure bool) (news bool) {
	if !own || limit.Runs <= 0 {
		*l = loop{}
		return false
	}
	highest := unsurePenalty
	if sure {
		highest = surePenalty
	}
	if l.penalty > 0 {
		before := l.penalty
		l.penalty = max(before, min(2*before, highest))
		return l.penalty > before
	}
	l.starts = append(l.starts, now)
	if len(l.starts) <= limit.Runs {
		return false
	}
	if now.Sub(l.starts[0]) <= limit.Window {
		l.starts, l.penalty = nil, firstPenalty
		return true
	}
	l.starts = append(l.starts[:0], l.starts[1:]...)
	return false
}
