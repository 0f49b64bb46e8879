package store

import (
	"iter"
	"maps"
	"slices"
	"sync"

	"github.com/gocampus/hark/key"
	"github.com/gocampus/hark/wire"
)

// record is what the store keeps of one key.
type record struct {
	object *wire.Object
	family *wire.Family // nil unless the store is compact
	round  uint64       // the replacement in which the object was last seen
	under  []*set       // where the indexes have it: by index, then by value
}

// Options of a Store. The zero value keeps no index.
type Options struct {
	// Indexes by name. See Namespace, Label and Owner for common ones.
	Indexes map[string]IndexFunc
	// Compact keeps of each object only what it does not have in common with
	// others of its owner, or of the store: see wire.Compactor. Realistic pods
	// take a fifth of the memory; storing one that is nobody's sibling takes some
	// microseconds more, and reading one less than 1 µs. By default objects are
	// kept whole.
	Compact bool
}

// Store is the readable side. It is safe for concurrent use.
type Store struct {
	versions versions

	mu      sync.RWMutex
	records map[key.Key]*record
	overlay overlay
	peak    int // largest len(records) since the map was made
	indexes []*index
	failed  uint64 // index functions that failed
	lastErr error
}

// New returns an empty store and the one Writer that may change it. The Writer
// is for one goroutine.
func New(o Options) (*Store, *Writer) {
	s := &Store{records: map[key.Key]*record{}}
	for _, name := range slices.Sorted(maps.Keys(o.Indexes)) {
		s.indexes = append(s.indexes, &index{name: name, values: o.Indexes[name], sets: map[string]*set{}})
	}
	w := &Writer{store: s, scratch: make([][]string, len(s.indexes))}
	if o.Compact {
		w.compactor = new(wire.Compactor)
	}
	return s, w
}

// Get returns the newest version of one object.
func (s *Store) Get(k key.Key) (*wire.Object, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	object := s.newest(k)
	return object, object != nil
}

// Len returns the number of objects.
func (s *Store) Len() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.count()
}

// All iterates over a snapshot of all objects, in no particular order. The
// snapshot is taken when the iteration starts and costs one pointer an object.
func (s *Store) All() iter.Seq[*wire.Object] {
	return func(yield func(*wire.Object) bool) {
		yieldAll(s.snapshot(), yield)
	}
}

func (s *Store) snapshot() []*wire.Object {
	s.mu.RLock()
	defer s.mu.RUnlock()
	objects := make([]*wire.Object, 0, s.count())
	for _, r := range s.records {
		if !s.covered(r) {
			objects = append(objects, r.object)
		}
	}
	for e := range s.observed {
		objects = append(objects, e.object)
	}
	return objects
}

// Indexed iterates over a snapshot of the objects that the named index keeps
// under value, in no particular order. An index that the store was not made
// with is a bug of the caller and panics.
func (s *Store) Indexed(name, value string) iter.Seq[*wire.Object] {
	i := s.index(name)
	return func(yield func(*wire.Object) bool) {
		yieldAll(s.members(i, value), yield)
	}
}

func (s *Store) members(i int, value string) []*wire.Object {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var members map[*record]struct{}
	if set := s.indexes[i].sets[value]; set != nil {
		members = set.members
	}
	objects := make([]*wire.Object, 0, len(members))
	for r := range members {
		if !s.covered(r) {
			objects = append(objects, r.object)
		}
	}
	for e := range s.observed {
		if slices.Contains(e.indexed[i], value) {
			objects = append(objects, e.object)
		}
	}
	return objects
}

// IndexValues returns the values that the named index holds now, sorted. It
// panics for an unknown index, as Indexed does.
func (s *Store) IndexValues(name string) []string {
	i := s.index(name)
	s.mu.RLock()
	defer s.mu.RUnlock()
	members := make(map[string]int, len(s.indexes[i].sets))
	for value, set := range s.indexes[i].sets {
		members[value] = len(set.members)
	}
	for e := range s.observed {
		if r := s.records[e.object.Key()]; r != nil {
			for _, set := range r.under {
				if set.index == s.indexes[i] {
					members[set.value]--
				}
			}
		}
		for _, value := range e.indexed[i] {
			members[value]++
		}
	}
	maps.DeleteFunc(members, func(_ string, n int) bool { return n == 0 })
	return slices.Sorted(maps.Keys(members))
}

// index returns the place of an index.
func (s *Store) index(name string) int {
	for i, x := range s.indexes {
		if x.name == name {
			return i
		}
	}
	panic("store: there is no index " + name)
}

// Stats is what a store shows of itself.
type Stats struct {
	Objects int
	// Observed counts the answers to writes that the watch has not told yet.
	Observed int
	// IndexFailures counts calls of index functions that failed or panicked.
	IndexFailures uint64
	// LastIndexError is the newest of them, nil when there was none.
	LastIndexError error
}

// Stats returns the current numbers.
func (s *Store) Stats() Stats {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return Stats{Objects: s.count(), Observed: len(s.overlay.entries), IndexFailures: s.failed, LastIndexError: s.lastErr}
}

func yieldAll(objects []*wire.Object, yield func(*wire.Object) bool) {
	for _, o := range objects {
		if !yield(o) {
			return
		}
	}
}
