package worker

import (
	"slices"
	"time"
)

// Run is a run that has ended.
type Run[T comparable] struct {
	Item     T
	Started  time.Time
	Duration time.Duration
	// Tries is the number of runs since the last success, this one included.
	Tries   int
	Result  Result
	Err     error
	Outcome Outcome
	// Overrun: it went on for longer than Options.Timeout and Options.Grace.
	Overrun bool
}

// Running is a run under way.
type Running[T comparable] struct {
	Item    T
	Started time.Time
	// Overrun: it goes on for longer than Options.Timeout and Options.Grace.
	Overrun bool
}

// Stats counts what has happened since New, and what is there now.
type Stats[T comparable] struct {
	// Runs that have ended, by outcome.
	Runs, Succeeded, Requeued, Retried, Parked, Interrupted uint64
	// Failures counts runs that ended with an error, whatever the outcome;
	// Panics, Goexits and Timeouts those of them that ended so.
	Failures, Panics, Goexits, Timeouts uint64
	// Overruns counts runs that went on after Options.Timeout and Options.Grace.
	Overruns uint64
	// ParkedDropped counts parked items that Options.MaxParked took off the list.
	ParkedDropped uint64

	// ParkedNow is the number of parked items.
	ParkedNow int
	// Running are the runs under way, the oldest first.
	Running []Running[T]
}

// Stats returns the counts.
func (p *Pool[T]) Stats() Stats[T] {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.stats
	s.ParkedNow = p.parking.order.Len()
	for r := range p.workers {
		if r.busy {
			s.Running = append(s.Running, r.Running)
		}
	}
	slices.SortFunc(s.Running, func(a, b Running[T]) int { return a.Started.Compare(b.Started) })
	return s
}

func (s *Stats[T]) count(outcome Outcome, e *ending) {
	s.Runs++
	switch outcome {
	case Succeeded:
		s.Succeeded++
	case Requeued:
		s.Requeued++
	case Retried:
		s.Retried++
	case Parked:
		s.Parked++
	case Interrupted:
		s.Interrupted++
	}
	s.Failures += one(e.err != nil)
	s.Panics += one(e.panicked)
	s.Goexits += one(e.goexit)
	s.Timeouts += one(e.timeout)
}

func one(yes bool) uint64 {
	if yes {
		return 1
	}
	return 0
}
