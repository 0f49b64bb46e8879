package watch

import "github.com/gocampus/hark/wire"

// EventType is the type of a watch event as the API writes it.
// See https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes.
type EventType string

// The event types of the API. Others are passed through as they are.
const (
	EventAdded    EventType = "ADDED"
	EventModified EventType = "MODIFIED"
	EventDeleted  EventType = "DELETED"
	EventBookmark EventType = "BOOKMARK"
	EventError    EventType = "ERROR"
)

// ClassifyEvent returns the event type that raw names, whatever its case (of ASCII).
// An unknown one is returned as it was written.
func ClassifyEvent(raw string) EventType { return EventType(wire.EventType(raw)) }

// Cause says why an event is delivered.
type Cause uint8

const (
	// CauseInitial: the object existed when the informer or handler started.
	CauseInitial Cause = iota + 1
	// CauseWatch: the server sent a change.
	CauseWatch
	// CauseRelist: a list showed a change that the watch had missed.
	CauseRelist
	// CauseResync: nothing changed; the cache is replayed to the handler.
	CauseResync
)

var causeNames = [...]string{"unknown", "initial", "watch", "relist", "resync"}

// String returns initial, watch, relist or resync.
func (c Cause) String() string {
	if int(c) >= len(causeNames) {
		c = 0
	}
	return causeNames[c]
}

// MarshalText implements encoding.TextMarshaler.
func (c Cause) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// Event is one frame of a watch stream, as a Source delivers it.
type Event struct {
	Type EventType
	// Object is set unless Type is EventBookmark or EventError.
	Object *wire.Object
	// ResourceVersion of an EventBookmark: every change up to it was sent.
	ResourceVersion string
	// InitialEventsEnd is set on the bookmark that ends the initial events of
	// a streaming list (KEP-3157).
	InitialEventsEnd bool
	// Err is set when Type is EventError.
	Err *Error
}
