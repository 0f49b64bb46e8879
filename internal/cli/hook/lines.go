package hook

import "bytes"

// maxLine bounds the bytes of a line that is put together before it is passed on.
// A longer one, such as binary output, is passed on in pieces of this size.
const maxLine = 64 << 10

// lines cuts what a program writes into lines and passes them on as they come, as
// many at once as one Write has. It is for one goroutine.
type lines struct {
	pass func(block []byte)
	// holds tells whether a line is held back until another one comes; nil holds
	// none.
	holds func(line []byte) bool
	// takes is offered each line, after all before it were passed on, and tells
	// whether it keeps it from being passed on; nil takes none.
	takes func(line []byte) bool
	// remembers keeps the beginning of the last line that is not empty.
	remembers bool

	begun []byte // of a line without its end
	block []byte // to pass on
	held  []byte // the last line, without its end; nil for none
	last  string
}

// Write implements io.Writer. It never fails.
func (l *lines) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		line, after, ended := bytes.Cut(rest, []byte("\n"))
		if room := maxLine - len(l.begun); len(line) > room {
			line, after, ended = rest[:room], rest[room:], true
		}
		l.begun = append(l.begun, line...)
		if ended {
			l.add(l.begun)
			l.begun = l.begun[:0]
		}
		rest = after
	}
	l.flush()
	return len(p), nil
}

// add passes a line on, with the next flush, or holds it back.
func (l *lines) add(line []byte) {
	l.unhold()
	line = bytes.TrimSuffix(line, []byte("\r"))
	if l.remembers {
		l.remember(line)
	}
	if l.takes != nil && bytes.HasPrefix(bytes.TrimLeft(line, " \t"), []byte("{")) {
		l.flush()
		if l.takes(line) {
			return
		}
	}
	if l.holds != nil && l.holds(line) {
		l.held = bytes.Clone(line)
		return
	}
	l.block = append(append(l.block, line...), '\n')
}

func (l *lines) remember(line []byte) {
	if said := bytes.TrimSpace(line[:min(len(line), 2*maxSaid)]); len(said) > 0 {
		l.last = clip(string(said))
	}
}

// unhold passes on what was held back: it was not the last line.
func (l *lines) unhold() {
	if l.held != nil {
		l.block = append(append(l.block, l.held...), '\n')
		l.held = nil
	}
}

func (l *lines) flush() {
	if len(l.block) > 0 {
		l.pass(l.block)
		l.block = l.block[:0]
	}
}

// close passes on a last line without an end and returns the line that is held
// back, if any.
func (l *lines) close() (held []byte) {
	if len(l.begun) > 0 {
		l.add(l.begun)
		l.begun = nil
		l.flush()
	}
	held, l.held = l.held, nil
	return held
}
