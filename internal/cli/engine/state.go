package engine

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/gocampus/hark/internal/sleep"
	"github.com/gocampus/hark/key"
	"github.com/gocampus/hark/watch"
)

// State is what outlives an engine: the keys whose last run did not go well.
type State struct{ Keys []Kept }

// Kept is what is kept of one key.
type Kept struct {
	Resource  string `json:"resource"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// ResourceVersion of the newest state when it was written.
	ResourceVersion string `json:"resourceVersion,omitempty"`
	// Tries since the last success, and those of them that were failures.
	Tries    int    `json:"tries"`
	Failures int    `json:"failures,omitempty"`
	Error    string `json:"error,omitempty"`
	// Parked is since when the key is left alone; zero for one that is tried again.
	Parked time.Time `json:"parked,omitzero"`
}

// byKey is the state as a map; nil has none.
func (s *State) byKey() map[Key]Kept {
	keys := map[Key]Kept{}
	if s != nil {
		for _, kept := range s.Keys {
			keys[Key{kept.Resource, key.Key{Namespace: kept.Namespace, Name: kept.Name}}] = kept
		}
	}
	return keys
}

// maxRestored bounds the failures that are counted again for the backoff: it has
// reached its highest pause long before.
const maxRestored = 32

// kept is what an earlier engine knew of an object that existed, once. The caller
// holds mu.
func (e *Engine) kept(k Key, event *Event) (Kept, bool) {
	kept, ok := e.owed[k]
	if !ok || event.Cause != watch.CauseInitial {
		return Kept{}, false
	}
	delete(e.owed, k)
	return kept, true
}

// restore takes in what an earlier engine knew of the object, and tells whether it
// stays parked: it has not changed since, or not so that it matters.
func (n *entry) restore(kept Kept, event *Event, matches bool) (parked bool) {
	unchanged := !matches || event.New != nil && event.New.ResourceVersion() == kept.ResourceVersion
	switch {
	case kept.Parked.IsZero():
		n.tries, n.failures, n.err = kept.Tries, kept.Failures, kept.Error
	case unchanged:
		n.tries, n.failures, n.err = kept.Tries, kept.Failures, kept.Error
		n.parked = &parking{since: kept.Parked}
	}
	return n.parked != nil
}

// state is what is to be kept now, in the order of keys.
func (e *Engine) state() *State {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := &State{Keys: []Kept{}}
	for k, n := range e.ledger.entries {
		if n.parked == nil && n.tries == 0 || n.object == nil {
			continue // what is deleted will not be told again
		}
		kept := Kept{
			Resource: k.Resource, Namespace: k.Namespace, Name: k.Name, ResourceVersion: n.object.ResourceVersion(),
			Tries: n.tries, Failures: n.failures, Error: n.err,
		}
		if n.parked != nil {
			kept.Parked = n.parked.since
		}
		s.Keys = append(s.Keys, kept)
	}
	for _, kept := range e.owed { // not told yet
		s.Keys = append(s.Keys, kept)
	}
	slices.SortFunc(s.Keys, func(a, b Kept) int {
		return cmp.Or(cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return s
}

// saver saves the state some time after it has changed.
type saver struct {
	save    func(*State) error
	failed  func(error)
	changed chan struct{} // room for one
}

// savePause is how long changes of the state are collected.
const savePause = time.Second

// touch says that the state has changed. It does not block.
func (s *saver) touch() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// run saves until ctx ends.
func (s *saver) run(ctx context.Context, state func() *State) {
	for {
		select {
		case <-s.changed:
		case <-ctx.Done():
			return
		}
		if sleep.For(ctx, savePause) != nil {
			return
		}
		if err := s.save(state()); err != nil {
			if s.failed != nil {
				s.failed(err)
			}
			s.touch()
		}
	}
}
