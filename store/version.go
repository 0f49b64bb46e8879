package store

import (
	"context"
	"fmt"
	"strconv"
	"sync"
)

// versions is the version that a store has reached, and who waits for one.
type versions struct {
	mu      sync.Mutex
	text    string
	number  uint64
	waiting map[*waiter]struct{}
}

type waiter struct {
	number uint64
	done   chan struct{}
}

// advance moves to a version. It may go back: a server that lost its history
// counts anew.
func (v *versions) advance(text string, number uint64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.text, v.number = text, number
	for w := range v.waiting {
		if w.number <= number {
			close(w.done)
			delete(v.waiting, w)
		}
	}
}

// parseVersion is 0 for a version that is no integer.
func parseVersion(text string) uint64 {
	number, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0
	}
	return number
}

// Version returns the resourceVersion up to which every change is in the store:
// "" before the first complete list.
func (s *Store) Version() string {
	s.versions.mu.Lock()
	defer s.versions.mu.Unlock()
	return s.versions.text
}

// WaitVersion blocks until every change up to resourceVersion is in the store,
// so that a controller can read its own write. Events and bookmarks both move
// the store's version. It returns the cause of ctx when that ends first, and an
// error at once when resourceVersion is not an integer and so cannot be
// compared.
func (s *Store) WaitVersion(ctx context.Context, resourceVersion string) error {
	number, err := strconv.ParseUint(resourceVersion, 10, 64)
	if err != nil {
		return fmt.Errorf("store: resourceVersion %q cannot be waited for: %w", resourceVersion, err)
	}
	w := s.versions.wait(number)
	if w == nil {
		return nil
	}
	select {
	case <-w.done:
		return nil
	case <-ctx.Done():
		s.versions.forget(w)
		return context.Cause(ctx)
	}
}

// wait returns nil when the version has been reached.
func (v *versions) wait(number uint64) *waiter {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.number >= number && v.text != "" {
		return nil
	}
	w := &waiter{number: number, done: make(chan struct{})}
	if v.waiting == nil {
		v.waiting = map[*waiter]struct{}{}
	}
	v.waiting[w] = struct{}{}
	return w
}

func (v *versions) forget(w *waiter) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.waiting, w)
}
