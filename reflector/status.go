package reflector

import (
	"time"

	"github.com/gocampus/hark/watch"
)

// Status is what a reflector shows of itself: plain data, a copy.
type Status struct {
	Phase Phase
	Since time.Time // when Phase began
	// Synced is true once the sink has held one complete state.
	Synced bool
	// ResourceVersion that a broken watch would resume from.
	ResourceVersion string
	// Reason of the newest failure; nil once the source delivers again.
	Reason *watch.Error
	// Retry is when the next try is due, in phase Waiting.
	Retry time.Time
	// Failures since the source last delivered a change or bookmark.
	Failures int
	// LastEvent is when the source last delivered anything.
	LastEvent time.Time

	Counts Counts
}

// Counts since Run began.
type Counts struct {
	Lists       uint64 // lists and pages asked for
	Watches     uint64 // watches opened, streaming lists among them
	Relists     uint64 // complete states after the first one
	Events      uint64 // changes and initial events received on watches
	Bookmarks   uint64
	Items       uint64 // objects received in lists
	BadObjects  uint64 // objects and frames that could not be read
	Regressions uint64 // times that the version went backwards
	Deaf        uint64 // requests ended because nothing came any more
}
