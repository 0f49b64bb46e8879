package fault

import (
	"slices"
	"sync"
)

// Set holds the rules in force. It is safe for concurrent use.
type Set struct {
	mu    sync.Mutex // guards what follows, and the counts in the rules
	rules []*injected
	met   int
}

// injected is a rule in force.
type injected struct {
	Rule
	skip, left int
	lifted     chan struct{}
}

// Effect is a rule that applies to a request.
type Effect struct {
	Rule
	lifted <-chan struct{}
}

// Lifted is closed when the rule is lifted, not when it has been used up.
func (e *Effect) Lifted() <-chan struct{} { return e.lifted }

// Inject puts a rule in force. lift ends it; calling it again does nothing.
func (s *Set) Inject(r Rule) (lift func()) {
	in := &injected{Rule: r, skip: r.Skip, left: r.Times, lifted: make(chan struct{})}
	s.mu.Lock()
	s.rules = append(s.rules, in)
	s.mu.Unlock()
	return sync.OnceFunc(func() {
		s.mu.Lock()
		s.rules = slices.DeleteFunc(s.rules, func(other *injected) bool { return other == in })
		s.mu.Unlock()
		close(in.lifted)
	})
}

// Match returns the effects for a request, the oldest rule first, and counts it
// in the rules that apply.
func (s *Set) Match(q Request) []Effect {
	s.mu.Lock()
	defer s.mu.Unlock()
	var effects []Effect
	for _, in := range s.rules {
		if !in.matches(q) || in.Times > 0 && in.left == 0 {
			continue
		}
		if in.skip > 0 {
			in.skip--
			continue
		}
		if in.Times > 0 {
			in.left--
		}
		effects = append(effects, Effect{Rule: in.Rule, lifted: in.lifted})
	}
	s.met += len(effects)
	return effects
}

// Met returns how many requests rules have been applied to, a request counting
// once for each of its rules.
func (s *Set) Met() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.met
}
