package store

import (
	"maps"

	"github.com/gocampus/hark/key"
	"github.com/gocampus/hark/wire"
)

// overlay is what writers were answered by the server and the records do not
// show yet. Readers see it over the records; the records themselves stay what
// the watch has told.
//
// An entry counts while its version is above that which the records have
// reached. From then on they say what became of it, a deletion included, so
// nothing has to be remembered of what is gone.
//
// Guarded by Store.mu.
type overlay struct {
	reached uint64 // the records have, or get at this moment, every change up to it; 0: unknown
	lists   uint64 // consistent lists that have begun
	entries map[key.Key]*observation
}

type observation struct {
	object  *wire.Object
	version uint64
	lists   uint64     // that had begun when it was made
	indexed [][]string // by index: its values
}

// Observe lays the server's answer to a write over the store, so that reads see
// it before the watch tells of it, and reports whether they do now. Late answers
// are harmless: one that is not newer than what the store has of its key, or
// not above the version that the store has reached, changes nothing; a deletion
// that was seen so stays one. Before the first complete list, and for versions
// that are no integers, nothing is taken.
//
// An observation ends when the store reaches its version. One of an object that
// the store's source does not select vanishes then.
//
// Unlike the other methods of a Writer it may be called from any goroutine. It
// calls the index functions, without a lock.
func (w *Writer) Observe(object *wire.Object) bool {
	version, ok := object.Version()
	if !ok {
		return false
	}
	s := w.store
	e := &observation{object: object, version: version, indexed: make([][]string, len(s.indexes))}
	var failures []error
	for i, x := range s.indexes {
		values, err := x.compute(nil, object)
		if err != nil {
			failures = append(failures, err)
		}
		e.indexed[i] = values
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.overlay.reached == 0 || version <= s.overlay.reached || version <= versionOf(s.newest(object.Key())) {
		return false
	}
	if s.overlay.entries == nil {
		s.overlay.entries = map[key.Key]*observation{}
	}
	e.lists = s.overlay.lists
	s.overlay.entries[object.Key()] = e
	s.countFailures(failures)
	return true
}

// Reach says that what is written next happened at version: an observation up
// to it comes too late from now on. Advance follows when the store has it.
func (w *Writer) Reach(version string) {
	s := w.store
	s.mu.Lock()
	defer s.mu.Unlock()
	s.overlay.reached = max(s.overlay.reached, parseVersion(version))
}

// listed takes a complete list at version. A consistent one that began after an
// observation includes it; if its version is lower all the same, the server
// counts anew and what it answered before is void.
func (s *Store) listed(version uint64, consistent bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := &s.overlay
	o.reached = max(o.reached, version)
	maps.DeleteFunc(o.entries, func(_ key.Key, e *observation) bool {
		return consistent && e.lists < o.lists && e.version > version
	})
}

// settle ends the observations that the records have caught up with.
func (s *Store) settle(version uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := &s.overlay
	if version < o.reached {
		clear(o.entries) // the server counts anew
	}
	o.reached = version
	maps.DeleteFunc(o.entries, func(_ key.Key, e *observation) bool { return e.version <= version })
	if len(o.entries) == 0 {
		o.entries = nil // a Go map keeps its buckets
	}
}

// newest is what readers see of a key, nil for nothing.
func (s *Store) newest(k key.Key) *wire.Object {
	var told *wire.Object
	if r := s.records[k]; r != nil {
		told = r.object
	}
	if e := s.overlay.entries[k]; e != nil && e.version > versionOf(told) {
		return e.object
	}
	return told
}

// covered reports whether readers see an observation instead of the record.
func (s *Store) covered(r *record) bool {
	if len(s.overlay.entries) == 0 {
		return false
	}
	e := s.overlay.entries[r.object.Key()]
	return e != nil && e.version > versionOf(r.object)
}

// observed are the observations that readers see.
func (s *Store) observed(yield func(*observation) bool) {
	for k, e := range s.overlay.entries {
		if s.newest(k) == e.object && !yield(e) {
			return
		}
	}
}

// count is how many objects readers see.
func (s *Store) count() int {
	n := len(s.records)
	for k := range s.overlay.entries {
		if s.records[k] == nil {
			n++
		}
	}
	return n
}

// versionOf is 0 for no object and for a version that is no integer.
func versionOf(object *wire.Object) uint64 {
	if object == nil {
		return 0
	}
	version, _ := object.Version()
	return version
}
