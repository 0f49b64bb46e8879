package mvcc

import (
	"iter"

	"github.com/gocampus/hark/key"
)

// Value is what a store keeps. Stamp is called once, before the value becomes
// visible, with the version under which it is stored; it is called under the
// store's lock and must be quick. Afterwards the store never changes a value.
type Value interface{ Stamp(version uint64) }

// Record is one version of one object. It is immutable.
type Record[V any] struct {
	Key     key.Key
	Version uint64
	Value   V
}

// EventType says what an event did to its key.
type EventType uint8

// The events of a store.
const (
	Created EventType = iota + 1
	Updated
	Deleted
)

// Event is one change. Prev is nil for Created. For Deleted, Current is the
// object's last state under the version of the deletion.
type Event[V any] struct {
	Type    EventType
	Prev    *Record[V]
	Current *Record[V]
}

// Version returns the version that the change made.
func (e *Event[V]) Version() uint64 { return e.Current.Version }

// Snapshot is the state of one resource at one version. It is immutable and
// safe for concurrent use.
type Snapshot[V any] struct {
	// Version of the whole store that the snapshot shows.
	Version uint64
	root    *node[V]
}

// Get returns the record of k, or nil.
func (s Snapshot[V]) Get(k key.Key) *Record[V] { return s.root.find(k) }

// All yields the records of a namespace ("" for all of them) whose keys come
// after start, in the order of "namespace/name"; the zero start is before all.
func (s Snapshot[V]) All(namespace string, start key.Key) iter.Seq[*Record[V]] {
	if namespace != "" && compareKeys(start, key.Key{Namespace: namespace}) < 0 {
		start = key.Key{Namespace: namespace}
	}
	return func(yield func(*Record[V]) bool) {
		s.root.ascend(start, func(r *Record[V]) bool {
			if namespace != "" && r.Key.Namespace != namespace {
				return false
			}
			return yield(r)
		})
	}
}

// CountAfter returns how many records All(namespace, start) yields.
func (s Snapshot[V]) CountAfter(namespace string, start key.Key) int {
	if namespace == "" {
		return s.root.countAfter(start)
	}
	if first := (key.Key{Namespace: namespace}); compareKeys(start, first) < 0 {
		start = first
	}
	// No key of a namespace is followed by one of the next under a name of
	// this byte, since it is above all that UTF-8 can begin with.
	end := key.Key{Namespace: namespace, Name: "\xff"}
	return max(0, s.root.countAfter(start)-s.root.countAfter(end)) // start may be beyond the namespace
}
