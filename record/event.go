package record

import (
	"time"

	"github.com/gocampus/hark/key"
	"github.com/gocampus/hark/watch"
	"github.com/gocampus/hark/wire"
)

// Event is one thing that a recording tells.
type Event struct {
	// Time when the recorder was told.
	Time time.Time
	// Stream is the index of the Stream that it is of.
	Stream int
	// Type is watch.EventAdded, EventModified or EventDeleted.
	Type watch.EventType
	// Cause is initial for what existed when the recording began, then watch, or
	// relist for what a list showed after a watch had missed it.
	Cause watch.Cause
	Key   key.Key
	// Object is the state after the event, in JSON; for EventDeleted the last one
	// that was known, or nil where none ever was.
	Object *wire.Object
	// FinalStateUnknown is set on a deletion that only a list told of.
	FinalStateUnknown bool
	// Merged counts further changes that this event stands for: they came faster
	// than they could be recorded.
	Merged int
	// Err says why Object has nothing but its metadata: it could not be decoded,
	// or was too large. "" is the rule.
	Err string
}
