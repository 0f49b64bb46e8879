package httpapi

import (
	"bytes"
	"net/http"

	"github.com/gocampus/hark/harktest/internal/service"
)

// eventEffects are the faults of one watch.
type eventEffects struct {
	list                                 []*eventEffect
	noBookmarks, noInitial, noInitialEnd bool
}

type eventEffect struct {
	effect
	dropped, doubled int
	replayed, spoilt bool
	recent           []service.Event // the last ones, for a replay
}

func newEventEffects(effects []effect) eventEffects {
	var all eventEffects
	for _, e := range effects {
		all.list = append(all.list, &eventEffect{effect: e})
		all.noBookmarks = all.noBookmarks || e.NoBookmarks
		all.noInitial = all.noInitial || e.NoInitialEvents
		all.noInitialEnd = all.noInitialEnd || e.NoInitialEnd
	}
	return all
}

// expand returns what is sent instead of an event, the n-th of its watch.
func (all *eventEffects) expand(n int, e service.Event) []service.Event {
	result := []service.Event{e}
	for _, f := range all.list {
		if n < f.AfterEvents {
			f.remember(e)
			continue
		}
		switch {
		case f.dropped < f.DropEvents:
			f.dropped++
			result = nil
		case f.doubled < f.DoubleEvents:
			f.doubled++
			result = append(result, result...)
		case f.ReplayEvents > 0 && !f.replayed:
			f.replayed = true
			result = append(f.recent, result...)
		}
	}
	return result
}

func (f *eventEffect) remember(e service.Event) {
	if f.ReplayEvents == 0 {
		return
	}
	f.recent = append(f.recent, e)
	if len(f.recent) > f.ReplayEvents {
		f.recent = f.recent[1:]
	}
}

// interrupted ends or holds the watch where a fault asks for it, and otherwise
// returns true.
func (s *stream) interrupted() bool {
	for _, f := range s.effects.list {
		if s.seen < f.AfterEvents {
			continue
		}
		if f.Silent {
			s.flush()
			hold(s.request, &f.effect)
		}
		if f.EventError {
			s.error(f.status())
			return false
		}
	}
	return true
}

// spoil breaks the frame that begins at start, where a fault asks for it.
func (s *stream) spoil(start int) {
	for _, f := range s.effects.list {
		if s.seen < f.AfterEvents || f.spoilt {
			continue
		}
		if f.CutEvent {
			s.buffer = s.buffer[:start+(len(s.buffer)-start)/2]
			s.flush()
			panic(http.ErrAbortHandler)
		}
		if f.MalformedEvent {
			f.spoilt = true
			s.malform(start)
		}
	}
}

// malform makes the object in a frame undecodable and leaves the frame whole.
func (s *stream) malform(start int) {
	frame := s.buffer[start:]
	if s.media.protobuf() {
		// The object's first field becomes one of an impossible wire type.
		if i := bytes.Index(frame, []byte("k8s\x00")); i >= 0 {
			for j := len(frame) - len(protobufTail) - 1; j > i+4 && j > len(frame)/2; j-- {
				frame[j] = 0xff
			}
		}
		return
	}
	broken := bytes.Replace(frame, []byte(`"metadata":{`), []byte(`"metadata":7,"was":{`), 1)
	s.buffer = append(s.buffer[:start], broken...)
}
