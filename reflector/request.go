package reflector

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/gocampus/hark/watch"
	"github.com/gocampus/hark/wire"
)

// errNext is the cause with which a request ends when another one follows.
var errNext = errors.New("reflector: request ended")

func (l *loop) nextItem() input {
	for {
		object, err := l.list.Next()
		switch {
		case err == nil && object != nil:
			l.counts.Items++
			l.last = time.Now()
			l.m.extend(l.last, l.m.tuning.idle)
			l.guard.move(l.m.deadline)
			if l.m.phase == Listing {
				l.m.show(object)
				l.stale = l.r.sink.Put(object) || l.stale
			}
			if !l.flushed {
				l.r.sink.Flush()
			}
		case err == nil:
			return l.unreadable(errNoObject)
		case err == io.EOF:
			meta := l.list.Meta()
			return input{kind: pageEnded, version: meta.ResourceVersion, token: meta.Continue, stale: l.stale}
		default:
			return l.broken(err)
		}
	}
}

func (l *loop) nextEvent() input {
	event, err := l.stream.Next()
	switch {
	case err == io.EOF:
		return input{kind: closed}
	case err != nil:
		return l.broken(err)
	case !complete(&event):
		return l.unreadable(errNoObject)
	}
	l.event = event
	return input{kind: received, event: &l.event, stale: l.stale}
}

var (
	errNoObject = &watch.Error{Kind: watch.KindObject, Message: "something came without an object"}
	errNoAnswer = &watch.Error{Kind: watch.KindMalformed, Message: "the source gave neither an answer nor an error"}
)

// complete reports whether an event has what its type promises.
func complete(e *watch.Event) bool {
	switch e.Type {
	case watch.EventBookmark:
		return true
	case watch.EventError:
		return e.Err != nil
	}
	return e.Object != nil
}

// broken turns an error of a request into an input.
func (l *loop) broken(err error) input {
	known, ok := errors.AsType[*watch.Error](err)
	switch {
	case l.guard.deaf.Load():
		return input{kind: wentDeaf}
	case !ok:
		known = &watch.Error{Kind: watch.KindUnavailable, Err: err}
	case known.Kind == watch.KindObject:
		return l.unreadable(known)
	}
	return input{kind: failed, err: known}
}

func (l *loop) unreadable(bad *watch.Error) input { return input{kind: unreadable, err: bad} }

func (l *loop) openList(ctx context.Context, o watch.ListOptions) {
	ctx = l.newRequest(ctx)
	l.counts.Lists++
	l.list, l.failure = l.r.source.List(ctx, o)
	l.tune(l.list)
	if l.list == nil && l.failure == nil {
		l.failure = errNoAnswer
	}
}

func (l *loop) openWatch(ctx context.Context, o watch.WatchOptions) {
	ctx = l.newRequest(ctx)
	l.counts.Watches++
	l.stream, l.failure = l.r.source.Watch(ctx, o)
	l.tune(l.stream)
	if l.stream == nil && l.failure == nil {
		l.failure = errNoAnswer
	}
}

// tune lets a stream flush the sink before it waits, and a sink that is a
// wire.Keeper decide how the stream's objects are kept.
func (l *loop) tune(stream any) {
	tuner, ok := stream.(watch.Tuner)
	if l.flushed = ok; !ok {
		return
	}
	keeper, _ := l.r.sink.(wire.Keeper)
	tuner.Tune(watch.Tuning{Keeper: keeper, BeforeRead: l.r.sink.Flush})
}

// newRequest ends the running request and returns the context of the next one.
func (l *loop) newRequest(ctx context.Context) context.Context {
	l.closeRequest()
	ctx, l.guard = guardRequest(ctx, l.m.deadline)
	return ctx
}

// closeRequest ends the running request. That, and the answer to the next one, may
// take its time: nothing waits for it.
func (l *loop) closeRequest() {
	l.r.sink.Flush()
	if l.guard != nil {
		l.guard.stop(errNext)
	}
	if l.list != nil {
		l.list.Close()
	}
	if l.stream != nil {
		l.stream.Close()
	}
	l.guard, l.list, l.stream, l.failure = nil, nil, nil, nil
}
