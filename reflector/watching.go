package reflector

import (
	"strconv"
	"time"

	"github.com/gocampus/hark/watch"
)

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

// errBackwards: see regress.
var errBackwards = &watch.Error{Kind: watch.KindMalformed, Message: "the resourceVersion went backwards; the server is asked what is true"}

func (m *machine) bookmark(e *watch.Event, now time.Time, out *effects) {
	if m.backwards(e.ResourceVersion) {
		m.doubt(out)
		return
	}
	m.moved(e.ResourceVersion, now, out)
}

func (m *machine) change(e *watch.Event, now time.Time, out *effects) {
	version := e.Object.ResourceVersion()
	if m.backwards(version) {
		m.doubt(out)
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
func (m *machine) backwards(version string) bool { return older(version, m.number) }

func older(version string, than uint64) bool {
	number, err := strconv.ParseUint(version, 10, 64)
	return err == nil && number < than
}

// doubt ends a watch whose versions ran backwards: either something old was sent
// again or the server's history began anew. A check tells; in the first case the
// watch goes on from where it was, and nothing is missed.
func (m *machine) doubt(out *effects) {
	m.silent = true
	out.add(effect{kind: complain, err: errBackwards})
	m.pause(0, out)
}

// regress answers a server whose history began anew, or that lists what is older
// than it was asked for: a consistent list, which counts.
func (m *machine) regress(out *effects) {
	m.consistent, m.anew = true, true
	out.add(effect{kind: complain, err: errBackwards})
	m.pause(0, out)
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
