package soak

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gocampus/hark/reflector"
)

// report adds up what episodes did.
type report struct {
	episodes int
	changes  int
	faults   map[string]int // injected
	met      int            // injected faults that a request has met
	counts   reflector.Counts
	told     int // events that handlers were told
	runs     int
	failures int // runs that failed, by intent
}

func (r *report) add(other report) {
	if r.faults == nil {
		r.faults = map[string]int{}
	}
	for kind, n := range other.faults {
		r.faults[kind] += n
	}
	r.episodes++
	r.met += other.met
	r.changes += other.changes
	r.told += other.told
	r.runs += other.runs
	r.failures += other.failures
	r.count(other.counts)
}

func (r *report) count(c reflector.Counts) {
	r.counts.Lists += c.Lists
	r.counts.Watches += c.Watches
	r.counts.Relists += c.Relists
	r.counts.Events += c.Events
	r.counts.Bookmarks += c.Bookmarks
	r.counts.Items += c.Items
	r.counts.BadObjects += c.BadObjects
	r.counts.Regressions += c.Regressions
	r.counts.Deaf += c.Deaf
}

// String is the report as docs/reliability.md shows it.
func (r report) String() string {
	var b strings.Builder
	total := 0
	for _, n := range r.faults {
		total += n
	}
	fmt.Fprintf(&b, "%d episodes, %d changes, %d events on watches, %d items in lists\n", r.episodes, r.changes, r.counts.Events, r.counts.Items)
	fmt.Fprintf(&b, "%d events told to handlers, %d runs (%d failed by intent)\n", r.told, r.runs, r.failures)
	fmt.Fprintf(&b, "%d watches, %d lists and pages, %d relists, %d requests gone deaf, %d bad objects, %d regressions of the version\n",
		r.counts.Watches, r.counts.Lists, r.counts.Relists, r.counts.Deaf, r.counts.BadObjects, r.counts.Regressions)
	fmt.Fprintf(&b, "%d requests met a fault; %d faults were injected:", r.met, total)
	for _, kind := range slices.Sorted(maps.Keys(r.faults)) {
		fmt.Fprintf(&b, " %s %d,", kind, r.faults[kind])
	}
	return strings.TrimSuffix(b.String(), ",")
}
