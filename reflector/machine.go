package reflector

import (
	"fmt"
	"strconv"
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
// Invariants: phase Watching implies resume != ""; list.token != "" only in
// Listing; number is resume as an integer, 0 when it is not one; incomplete is 0
// or reread is set, once synced.
type machine struct {
	tuning tuning

	phase      Phase
	resume     string // changes up to this version are in the sink
	number     uint64
	consistent bool // the next list must be a consistent read
	noStream   bool // this server does not stream lists
	anew       bool // the server's history may have begun anew
	synced     bool // the sink has held one complete state
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

// listing is the list under way, streaming or paged.
type listing struct {
	read    string // the version that it must not be older than; "" asks for a consistent read
	token   string // continue token of the next page
	unpaged bool   // a continue token expired: ask for the whole list at once
	spoiled bool   // it held something that could not be read
	marked  bool   // streaming: a bookmark came that is not the end
	live    bool   // streaming: changes come, so that the end must be near
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

// listDue reports whether there is no version that a watch could go on from, or
// none that is known to serve, or that something could not be read.
func (m *machine) listDue(now time.Time) bool {
	return m.resume == "" || !m.synced || m.phase == Listing || m.phase == Streaming || m.consistent || m.rereadDue(now)
}

func (m *machine) rereadDue(now time.Time) bool { return !m.reread.IsZero() && !now.Before(m.reread) }

// spoil notes that something could not be read.
func (m *machine) spoil(now time.Time) {
	switch m.phase {
	case Listing, Streaming:
		m.list.spoiled = true
	case Watching:
		if m.reread.IsZero() {
			m.readAgain(now)
		}
	}
}

// readAgain sets the time of the next list.
func (m *machine) readAgain(now time.Time) {
	m.incomplete++
	m.reread = now.Add(m.tuning.reread(m.incomplete))
	if m.reread.Before(m.deadline) {
		m.deadline = m.reread
	}
}

func (m *machine) openWatch(now time.Time, out *effects) {
	m.phase = Watching
	m.timeout = m.tuning.watchTimeout()
	m.limit = now.Add(m.timeout + m.tuning.grace)
	m.extend(now, m.tuning.idle)
	out.add(effect{kind: openWatch, watch: watch.WatchOptions{ResourceVersion: m.resume, Timeout: m.timeout}})
}

// openCheck asks for one object, to learn the server's version. A server whose
// history began anew, lower, holds a watch from its future open and silent until
// it gets there; so does a quiet kind, and the two look the same.
func (m *machine) openCheck(now time.Time, out *effects) {
	m.phase = Checking
	m.limit = now.Add(m.tuning.initialLimit)
	m.extend(now, m.tuning.idle)
	out.add(effect{kind: openList, list: watch.ListOptions{Limit: 1}})
}

// checked takes the answer of a check.
func (m *machine) checked(version string, now time.Time, out *effects) {
	m.silent = false
	if m.backwards(version) {
		m.regress(out)
		return
	}
	m.open(now, out)
}

func (m *machine) openStream(now time.Time, out *effects) {
	m.phase = Streaming
	m.timeout = m.tuning.watchTimeout()
	m.limit = now.Add(m.tuning.initialLimit)
	m.extend(now, m.tuning.initialIdle)
	m.beginList(out)
	out.add(effect{kind: openWatch, watch: watch.WatchOptions{
		ResourceVersion: m.list.read, SendInitialEvents: true, Timeout: m.timeout,
	}})
}

// beginList starts a list from the beginning.
func (m *machine) beginList(out *effects) {
	m.list = listing{unpaged: m.list.unpaged}
	if !m.consistent {
		m.list.read = m.resume
	}
	out.add(effect{kind: begin, force: m.list.read == "", anew: m.anew})
}

func (m *machine) openList(now time.Time, out *effects) {
	m.phase = Listing
	m.limit = now.Add(m.tuning.initialLimit)
	m.beginList(out)
	m.openPage(now, out)
}

// openPage asks for the first or next page.
func (m *machine) openPage(now time.Time, out *effects) {
	m.extend(now, m.tuning.idle)
	options := watch.ListOptions{ResourceVersion: m.list.read, Continue: m.list.token}
	if options.Continue != "" {
		options.ResourceVersion = "" // the token has it
	}
	if options.ResourceVersion == "" && !m.list.unpaged {
		options.Limit = m.tuning.pageSize // caches answer lists at a version whole
	}
	out.add(effect{kind: openList, list: options})
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

// event handles what came on a watch.
func (m *machine) event(in input, now time.Time, out *effects) {
	e := in.event
	switch {
	case e.Type == watch.EventError:
		m.fail(e.Err, now, out)
	case m.phase == Streaming:
		m.initialEvent(in, now, out)
	case e.Type == watch.EventBookmark:
		m.bookmark(e, now, out)
	default:
		m.change(e, now, out)
	}
}

// initialEvent handles an event of the initial state. Only the bookmark that
// ends it moves the resume point: nothing before it is complete.
func (m *machine) initialEvent(in input, now time.Time, out *effects) {
	e := in.event
	switch {
	case e.Type == watch.EventAdded:
		if !m.list.live {
			m.extend(now, m.tuning.initialIdle)
		}
		out.add(effect{kind: apply})
		return
	case e.Type != watch.EventBookmark:
		m.list.live = true
		out.add(effect{kind: apply})
		return
	case !e.InitialEventsEnd:
		m.list.marked = true
		return
	}
	if !m.credible(e.ResourceVersion, in.stale, out) {
		return
	}
	m.phase, m.progress = Watching, true
	m.limit = m.opened.Add(m.timeout + m.tuning.grace)
	m.complete(e.ResourceVersion, now, out)
}

// errNoVersion: a state without a version cannot be watched from.
var errNoVersion = &watch.Error{Kind: watch.KindMalformed, Message: "a list came without a resourceVersion"}

// errBackwards: see regress.
var errBackwards = &watch.Error{Kind: watch.KindMalformed, Message: "the resourceVersion went backwards; a list will settle what is true"}

// credible reports whether a complete state can be taken; otherwise it lists
// again. One that was to be not older than a version and is older all the same
// comes from a server that lied, or whose history began anew.
func (m *machine) credible(version string, stale bool, out *effects) bool {
	switch {
	case version == "":
		out.add(effect{kind: complain, err: errNoVersion})
		m.pause(0, out)
		return false
	case m.list.read != "" && (stale || m.backwards(version)):
		m.regress(out)
		return false
	}
	return true
}

// complete records that the sink holds the whole state at version, but for what
// could not be read.
func (m *machine) complete(version string, now time.Time, out *effects) {
	spoiled := m.list.spoiled
	m.setResume(version)
	m.consistent, m.anew, m.list, m.synced, m.reread = false, false, listing{}, true, time.Time{}
	m.extend(now, m.tuning.idle)
	if spoiled {
		m.readAgain(now)
	} else {
		m.incomplete = 0
	}
	out.add(effect{kind: commit, version: version, keep: spoiled})
}

func (m *machine) bookmark(e *watch.Event, now time.Time, out *effects) {
	if m.backwards(e.ResourceVersion) {
		m.regress(out)
		return
	}
	m.moved(e.ResourceVersion, now, out)
}

func (m *machine) change(e *watch.Event, now time.Time, out *effects) {
	version := e.Object.ResourceVersion()
	if m.backwards(version) {
		m.regress(out)
		return
	}
	out.add(effect{kind: apply})
	m.moved(version, now, out)
}

// moved records that the watch is alive and how far it has come.
func (m *machine) moved(version string, now time.Time, out *effects) {
	m.progress, m.failures, m.quick = true, 0, false
	m.extend(now, m.tuning.idle)
	if m.follows(version) {
		m.setResume(version)
		out.add(effect{kind: advance, version: version})
	}
}

// follows reports whether a version is one to go on from: there is one, and it is
// an integer where the one before was.
func (m *machine) follows(version string) bool {
	_, err := strconv.ParseUint(version, 10, 64)
	return err == nil || version != "" && m.number == 0
}

func (m *machine) setResume(version string) {
	m.resume = version
	m.number, _ = strconv.ParseUint(version, 10, 64)
}

// backwards reports whether a version is older than what the watch has reached.
func (m *machine) backwards(version string) bool {
	number, err := strconv.ParseUint(version, 10, 64)
	return err == nil && number < m.number
}

// regress ends a request whose versions ran backwards: either something old was
// sent again or the server's history began anew. A consistent list tells.
func (m *machine) regress(out *effects) {
	m.consistent, m.anew = true, true
	out.add(effect{kind: complain, err: errBackwards})
	m.pause(0, out)
}

// page handles the end of a list or of one page.
func (m *machine) page(in input, now time.Time, out *effects) {
	if m.phase == Checking {
		m.checked(in.version, now, out)
		return
	}
	if m.list.token = in.token; in.token != "" {
		m.openPage(now, out)
		return
	}
	if !m.credible(in.version, in.stale, out) {
		return
	}
	m.complete(in.version, now, out)
	m.phase = Watching
	m.opened, m.progress = now, false
	m.openWatch(now, out)
}

// ended handles the regular end of a watch.
func (m *machine) ended(now time.Time, out *effects) {
	if m.phase == Streaming {
		m.listInstead(now, out)
		return
	}
	if m.lasted(now) {
		m.healthy()
		m.open(now, out)
		return
	}
	m.again(0, now, out)
}

// healthy records that the watch that has ended was of use.
func (m *machine) healthy() {
	m.failures, m.quick = 0, false
	m.silent = !m.progress
}

// lasted reports whether the running watch was of use, so that opening the next
// one at once cannot become a hot loop.
func (m *machine) lasted(now time.Time) bool {
	return m.progress || now.Sub(m.opened) >= healthyWatch
}

// healthyWatch is how long a silent watch must have lasted to count as healthy.
const healthyWatch = 5 * time.Second

// listInstead goes on with LIST and WATCH. Where bookmarks came but not the one
// that ends the initial events, or changes before it, this server does not say
// it, and is not asked again.
func (m *machine) listInstead(now time.Time, out *effects) {
	m.noStream = m.noStream || m.list.marked || m.list.live
	m.openList(now, out)
}

// deaf handles a passed deadline.
func (m *machine) deaf(now time.Time, out *effects) {
	switch m.phase {
	case Streaming:
		m.noStream = true // open, and mute where its end should have been
		m.openList(now, out)
	case Watching:
		m.healthy() // a quiet kind looks the same as a deaf connection
		m.open(now, out)
	default:
		m.again(0, now, out)
	}
}
