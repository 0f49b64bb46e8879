package mvcc

import (
	"errors"
	"fmt"
	"sync"

	"github.com/gocampus/hark/key"
)

// DefaultHistory is how many past events of each resource a store keeps.
const DefaultHistory = 10_000

// Options of a store.
type Options struct {
	// Start is the version before the first change; default 0.
	Start uint64
	// History is how many past events of each resource are kept; older ones are
	// forgotten. Default DefaultHistory.
	History int
}

// Store keeps the records of any number of resources, which it creates when
// they are first named. It is safe for concurrent use; writes are serialized.
type Store[V Value] struct {
	history int

	mu        sync.RWMutex // guards everything below
	version   uint64
	compacted uint64 // versions below it can neither be listed nor watched from
	epoch     uint64 // counts Rebase calls; cursors of an older one are dead
	tables    map[string]*table[V]
	wake      chan struct{} // closed at the next change of any resource; nil while nobody waits
}

// New returns an empty store.
func New[V Value](o Options) *Store[V] {
	if o.History <= 0 {
		o.History = DefaultHistory
	}
	return &Store[V]{history: o.History, version: o.Start, tables: map[string]*table[V]{}}
}

// ErrConflict is returned by Commit when the key is not at the expected version.
var ErrConflict = errors.New("mvcc: the key is at another version")

// CompactedError is returned when a version is older than the kept window.
type CompactedError struct{ Version, Oldest uint64 }

// Error implements error.
func (e *CompactedError) Error() string {
	return fmt.Sprintf("too old resource version: %d (%d)", e.Version, e.Oldest)
}

// FutureError is returned when the store has not reached a version.
type FutureError struct{ Version, Current uint64 }

// Error implements error.
func (e *FutureError) Error() string {
	return fmt.Sprintf("Too large resource version: %d, current: %d", e.Version, e.Current)
}

// Version returns the version of the newest change.
func (s *Store[V]) Version() uint64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.version
}

// Change is one write.
type Change[V any] struct {
	Resource string
	Key      key.Key
	// Expect is the version that the key must be at; 0 means that it must not
	// exist. Otherwise Commit returns ErrConflict.
	Expect uint64
	// Value is the new state, or for a deletion the last one. The store owns it.
	Value  V
	Delete bool
}

// Commit makes one change under the next version and returns its record.
func (s *Store[V]) Commit(c Change[V]) (*Record[V], error) {
	record, wakes, err := s.commit(c)
	for _, wake := range wakes {
		if wake != nil {
			close(wake)
		}
	}
	return record, err
}

// commit returns the channels to close, once nobody holds the lock.
func (s *Store[V]) commit(c Change[V]) (*Record[V], [2]chan struct{}, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.table(c.Resource)
	prev := t.root.find(c.Key)
	if at := prev.version(); at != c.Expect || (c.Delete && prev == nil) {
		return nil, [2]chan struct{}{}, ErrConflict
	}
	s.version++
	c.Value.Stamp(s.version)
	record := &Record[V]{Key: c.Key, Version: s.version, Value: c.Value}
	wake := s.wake
	s.wake = nil
	return record, [2]chan struct{}{t.apply(prev, record, c.Delete), wake}, nil
}

// Changed returns the version of the newest change and a channel that is closed
// at the next one, of whatever resource.
func (s *Store[V]) Changed() (version uint64, wake <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.wake == nil {
		s.wake = make(chan struct{})
	}
	return s.version, s.wake
}

func (r *Record[V]) version() uint64 {
	if r == nil {
		return 0
	}
	return r.Version
}

// table returns the table of a resource; s.mu is held for writing.
func (s *Store[V]) table(resource string) *table[V] {
	t := s.tables[resource]
	if t == nil {
		t = &table[V]{limit: s.history, floor: 0}
		s.tables[resource] = t
	}
	return t
}

// Get returns the newest record of a key, or nil.
func (s *Store[V]) Get(resource string, k key.Key) *Record[V] {
	return s.Newest(resource).Get(k)
}

// Newest returns the newest state of a resource.
func (s *Store[V]) Newest(resource string) Snapshot[V] {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.newest(resource)
}

func (s *Store[V]) newest(resource string) Snapshot[V] {
	snapshot := Snapshot[V]{Version: s.version}
	if t := s.tables[resource]; t != nil {
		snapshot.root = t.root
	}
	return snapshot
}

// At returns the state of a resource at exactly one version. It fails with a
// *CompactedError or a *FutureError.
func (s *Store[V]) At(resource string, version uint64) (Snapshot[V], error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.reachable(resource, version); err != nil {
		return Snapshot[V]{}, err
	}
	snapshot := Snapshot[V]{Version: version}
	if t := s.tables[resource]; t != nil {
		snapshot.root = t.rootAt(version)
	}
	return snapshot, nil
}

func (s *Store[V]) reachable(resource string, version uint64) error {
	if version > s.version {
		return &FutureError{Version: version, Current: s.version}
	}
	if oldest := s.oldest(resource); version < oldest {
		return &CompactedError{Version: version, Oldest: oldest}
	}
	return nil
}

// oldest returns the first version that can be listed or watched from.
func (s *Store[V]) oldest(resource string) uint64 {
	oldest := s.compacted
	if t := s.tables[resource]; t != nil {
		oldest = max(oldest, t.floor)
	}
	return oldest
}

// Compact forgets all versions below one; 0 or a version of the future stands for
// the newest. Cursors that are already open go on undisturbed.
func (s *Store[V]) Compact(version uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if version == 0 || version > s.version {
		version = s.version
	}
	s.compacted = max(s.compacted, version)
}

// Rebase keeps the newest state but numbers it afresh: objects keep their order
// of change and get the versions start+1, start+2 and so on; the history is gone and
// every cursor is dead. copyOf makes the value to be stamped anew. It is the
// restoring of a backup: versions may become lower than clients have seen.
func (s *Store[V]) Rebase(start uint64, copyOf func(V) V) {
	s.mu.Lock()
	fresh := renumber(s.tables, start, s.history, copyOf)
	wakes := []chan struct{}{s.wake}
	s.wake = nil
	for _, t := range s.tables {
		wakes = append(wakes, t.takeWake())
	}
	s.tables, s.version, s.compacted = fresh.tables, fresh.version, fresh.version
	s.epoch++
	s.mu.Unlock()
	for _, wake := range wakes {
		if wake != nil {
			close(wake)
		}
	}
}
