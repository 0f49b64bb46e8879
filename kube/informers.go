package kube

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/gocampus/hark/informer"
	"github.com/gocampus/hark/wire"
)

// InformersOptions of a set. The zero value is ready to use.
type InformersOptions struct {
	// Configure returns the options of the informer for a kind, which all its
	// users share: indexes, how to list and watch and to keep objects, what to do on
	// a panic. It is
	// called for each new informer. Nil means zero Options.
	Configure func(Kind, SourceOptions) informer.Options
}

// ErrSetStopped is returned when a set is used after its Run has ended.
var ErrSetStopped = errors.New("kube: the set of informers has stopped")

// errUnused is the cause with which an informer ends that nobody uses.
var errUnused = errors.New("kube: the informer's last user has released it")

// Informers is a set of informers that are shared: whoever asks for the same
// kind, namespace and selectors gets the same one, with one list and one watch
// on the server. It is safe for concurrent use.
//
// An informer runs while the set runs and somebody uses it. When its last user
// has released it, it ends and is forgotten; asking again gives a new one that
// lists anew. Informers do not wait for one another: one that cannot list, for
// whatever reason, leaves the others alone.
type Informers struct {
	client  *Client
	options InformersOptions

	mu      sync.Mutex
	entries map[shareKey]*entry
	launch  func(*entry) // set by Run; the caller holds mu
	stopped bool
	running sync.WaitGroup
}

// shareKey is what makes two wishes the same.
type shareKey struct {
	kind    Kind
	options SourceOptions
}

// entry is one shared informer.
type entry struct {
	key      shareKey
	name     string
	informer *informer.Informer
	ended    chan struct{} // closed when it will not run any more

	// Guarded by Informers.mu.
	users int
	stop  context.CancelCauseFunc // nil before it runs
}

// NewInformers returns an empty set. Nothing is sent before Run.
func NewInformers(client *Client, o InformersOptions) *Informers {
	return &Informers{client: client, options: o, entries: map[shareKey]*entry{}}
}

// Run runs the informers that are in use, and those that come into use, until
// ctx ends. It returns the cause of ctx when all of them have ended. A set runs
// once: a second Run returns ErrSetStopped, or panics while the first one runs.
func (s *Informers) Run(ctx context.Context) error {
	if err := s.start(ctx); err != nil {
		return err
	}
	<-ctx.Done()
	s.end()
	s.running.Wait()
	return context.Cause(ctx)
}

func (s *Informers) start(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.stopped:
		return ErrSetStopped
	case s.launch != nil:
		panic("kube: Informers.Run called twice")
	}
	s.launch = func(e *entry) {
		informerCtx, stop := context.WithCancelCause(ctx)
		e.stop = stop
		s.running.Go(func() {
			defer stop(nil)
			_ = e.informer.Run(informerCtx) // the cause with which we ended it
		})
	}
	for _, e := range s.entries {
		s.launch(e)
	}
	return nil
}

// end leaves nothing that could start any more.
func (s *Informers) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
	for _, e := range s.entries {
		close(e.ended)
	}
	clear(s.entries)
}

// Acquire returns the informer for a kind and a choice of its objects. The
// caller releases it when it is done. Label selectors that differ only in the
// order of their requirements are the same. It returns ErrSetStopped after Run
// has ended.
func (s *Informers) Acquire(kind Kind, o SourceOptions) (*Shared, error) {
	key := shareKey{kind, canonical(kind, o)}
	shared, err := s.join(key, nil)
	if shared == nil && err == nil {
		shared, err = s.join(key, s.newEntry(key))
	}
	return shared, err
}

// join counts a user in. Where there is no entry fresh becomes it; without a
// fresh one there is no result: entries are made outside of the lock, because
// Configure is the user's code.
func (s *Informers) join(key shareKey, fresh *entry) (*Shared, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return nil, ErrSetStopped
	}
	e, ok := s.entries[key]
	if !ok {
		if fresh == nil {
			return nil, nil
		}
		e = fresh
		s.entries[key] = e
		if s.launch != nil {
			s.launch(e)
		}
	}
	e.users++
	return &Shared{set: s, entry: e}, nil
}

func (s *Informers) newEntry(key shareKey) *entry {
	var o informer.Options
	if s.options.Configure != nil {
		o = s.options.Configure(key.kind, key.options)
	}
	source := s.client.Source(key.kind, key.options)
	return &entry{
		key:      key,
		name:     fmt.Sprintf("%s (%s)", source, key.kind.GVR.GroupVersion()),
		informer: informer.New(source, o),
		ended:    make(chan struct{}),
	}
}

// canonical brings options that mean the same into the same form.
func canonical(kind Kind, o SourceOptions) SourceOptions {
	if !kind.Namespaced {
		o.Namespace = ""
	}
	o.MaxObject = cmp.Or(o.MaxObject, wire.DefaultMaxObject)
	// One that does not parse is the server's to refuse.
	if selector, err := labels.Parse(o.LabelSelector); err == nil {
		o.LabelSelector = selector.String()
	}
	return o
}

// release counts a user out and ends the informer after the last one.
func (s *Informers) release(e *entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e.users--
	if e.users > 0 || s.entries[e.key] != e {
		return
	}
	delete(s.entries, e.key)
	close(e.ended)
	if e.stop != nil {
		e.stop(errUnused)
	}
}

// WaitSync blocks until each informer that is in use at the call has held one
// complete state. When ctx ends first the error names every one that has not,
// with its API version and the reason, such as that listing is forbidden.
func (s *Informers) WaitSync(ctx context.Context) error {
	var all []error
	for _, e := range s.list() {
		all = append(all, e.waitSync(ctx))
	}
	return errors.Join(all...)
}

// list returns the entries in the order of their names.
func (s *Informers) list() []*entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]*entry, 0, len(s.entries))
	for _, e := range s.entries {
		list = append(list, e)
	}
	slices.SortFunc(list, func(a, b *entry) int { return cmp.Compare(a.name, b.name) })
	return list
}

func (e *entry) waitSync(ctx context.Context) error {
	select {
	case <-e.informer.Synced():
	case <-e.ended:
	case <-ctx.Done():
	}
	// Several may be so at once: that it ended counts most, ctx least.
	switch {
	case isClosed(e.ended):
		return fmt.Errorf("%s: %w", e.name, informer.ErrStopped)
	case isClosed(e.informer.Synced()):
		return nil
	}
	if err := e.informer.WaitSync(ctx); err != nil {
		return fmt.Errorf("%s: %w", e.name, err)
	}
	return nil
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// SharedStatus is what a set shows of one informer: plain data, a copy.
type SharedStatus struct {
	Kind    Kind
	Options SourceOptions
	Users   int
	informer.Status
}

// Status returns the state of each informer in use.
func (s *Informers) Status() []SharedStatus {
	var all []SharedStatus
	for _, e := range s.list() {
		s.mu.Lock()
		users := e.users
		s.mu.Unlock()
		all = append(all, SharedStatus{Kind: e.key.kind, Options: e.key.options, Users: users, Status: e.informer.Status()})
	}
	return all
}
