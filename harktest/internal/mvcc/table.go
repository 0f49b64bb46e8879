package mvcc

import (
	"cmp"
	"maps"
	"slices"
	"sort"

	"github.com/gocampus/hark/key"
)

// table is one resource: its newest state and its window of events.
// The store's lock guards it.
type table[V any] struct {
	limit int
	root  *node[V]
	// window holds the newest events, oldest first; first is the sequence number of window[0].
	window []entry[V]
	first  uint64
	// floor is the version of the last forgotten event and floorRoot the state
	// after it: nothing below floor can be answered.
	floor     uint64
	floorRoot *node[V]
	// wake is closed at the next event; nil while nobody waits.
	wake chan struct{}
}

type entry[V any] struct {
	event Event[V]
	root  *node[V] // the state after the event
}

// apply records a change and returns the channel to close, or nil.
func (t *table[V]) apply(prev, record *Record[V], remove bool) chan struct{} {
	event := Event[V]{Type: Updated, Prev: prev, Current: record}
	switch {
	case remove:
		event.Type = Deleted
		t.root = t.root.without(record.Key)
	case prev == nil:
		event.Type = Created
		t.root = t.root.with(record)
	default:
		t.root = t.root.with(record)
	}
	t.window = append(t.window, entry[V]{event, t.root})
	t.trim()
	return t.takeWake()
}

// trim forgets the oldest events. It moves the window only when half of it is
// to go, so that a write costs constant time on average.
func (t *table[V]) trim() {
	excess := len(t.window) - t.limit
	if excess <= 0 {
		return
	}
	last := t.window[excess-1]
	t.floor, t.floorRoot = last.event.Version(), last.root
	clear(t.window[:excess]) // let go of the objects now
	t.window = t.window[excess:]
	t.first += uint64(excess)
}

func (t *table[V]) takeWake() chan struct{} {
	wake := t.wake
	t.wake = nil
	return wake
}

// next returns the index in the window of the first event after version.
func (t *table[V]) next(version uint64) int {
	return sort.Search(len(t.window), func(i int) bool { return t.window[i].event.Version() > version })
}

// rootAt returns the state at a version that is not below the floor.
func (t *table[V]) rootAt(version uint64) *node[V] {
	if i := t.next(version); i > 0 {
		return t.window[i-1].root
	}
	return t.floorRoot
}

// renumber returns a store with the same objects under fresh versions.
func renumber[V Value](tables map[string]*table[V], start uint64, history int, copyOf func(V) V) *Store[V] {
	type item struct {
		resource string
		record   *Record[V]
	}
	var items []item
	for resource, t := range tables {
		t.root.ascend(key.Key{}, func(r *Record[V]) bool {
			items = append(items, item{resource, r})
			return true
		})
	}
	slices.SortFunc(items, func(a, b item) int { return cmp.Compare(a.record.Version, b.record.Version) })
	fresh := New[V](Options{Start: start, History: history})
	for _, resource := range slices.Sorted(maps.Keys(tables)) {
		fresh.table(resource)
	}
	for _, it := range items {
		fresh.version++
		value := copyOf(it.record.Value)
		value.Stamp(fresh.version)
		t := fresh.tables[it.resource]
		t.root = t.root.with(&Record[V]{Key: it.record.Key, Version: fresh.version, Value: value})
	}
	for _, t := range fresh.tables {
		t.floor, t.floorRoot = fresh.version, t.root
	}
	return fresh
}
