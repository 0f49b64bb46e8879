package engine

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Summary is what an engine has done, and what is left.
type Summary struct {
	// Runs that have ended, by outcome. Parked counts runs; ParkedKeys has the keys.
	Runs, Done, Requeued, Again, Retried, Parked, Interrupted int
	// ParkedKeys are left alone until they change, FailingKeys wait to be tried again.
	// Both are in the order of their keys.
	ParkedKeys, FailingKeys []Trouble
}

// Trouble is a key whose last run did not go well.
type Trouble struct {
	Key   Key
	Tries int
	Err   string
	Since time.Time // of a parked key
}

// Clean tells whether the last run of every key went well.
func (s *Summary) Clean() bool {
	return len(s.ParkedKeys) == 0 && len(s.FailingKeys) == 0 && s.Interrupted == 0
}

func (s *Summary) count(o Outcome) {
	s.Runs++
	switch o {
	case Done:
		s.Done++
	case Requeued:
		s.Requeued++
	case Again:
		s.Again++
	case Retried:
		s.Retried++
	case Parked:
		s.Parked++
	case Interrupted:
		s.Interrupted++
	}
}

func (e *Engine) summary() Summary {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.counts
	s.ParkedKeys = slices.Collect(maps.Values(e.gone))
	for k, n := range e.ledger.entries {
		switch {
		case n.parked != nil:
			s.ParkedKeys = append(s.ParkedKeys, n.trouble(k))
		case n.tries > 0:
			s.FailingKeys = append(s.FailingKeys, n.trouble(k))
		}
	}
	byKey := func(a, b Trouble) int { return cmp.Compare(a.Key.String(), b.Key.String()) }
	slices.SortFunc(s.ParkedKeys, byKey)
	slices.SortFunc(s.FailingKeys, byKey)
	return s
}

// trouble is what the summary says of a key.
func (n *entry) trouble(k Key) Trouble {
	t := Trouble{Key: k, Tries: n.tries, Err: n.err}
	if n.parked != nil {
		t.Since = n.parked.since
	}
	return t
}
