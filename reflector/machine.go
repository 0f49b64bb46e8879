package reflector

import (
	"fmt"
	"time"

	"github.com/gocampus/hark/watch"
)

// Phase is what a reflector is doing.
type Phase uint8

const (
	// Idle: Run has not been called.
	Idle Phase = iota
	// Streaming: receiving the initial events of a streaming list.
	Streaming
	// Listing: reading a list, page by page.
	Listing
	// Watching: receiving changes.
	Watching
	// Checking: asking whether the server's version is still ahead, after a
	// watch on which nothing came.
	Checking
	// Waiting: pausing after a failure; Status.Reason says which. While the
	// server does not have the kind (watch.KindNotFound) the phase stays Waiting
	// even when it is asked again.
	Waiting
	// Stopped: Run has returned.
	Stopped
)

var phaseNames = [...]string{"idle", "streaming", "listing", "watching", "checking", "waiting", "stopped"}

// String returns the phase as one lower-case word.
func (p Phase) String() string {
	if int(p) >= len(phaseNames) {
		return fmt.Sprintf("phase %d", uint8(p))
	}
	return phaseNames[p]
}

// MarshalText implements encoding.TextMarshaler.
func (p Phase) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// machine is the state of the list/watch protocol.
//
// Invariants: phase Watching implies resume != "" and shown == 0; list.token != "" only in
// Listing; number is resume as an integer, 0 when it is not one; incomplete is 0
// or reread is set, once synced.
type machine struct {
	tuning tuning

	phase      Phase
	resume     string // changes up to this version are in the sink
	number     uint64
	shown      uint64 // unfinished lists have given the sink changes up to this version; 0: none
	consistent bool   // the next list must be a consistent read
	noStream   bool   // this server does not stream lists
	anew       bool   // the server's history may have begun anew
	synced     bool   // the sink has held one complete state
	list       listing

	failures int           // pauses since the last progress
	quick    bool          // one try without a pause was spent since then
	timeout  time.Duration // that the running watch asked the server for
	opened   time.Time     // when the running request was made
	progress bool          // the running watch delivered something
	silent   bool          // the last watch lasted and delivered nothing
	deadline time.Time     // when the running request counts as deaf
	limit    time.Time     // when the running request ends in any case

	// What could not be read may be a change of any object. The state is listed
	// again at reread, later each time.
	incomplete int // lists and watches in a row that held something unreadable
	reread     time.Time
}

// tuning holds the times of the protocol; see Options for their meaning.
type tuning struct {
	pageSize     int64
	watchTimeout func() time.Duration
	grace        time.Duration
	idle         time.Duration
	initialIdle  time.Duration
	initialLimit time.Duration
	backoff      func(failures int) time.Duration
	reread       func(times int) time.Duration
	missing      func(failures int) time.Duration
	dropMissing  bool
	streaming    bool
}

// inputKind is what happened.
type inputKind uint8

const (
	started    inputKind = iota // Run begins
	received                    // an event came on the watch
	pageEnded                   // a list, or one page of it, is complete
	closed                      // the server ended the watch regularly
	failed                      // the request failed: input.err
	unreadable                  // one object or event could not be read
	wentDeaf                    // the deadline passed
	waitedLong                  // the pause is over
)

type input struct {
	kind  inputKind
	event *watch.Event // received
	err   *watch.Error // failed
	// pageEnded
	version string
	token   string
	// stale is set with what ends a list that held an object older than the
	// sink's.
	stale bool
}

// effectKind is what the shell is to do, in the order given.
type effectKind uint8

const (
	openList  effectKind = iota + 1 // effect.list
	openWatch                       // effect.watch
	begin                           // start replacing the sink's content
	apply                           // give input.event to the sink
	commit                          // the replacement is complete at effect.version
	advance                         // every change up to effect.version is in the sink
	pause                           // for effect.delay, or see effect.parked
	complain                        // of effect.err: the source broke the protocol
)

type effect struct {
	kind    effectKind
	list    watch.ListOptions
	watch   watch.WatchOptions
	version string
	delay   time.Duration
	parked  time.Duration // pause: if set, for so long or until the kind may be there
	force   bool          // begin: what the list says counts even if it is older
	anew    bool          // begin: known versions may be others now
	keep    bool          // commit: what did not come may still be there
	err     *watch.Error
}

// effects is a small list that needs no allocation.
type effects struct {
	n    int
	list [4]effect
}

func (e *effects) add(x effect) {
	e.list[e.n] = x
	e.n++
}

// step takes one input and appends what is to be done to out. A running stream
// is to be closed before an open or pause effect.
func (m *machine) step(in input, now time.Time, out *effects) {
	switch in.kind {
	case started, waitedLong:
		m.open(now, out)
	case received:
		m.event(in, now, out)
	case pageEnded:
		m.page(in, now, out)
	case closed:
		m.ended(now, out)
	case failed:
		m.fail(in.err, now, out)
	case unreadable:
		m.spoil(now)
	case wentDeaf:
		m.deaf(now, out)
	}
}

// open makes the next request: a watch where there is a version to resume
// from and no list is due, else a list.
func (m *machine) open(now time.Time, out *effects) {
	m.opened, m.progress = now, false
	switch {
	case m.listDue(now) && m.tuning.streaming && !m.noStream:
		m.openStream(now, out)
	case m.listDue(now):
		m.openList(now, out)
	case m.silent:
		m.openCheck(now, out)
	default:
		m.openWatch(now, out)
	}
}

// extend moves the deadline, never past the request's limit.
func (m *machine) extend(now time.Time, by time.Duration) {
	m.deadline = now.Add(by)
	if m.limit.Before(m.deadline) {
		m.deadline = m.limit
	}
	if m.phase == Watching && !m.reread.IsZero() && m.reread.Before(m.deadline) {
		m.deadline = m.reread
	}
}
