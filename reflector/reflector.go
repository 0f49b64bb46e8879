package reflector

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/gocampus/hark/internal/sleep"
	"github.com/gocampus/hark/watch"
)

// Reflector keeps a Sink equal to a Source.
type Reflector struct {
	source  watch.Source
	sink    Sink
	options Options

	mu      sync.Mutex
	status  Status
	synced  chan struct{}
	stopped chan struct{} // closed when Run has ended
}

// New returns a reflector; it does nothing before Run.
func New(source watch.Source, sink Sink, o Options) *Reflector {
	return &Reflector{
		source: source, sink: sink, options: o,
		synced: make(chan struct{}), stopped: make(chan struct{}),
	}
}

// ErrStopped is returned by WaitSync when Run has ended without a complete state.
var ErrStopped = errors.New("reflector: it has stopped")

// Run lists and watches until ctx ends, and returns its cause. It never gives
// up on its own account. It interrupts everything at once, a pause too, and
// leaves no goroutine behind. A reflector runs once; a second Run panics.
func (r *Reflector) Run(ctx context.Context) error {
	l := &loop{r: r, m: machine{tuning: r.options.tuning()}}
	r.begin()
	defer func() {
		l.closeRequest()
		close(r.stopped)
		r.publish(func(s *Status) { s.Phase, s.Retry = Stopped, time.Time{} })
	}()
	for in := (input{kind: started}); ctx.Err() == nil; in = l.next(ctx) {
		l.step(ctx, in)
	}
	return context.Cause(ctx)
}

func (r *Reflector) begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.status.Phase != Idle {
		panic("reflector: Run called twice")
	}
	r.status.Phase, r.status.Since = Waiting, time.Now()
}

// loop is the state of one Run; it belongs to its goroutine.
type loop struct {
	r *Reflector
	m machine

	waiting bool
	pausing time.Duration // how long to wait
	parking time.Duration // if set: how long to wait for the kind
	vain    int           // times in a row that the source said that the kind is there, and it was not
	reason  *watch.Error
	bad     *watch.Error // what could not be read, the last of it
	list    watch.ListStream
	stream  watch.Stream
	flushed bool // list or stream flushes the sink before it waits
	guard   *watchdog
	failure error // of opening the request
	event   watch.Event
	stale   bool // the running list held something older than the sink has
	counts  Counts
	last    time.Time
}

// next waits for the next input from whatever is running.
func (l *loop) next(ctx context.Context) input {
	switch {
	case l.waiting:
		return l.pause(ctx)
	case l.failure != nil:
		return l.broken(l.failure)
	case l.list != nil:
		return l.nextItem()
	default:
		return l.nextEvent()
	}
}

func (l *loop) pause(ctx context.Context) input {
	if l.parking > 0 {
		l.park(ctx)
	} else {
		_ = sleep.For(ctx, l.pausing) // the loop sees the end itself
	}
	l.waiting = false
	return input{kind: waitedLong}
}

// step runs the machine and carries out what it says.
func (l *loop) step(ctx context.Context, in input) {
	now := time.Now()
	l.observe(in, now)
	var out effects
	l.m.step(in, now, &out)
	quiet := in.kind == received && l.reason == nil
	for i := range out.n {
		quiet = l.perform(ctx, &out.list[i], in) && quiet
	}
	if l.guard != nil {
		l.guard.move(l.m.deadline)
	}
	if !quiet || !l.flushed {
		l.r.sink.Flush()
	}
	if quiet {
		l.count() // the hot path: nothing but numbers changed
		return
	}
	if l.delivering(in) {
		l.reason, l.parking, l.vain = nil, 0, 0
		if l.m.incomplete > 0 {
			l.reason = l.bad
		}
	}
	l.show()
}

// delivering reports whether the source is at work again: something came, or a
// watch was opened that goes on from where the last one ended.
func (l *loop) delivering(in input) bool {
	if l.waiting || l.failure != nil {
		return false
	}
	return in.kind == pageEnded || in.kind == received || l.m.phase == Watching
}

// observe counts what came in and shows failures before anything is done about
// them.
func (l *loop) observe(in input, now time.Time) {
	switch {
	case in.kind == unreadable:
		l.counts.BadObjects++
		l.bad = in.err
		if l.r.options.OnBadObject != nil {
			l.r.sink.Flush()
			l.r.options.OnBadObject(in.err)
		}
	case in.kind == wentDeaf && l.m.phase == Watching && l.m.rereadDue(now): // not deaf: a list is due
	case in.kind == wentDeaf:
		l.counts.Deaf++
		l.fault(&watch.Error{Kind: watch.KindUnavailable, Message: "nothing was received any more; the request was ended"})
	case in.kind == failed:
		l.fault(in.err)
	case in.kind != received:
	case in.event.Type == watch.EventError:
		l.fault(in.event.Err)
	case in.event.Type == watch.EventBookmark:
		l.last = now
		l.counts.Bookmarks++
	default:
		l.last = now
		l.counts.Events++
	}
}

// fault keeps and shows the newest failure, but of a kind that goes on missing
// the first one.
func (l *loop) fault(err *watch.Error) {
	l.r.sink.Flush()
	if !isMissing(err) || !isMissing(l.reason) {
		l.reason = err
	}
	l.show()
}

// perform carries out one effect and reports whether it is of the quiet kind
// that comes with every event.
func (l *loop) perform(ctx context.Context, e *effect, in input) (quiet bool) {
	switch e.kind {
	case apply:
		l.apply(in.event)
		return true
	case advance:
		l.r.sink.Advance(e.version)
		return true
	case openList:
		l.openList(ctx, e.list)
	case openWatch:
		l.openWatch(ctx, e.watch)
	case begin:
		l.stale = false
		l.r.sink.Begin(e.force, e.anew)
	case commit:
		if l.synced() {
			l.counts.Relists++
		}
		l.r.sink.Commit(e.version, e.keep)
	case pause:
		l.closeRequest()
		l.pausing, l.parking, l.waiting = e.delay, e.parked, true
	case complain:
		if e.err == errBackwards {
			l.counts.Regressions++
		}
		l.fault(e.err)
	}
	return false
}

// apply gives the event to the sink: in a streaming list's initial part an
// ADDED is an item of the list.
func (l *loop) apply(e *watch.Event) {
	if l.m.phase == Streaming && e.Type == watch.EventAdded {
		l.stale = l.r.sink.Put(e.Object) || l.stale
		return
	}
	l.r.sink.Apply(e.Type, e.Object)
}

func (l *loop) synced() bool {
	select {
	case <-l.r.synced:
		return true
	default:
		return false
	}
}
