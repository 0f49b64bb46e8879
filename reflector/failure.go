package reflector

import (
	"time"

	"github.com/gocampus/hark/watch"
)

// fail decides what follows a failed request.
func (m *machine) fail(err *watch.Error, now time.Time, out *effects) {
	if m.phase == Watching || m.phase == Checking {
		m.failWatch(err, now, out)
		return
	}
	switch {
	case err.Kind == watch.KindInvalid && m.phase == Streaming:
		m.noStream = true
		m.openList(now, out)
	case err.Kind == watch.KindExpired && m.list.token != "" && !m.list.unpaged:
		// The rest of the pages is gone. A whole list follows; what was read
		// already is known by then and told to nobody twice.
		m.list.unpaged, m.consistent = true, true
		m.openList(now, out)
	case needsConsistentRead(err.Kind) && !m.consistent && m.resume != "":
		m.consistent = true
		m.open(now, out)
	case err.Kind == watch.KindNotFound:
		m.list.token = ""
		m.park(out)
	default:
		m.list.token = ""
		m.again(err.RetryAfter, now, out)
	}
}

// needsConsistentRead reports whether the version asked for was the trouble.
func needsConsistentRead(kind watch.ErrorKind) bool {
	return kind == watch.KindExpired || kind == watch.KindTooLargeVersion || kind == watch.KindInvalid
}

// failWatch decides what follows a watch that could not be opened or broke.
func (m *machine) failWatch(err *watch.Error, now time.Time, out *effects) {
	switch {
	case m.phase == Checking:
		m.silent = false // a check is of use, not a condition: the watch goes on without
	case m.lasted(now):
		m.healthy()
	}
	switch err.Kind {
	case watch.KindExpired:
		m.relist(now, out)
	case watch.KindTooLargeVersion, watch.KindInvalid: // the version is of no use here
		m.consistent = true
		m.again(err.RetryAfter, now, out)
	case watch.KindNotFound: // is the kind gone? a list tells, a little later
		m.consistent = true
		m.pause(err.RetryAfter, out)
	default:
		m.again(err.RetryAfter, now, out)
	}
}

// relist lists at the last version: at once the first time, later with a pause,
// so that a server that expires every watch is not flooded.
func (m *machine) relist(now time.Time, out *effects) {
	m.phase = Listing
	if m.failures == 0 && !m.quick {
		m.quick = true
		m.open(now, out)
		return
	}
	m.pause(0, out)
}

// again tries once more: at once when something healthy broke, else after a
// pause that grows with each failure, and not before the server's wish.
func (m *machine) again(atLeast time.Duration, now time.Time, out *effects) {
	if m.failures == 0 && !m.quick && atLeast == 0 && m.phase == Watching && m.lasted(now) {
		m.quick = true
		m.open(now, out)
		return
	}
	m.pause(atLeast, out)
}

func (m *machine) pause(atLeast time.Duration, out *effects) {
	m.failures++
	delay := max(m.tuning.backoff(m.failures), min(atLeast, maxRetryAfter))
	out.add(effect{kind: pause, delay: delay})
}

// park waits for a kind that the server says it does not have. When it comes, it
// may count anew. What the sink holds is kept until then, or dropped now.
func (m *machine) park(out *effects) {
	m.consistent, m.anew = true, true
	if m.tuning.dropMissing && m.resume != "" {
		m.setResume("")
		out.add(effect{kind: begin, force: true})
		out.add(effect{kind: commit})
	}
	m.failures++
	out.add(effect{kind: pause, delay: m.tuning.backoff(m.failures), parked: m.tuning.missing(m.failures)})
}

// maxRetryAfter bounds what a server may ask for.
const maxRetryAfter = 5 * time.Minute
