package wire

import "io"

// jsonFrames reads the frames of a watch in JSON: one document after the other,
// each an object with a type and an object.
type jsonFrames struct {
	window
	scanner scanner
}

func newJSONFrames(r io.Reader, limit int) *jsonFrames {
	j := &jsonFrames{window: window{r: r}}
	j.scanner = pulling(&j.window, limit)
	return j
}

func (j *jsonFrames) next(f *frame) error {
	s := &j.scanner
	if err := s.border(); err != nil {
		return err
	}
	began := s.base
	*f = frame{began: began, found: found{edits: reuse(f.found.edits)}}
	bad := s.event(f)
	switch err := s.oversized("frame", began); {
	case s.err != nil:
		return s.err
	case err != nil:
		return err
	}
	return bad
}

// event consumes one frame. The error it returns is about the frame's content;
// that of the text is in s.err.
func (s *scanner) event(f *frame) (bad error) {
	if s.peek() != '{' {
		s.unexpected("an event")
		return nil
	}
	s.open()
	var name, object span
	for key, ok := s.member(true); ok; key, ok = s.member(false) {
		switch c := s.peek(); s.name(key) {
		case "type":
			if c == '"' {
				name, _ = s.str()
			} else {
				bad = s.skipOther(bad, "event's type is not a string")
			}
		case "object":
			if c == '{' {
				s.find(&f.found)
				object = span{start: f.found.start, end: f.found.end}
			} else {
				bad = s.skipOther(bad, "event's object is not an object")
			}
		default:
			s.skip()
		}
	}
	if s.err != nil || s.over {
		return nil
	}
	f.eventType = EventType(s.text(name))
	if object.end > 0 {
		f.object = s.buf[object.start:object.end]
		f.offset = s.base + int64(object.start)
	}
	return bad
}

// skipOther consumes a value of a type that does not fit. It returns the first
// error about the frame: null is none.
func (s *scanner) skipOther(bad error, what string) error {
	if s.peek() != 'n' && bad == nil {
		bad = s.bad(what)
	}
	s.skip()
	return bad
}

func (j *jsonFrames) release(err error) {
	j.scanner.buf, j.scanner.pos = nil, 0
	j.window.release(err)
}
