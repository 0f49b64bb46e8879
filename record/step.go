package record

import (
	"slices"
	"time"

	"github.com/gocampus/hark/watch"
)

// step is what a Player does at once: one event of a watch, or a change that only
// a list can tell, because it was told by one or comes out of order.
type step struct {
	at     time.Time
	stream int
	events []Event
	relist bool
	// version is the list version of the stream after the step. Those of one
	// stream rise from step to step.
	version uint64
}

// stepsOf makes steps of a recording. base are the list versions of the streams at
// the beginning.
func stepsOf(r *Recording) (steps []step, base []uint64) {
	base = make([]uint64, len(r.Streams))
	for i := range base {
		base[i] = 1 // 0 means any version to the API
	}
	for _, e := range r.Initial {
		base[e.Stream] = max(base[e.Stream], versionOf(e))
	}
	reached := slices.Clone(base)
	relisting := make([]int, len(r.Streams)) // 1 + the step that the stream's list is
	for _, e := range inOrder(r.Events, len(r.Streams)) {
		if last := relisting[e.Stream]; last > 0 && e.Cause == watch.CauseRelist {
			s := &steps[last-1]
			s.events = append(s.events, e)
			s.version = max(s.version, versionOf(e))
			reached[e.Stream] = s.version
			continue
		}
		s := step{at: e.Time, stream: e.Stream, events: []Event{e}}
		// A deletion that nobody saw used a version of its own.
		s.relist = !told(e) || versionOf(e) <= reached[e.Stream]
		s.version = max(versionOf(e), reached[e.Stream]+1)
		reached[e.Stream] = s.version
		steps = append(steps, s)
		relisting[e.Stream] = 0
		if e.Cause == watch.CauseRelist {
			relisting[e.Stream] = len(steps)
		}
	}
	return steps, base
}

// versionOf is the version of an event's object, 0 where it is not a number.
func versionOf(e Event) uint64 {
	if e.Object == nil {
		return 0
	}
	version, _ := e.Object.Version()
	return version
}

// told reports whether a watch told the event as it is.
func told(e Event) bool {
	return e.Cause != watch.CauseRelist && !e.FinalStateUnknown && versionOf(e) > 0
}

// inOrder returns the events such that those of a watch rise in version as they did
// there: merged ones were told in the place of the first.
func inOrder(events []Event, streams int) []Event {
	events = slices.Clone(events)
	runs := make([][]int, streams)
	flush := func(stream int) {
		slots := runs[stream]
		runs[stream] = slots[:0]
		sortSlots(events, slots)
	}
	for i, e := range events {
		if told(e) {
			runs[e.Stream] = append(runs[e.Stream], i)
		} else {
			flush(e.Stream)
		}
	}
	for stream := range runs {
		flush(stream)
	}
	return events
}

// sortSlots sorts the events at the slots by version. The times stay where they are.
func sortSlots(events []Event, slots []int) {
	before := func(a, b int) int {
		x, y := versionOf(events[a]), versionOf(events[b])
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	}
	if slices.IsSortedFunc(slots, before) {
		return
	}
	sorted := slices.Clone(slots)
	slices.SortStableFunc(sorted, before)
	run := make([]Event, len(slots))
	for i, from := range sorted {
		run[i] = events[from]
	}
	for i, slot := range slots {
		run[i].Time = events[slot].Time
		events[slot] = run[i]
	}
}
