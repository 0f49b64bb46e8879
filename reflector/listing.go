package reflector

import (
	"strconv"
	"time"

	"github.com/gocampus/hark/watch"
	"github.com/gocampus/hark/wire"
)

// listing is the list under way, streaming or paged.
type listing struct {
	read    string // the version that it must not be older than; "" asks for a consistent read
	token   string // continue token of the next page
	unpaged bool   // a continue token expired: ask for the whole list at once
	spoiled bool   // it held something that could not be read
	marked  bool   // streaming: a bookmark came that is not the end
	live    bool   // streaming: changes come, so that the end must be near
	newest  uint64 // the highest version of an object that came
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

// beginList starts a list from the beginning. It is to be not older than what the
// sink has, from unfinished lists too: else it would take the sink back.
func (m *machine) beginList(out *effects) {
	m.shown = max(m.shown, m.list.newest)
	m.list = listing{unpaged: m.list.unpaged}
	switch {
	case m.consistent:
	case m.number > 0 && m.number < m.shown:
		m.list.read = strconv.FormatUint(m.shown, 10)
	default:
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

// initialEvent handles an event of the initial state. Only the bookmark that
// ends it moves the resume point: nothing before it is complete.
func (m *machine) initialEvent(in input, now time.Time, out *effects) {
	e := in.event
	switch {
	case e.Type != watch.EventBookmark:
		m.initialChange(e, now, out)
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

// initialChange takes an item of the initial state, or a change that follows the
// items. Items come in any order, changes in the order of their versions: one
// that is older than what came before was sent again. It would bring back what
// is gone, so it is left out; the end of the list tells what is true.
func (m *machine) initialChange(e *watch.Event, now time.Time, out *effects) {
	m.list.live = m.list.live || e.Type != watch.EventAdded
	version, ok := e.Object.Version()
	if m.list.live && ok && version < m.list.newest {
		out.add(effect{kind: complain, err: errBackwards})
		return
	}
	m.show(e.Object)
	if !m.list.live {
		m.extend(now, m.tuning.initialIdle)
	}
	out.add(effect{kind: apply})
}

// show notes what the list has given the sink.
func (m *machine) show(object *wire.Object) {
	version, _ := object.Version()
	m.list.newest = max(m.list.newest, version)
}

// errNoVersion: a state without a version cannot be watched from.
var errNoVersion = &watch.Error{Kind: watch.KindMalformed, Message: "a list came without a resourceVersion"}

// credible reports whether a complete state can be taken; otherwise it lists
// again. One that was to be not older than a version and is older all the same
// comes from a server that lied, or whose history began anew.
func (m *machine) credible(version string, stale bool, out *effects) bool {
	switch {
	case version == "":
		out.add(effect{kind: complain, err: errNoVersion})
		m.pause(0, out)
		return false
	case m.list.read != "" && (stale || m.backwards(version) || older(version, m.shown)):
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
	m.shown = 0
	m.extend(now, m.tuning.idle)
	if spoiled {
		m.readAgain(now)
	} else {
		m.incomplete = 0
	}
	out.add(effect{kind: commit, version: version, keep: spoiled})
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

// listInstead goes on with LIST and WATCH. Where bookmarks came but not the one
// that ends the initial events, or changes before it, this server does not say
// it, and is not asked again.
func (m *machine) listInstead(now time.Time, out *effects) {
	m.noStream = m.noStream || m.list.marked || m.list.live
	m.openList(now, out)
}
