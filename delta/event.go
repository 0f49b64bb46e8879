package delta

import (
	"github.com/gocampus/hark/key"
	"github.com/gocampus/hark/watch"
	"github.com/gocampus/hark/wire"
)

// Event is what a handler is told. Old and New are undecoded and immutable; a
// handler may keep them, at the price of their bytes.
type Event struct {
	// Type is watch.EventAdded, EventModified or EventDeleted.
	Type watch.EventType
	Key  key.Key
	// Old is the state that this handler was told before (Modified), or the
	// last known state (Deleted; nil when none was ever known). Nil for Added.
	Old *wire.Object
	// New is the newest state; nil for Deleted. For a resync it is Old itself.
	New   *wire.Object
	Cause watch.Cause
	// FinalStateUnknown is set on a Deleted that no watch event told of (the
	// object was missing from a list): Old is the last state that the store had,
	// and there may have been later ones. client-go calls this a tombstone.
	FinalStateUnknown bool
	// Merged counts the further changes that this event stands for.
	Merged int
}

// Object returns the newest known state: New, or for Deleted the last one. It
// is nil only for a deletion whose last state was never known.
func (e *Event) Object() *wire.Object {
	if e.New != nil {
		return e.New
	}
	return e.Old
}

// Change is one step of a store: one key's state before and after.
type Change struct {
	Key      key.Key
	Old, New *wire.Object // nil where the object did not exist
	Cause    watch.Cause
	// Final is the state that a DELETED event carried, when New is nil and
	// there was such an event.
	Final *wire.Object
}
