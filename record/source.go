package record

import (
	"context"
	"fmt"
	"io"
	"sort"
	"strconv"
	"sync"
	"time"

	"github.com/gocampus/hark/watch"
	"github.com/gocampus/hark/wire"
)

// bookmarkInterval is how often a quiet watch says where it is, as servers do.
const bookmarkInterval = time.Minute

// List implements watch.Source: what is true now, in one page.
func (t *track) List(ctx context.Context, _ watch.ListOptions) (watch.ListStream, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	p := t.player
	p.mu.Lock()
	defer p.mu.Unlock()
	return &listing{events: t.state.Events(time.Time{}), meta: wire.ListMeta{ResourceVersion: versionText(t.version)}}, nil
}

// listing is one answer to List.
type listing struct {
	events []Event
	meta   wire.ListMeta
}

// Next implements watch.ListStream.
func (l *listing) Next() (*wire.Object, error) {
	if len(l.events) == 0 {
		return nil, io.EOF
	}
	object := l.events[0].Object
	l.events = l.events[1:]
	return object, nil
}

// Meta implements watch.ListStream.
func (l *listing) Meta() wire.ListMeta { return l.meta }

// Close implements watch.ListStream.
func (l *listing) Close() error { return nil }

// Watch implements watch.Source.
func (t *track) Watch(ctx context.Context, o watch.WatchOptions) (watch.Stream, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	w := &watching{track: t, ctx: ctx, closed: make(chan struct{})}
	if o.Timeout > 0 {
		w.ends = time.Now().Add(o.Timeout)
	}
	p := t.player
	p.mu.Lock()
	defer p.mu.Unlock()
	if o.SendInitialEvents || o.ResourceVersion == "" || o.ResourceVersion == "0" {
		w.begin(o.SendInitialEvents)
		return w, nil
	}
	version, err := strconv.ParseUint(o.ResourceVersion, 10, 64)
	switch {
	case err != nil:
		return nil, &watch.Error{Kind: watch.KindInvalid, Message: fmt.Sprintf("replay: %q is no resourceVersion of a recording", o.ResourceVersion)}
	case version < t.base:
		return nil, expired()
	}
	w.position = sort.Search(t.played, func(i int) bool { return t.steps[i].version > version })
	return w, nil
}

// expired is the error of a watch that cannot go on.
func expired() *watch.Error {
	return &watch.Error{Kind: watch.KindExpired, Code: 410, Message: "replay: the recording was made anew by a list here"}
}

// watching is one watch. It is for one goroutine, but for Close.
type watching struct {
	track    *track
	ctx      context.Context // of the request, which it is
	ends     time.Time       // zero: it does not
	pending  []watch.Event
	position int // steps of the track that were sent
	expired  bool

	close  sync.Once
	closed chan struct{}
}

// begin sends the state first. The caller holds the player's mu.
func (w *watching) begin(bookmark bool) {
	t := w.track
	w.position = t.played
	for _, e := range t.state.Events(time.Time{}) {
		w.pending = append(w.pending, watch.Event{Type: watch.EventAdded, Object: e.Object})
	}
	if bookmark {
		w.pending = append(w.pending, watch.Event{Type: watch.EventBookmark, ResourceVersion: versionText(t.version), InitialEventsEnd: true})
	}
}

// Next implements watch.Stream.
func (w *watching) Next() (watch.Event, error) {
	for {
		if err := w.over(); err != nil {
			return watch.Event{}, err
		}
		event, changed := w.take()
		if changed == nil {
			return event, nil
		}
		bookmark, err := w.wait(changed)
		if err != nil {
			return watch.Event{}, err
		}
		if bookmark {
			if event, ok := w.bookmark(); ok {
				return event, nil
			}
		}
	}
}

// over returns why there is nothing any more, if that is so.
func (w *watching) over() error {
	select {
	case <-w.closed:
		return &watch.Error{Kind: watch.KindUnavailable, Message: "replay: the watch was closed"}
	default:
	}
	switch {
	case w.ctx.Err() != nil:
		return context.Cause(w.ctx)
	case w.expired, !w.ends.IsZero() && !time.Now().Before(w.ends):
		return io.EOF
	}
	return nil
}

// take returns what there is to send, or a channel to wait for.
func (w *watching) take() (watch.Event, <-chan struct{}) {
	if len(w.pending) > 0 {
		event := w.pending[0]
		w.pending = w.pending[1:]
		return event, nil
	}
	t := w.track
	t.player.mu.Lock()
	defer t.player.mu.Unlock()
	if w.position == t.played {
		return watch.Event{}, t.player.changed
	}
	s := t.steps[w.position]
	w.position++
	if s.relist {
		w.expired = true
		return watch.Event{Type: watch.EventError, Err: expired()}, nil
	}
	return watch.Event{Type: s.events[0].Type, Object: s.events[0].Object}, nil
}

// bookmark says where the watch is, if that is up to date.
func (w *watching) bookmark() (watch.Event, bool) {
	t := w.track
	t.player.mu.Lock()
	defer t.player.mu.Unlock()
	return watch.Event{Type: watch.EventBookmark, ResourceVersion: versionText(t.version)}, w.position == t.played
}

// wait waits for a change, and reports whether a bookmark is due before.
func (w *watching) wait(changed <-chan struct{}) (bookmark bool, err error) {
	pause := bookmarkInterval
	if !w.ends.IsZero() {
		pause = min(pause, time.Until(w.ends))
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-changed:
		return false, nil
	case <-timer.C:
		return w.ends.IsZero() || time.Now().Before(w.ends), nil
	case <-w.ctx.Done():
		return false, context.Cause(w.ctx)
	case <-w.closed:
		return false, w.over()
	}
}

// Close implements watch.Stream.
func (w *watching) Close() error {
	w.close.Do(func() { close(w.closed) })
	return nil
}
