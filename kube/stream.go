package kube

import (
	"io"

	"github.com/gocampus/hark/watch"
	"github.com/gocampus/hark/wire"
)

// stream is an open watch. It adds no allocation to those of the reader.
type stream struct {
	body    *body
	reading wire.Options
	reader  *wire.WatchReader
	final   error // what every further Next returns
}

var _ watch.Tuner = (*stream)(nil)

func newStream(b *body, reading wire.Options) *stream {
	return &stream{body: b, reading: reading, reader: wire.NewWatchReader(b.stream, b.encoding, reading)}
}

// Next implements watch.Stream.
func (s *stream) Next() (watch.Event, error) {
	if s.final != nil {
		return watch.Event{}, s.final
	}
	if !s.body.enter() {
		return watch.Event{}, s.body.closedError()
	}
	frame, err := s.reader.Next()
	if err != nil {
		mapped, final := s.body.fail(err)
		if final {
			s.final = mapped
		}
		return watch.Event{}, mapped
	}
	s.body.leave()
	return s.event(frame), nil
}

func (s *stream) event(frame wire.WatchEvent) watch.Event {
	event := watch.Event{
		Type:             watch.EventType(frame.Type),
		Object:           frame.Object,
		ResourceVersion:  frame.ResourceVersion,
		InitialEventsEnd: frame.InitialEventsEnd,
	}
	if event.Type == watch.EventError {
		event.Err = s.body.request.refused(refusalIn(frame.Status))
	}
	return event
}

// refusalIn reads the Status of an ERROR event as the answer that it stands for.
func refusalIn(status *wire.Status) refusal {
	if status == nil {
		return refusal{}
	}
	return refusal{code: int(status.Code), status: status}
}

// Tune implements watch.Tuner.
func (s *stream) Tune(t watch.Tuning) {
	s.reading.Keeper = t.Keeper
	s.reader = wire.NewWatchReader(hooked(s.body.stream, t.BeforeRead), s.body.encoding, s.reading)
}

// Close implements watch.Stream.
func (s *stream) Close() error { return s.body.Close() }

// hookedReader calls before before every Read.
type hookedReader struct {
	io.Reader
	before func()
}

func hooked(r io.Reader, before func()) io.Reader {
	if before == nil {
		return r
	}
	return hookedReader{r, before}
}

func (h hookedReader) Read(p []byte) (int, error) {
	h.before()
	return h.Reader.Read(p)
}

// listStream is an open list.
type listStream struct {
	body    *body
	reading wire.Options
	reader  *wire.ListReader
	final   error // what every further Next returns
}

var _ watch.Tuner = (*listStream)(nil)

func newListStream(b *body, reading wire.Options) *listStream {
	return &listStream{body: b, reading: reading, reader: wire.NewListReader(b.stream, b.encoding, reading)}
}

// Next implements watch.ListStream.
func (l *listStream) Next() (*wire.Object, error) {
	if l.final != nil {
		return nil, l.final
	}
	if !l.body.enter() {
		return nil, l.body.closedError()
	}
	object, err := l.reader.Next()
	if err != nil {
		mapped, final := l.body.fail(err)
		if final {
			l.final = mapped
		}
		return nil, mapped
	}
	l.body.leave()
	return object, nil
}

// Tune implements watch.Tuner.
func (l *listStream) Tune(t watch.Tuning) {
	l.reading.Keeper = t.Keeper
	l.reader = wire.NewListReader(hooked(l.body.stream, t.BeforeRead), l.body.encoding, l.reading)
}

// Meta implements watch.ListStream.
func (l *listStream) Meta() wire.ListMeta { return l.reader.Meta() }

// Close implements watch.ListStream.
func (l *listStream) Close() error { return l.body.Close() }
