package kube

import (
	"context"
	"sync"

	"github.com/gocampus/hark/informer"
	"github.com/gocampus/hark/store"
	"github.com/gocampus/hark/wire"
)

// Shared is one user's hold on a shared informer. It is safe for concurrent use.
type Shared struct {
	set   *Informers
	entry *entry

	mu       sync.Mutex
	released bool
	handlers []*informer.Registration
}

// String says what is listened to: pods in namespace "default" (v1).
func (s *Shared) String() string { return s.entry.name }

// Kind returns the kind that is listened to.
func (s *Shared) Kind() Kind { return s.entry.key.kind }

// Store returns the local copy, for reading. After Release it may be out of date.
func (s *Shared) Store() *store.Store { return s.entry.informer.Store() }

// Observe lets reads of the Store, of all users, see at once what was just
// written. See informer.Informer.Observe, and Encode for the answer of a typed
// client.
func (s *Shared) Observe(object *wire.Object) bool { return s.entry.informer.Observe(object) }

// Handle registers a handler, which Release closes. See informer.Informer.Handle.
// It returns informer.ErrStopped after Release and after the set has stopped.
func (s *Shared) Handle(handle func(informer.Event), o informer.HandlerOptions) (*informer.Registration, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.released {
		return nil, informer.ErrStopped
	}
	registration, err := s.entry.informer.Handle(handle, o)
	if err == nil {
		s.handlers = append(s.handlers, registration)
	}
	return registration, err
}

// Synced is closed when the store has held one complete state.
func (s *Shared) Synced() <-chan struct{} { return s.entry.informer.Synced() }

// Done is closed when the informer will not run any more: the set has stopped, or
// the last user has released it.
func (s *Shared) Done() <-chan struct{} { return s.entry.ended }

// WaitSync blocks until Synced. When ctx ends first the error names the kind
// and the reason. It returns informer.ErrStopped, wrapped, when the informer
// ended before.
func (s *Shared) WaitSync(ctx context.Context) error { return s.entry.waitSync(ctx) }

// Status returns the informer's state, with the handlers of all its users.
func (s *Shared) Status() informer.Status { return s.entry.informer.Status() }

// Release closes the handlers registered here and gives the informer back,
// which ends it if nobody else uses it. It waits for calls of these handlers
// that are in flight, unless it is called from within one. It may be called more
// than once.
func (s *Shared) Release() {
	s.mu.Lock()
	first := !s.released
	s.released = true
	handlers := s.handlers
	s.handlers = nil
	s.mu.Unlock()
	for _, handler := range handlers {
		handler.Close()
	}
	if first {
		s.set.release(s.entry)
	}
}
