package record

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"
)

// DamageError tells that a recording cannot be read on. Everything before was
// returned.
type DamageError struct {
	// Path of the file; "" where a Reader has none.
	Path string
	// Offset in the file of the frame that is damaged.
	Offset int64
	// Cut tells that the file ends within a frame, as after a crash; otherwise
	// there may be more behind the damage.
	Cut bool
	Err error
}

// Error implements error.
func (e *DamageError) Error() string {
	where := fmt.Sprintf("damaged at byte %d", e.Offset)
	if e.Cut {
		where = fmt.Sprintf("cut off within the frame at byte %d", e.Offset)
	}
	if e.Path != "" {
		where = e.Path + ": " + where
	}
	if e.Cut {
		return where
	}
	return where + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *DamageError) Unwrap() error { return e.Err }

// Reader reads one file of a recording. It is for one goroutine.
type Reader struct {
	frames *frames
	rest   []byte // of the frame
	err    error  // final

	header  Header
	read    bool // the header was
	synced  map[int]time.Time
	ended   bool
	rotated bool
	// skipState leaves out what the part before has told.
	skipState bool
}

// NewReader returns a reader, which reads ahead. Close frees what it holds; in is
// not closed.
func NewReader(in io.Reader) *Reader {
	return &Reader{frames: newFrames(in), synced: map[int]time.Time{}}
}

// Close frees the memory that decompression takes.
func (r *Reader) Close() { r.frames.close() }

// Header returns what the file says of itself. Errors are those of Next; io.EOF is
// never one: an empty file is damaged.
func (r *Reader) Header() (Header, error) {
	if r.read || r.err != nil {
		return r.header, r.headerError()
	}
	l, err := r.line()
	switch {
	case err == io.EOF:
		r.err = &DamageError{Cut: true, Err: io.ErrUnexpectedEOF}
	case err != nil:
		r.err = err
	case l.Record != headerLine:
		r.err = &DamageError{Err: errors.New("the file does not begin with a header")}
	default:
		r.header = Header{ID: l.ID, Part: max(l.Part, 1), Time: l.Time, Server: l.Server, Redacted: l.Redacted}
		for _, s := range l.Streams {
			r.header.Streams = append(r.header.Streams, s.stream())
		}
		r.read = true
	}
	return r.header, r.headerError()
}

func (r *Reader) headerError() error {
	if r.read {
		return nil
	}
	return r.err
}

// Streams are those that are known so far, in the order of their indexes.
func (r *Reader) Streams() []Stream { return r.header.Streams }

// Synced returns when all that existed had been told of a stream, and whether that
// is known so far.
func (r *Reader) Synced(stream int) (time.Time, bool) {
	at, ok := r.synced[stream]
	return at, ok
}

// Ended tells, once Next has returned io.EOF, whether the recording was ended in
// good order; else its program crashed or still records.
func (r *Reader) Ended() bool { return r.ended }

// Continues tells, once Next has returned io.EOF, that the recording was not ended
// but goes on in the next part.
func (r *Reader) Continues() bool { return r.rotated }

// Next returns the next event. It returns io.EOF after the last one and a
// *DamageError when the file cannot be read on. All errors are final.
func (r *Reader) Next() (Event, error) {
	if _, err := r.Header(); err != nil {
		return Event{}, err
	}
	for r.err == nil {
		l, err := r.line()
		if err != nil {
			r.err = err
			break
		}
		e, ok, err := r.take(l)
		if err != nil {
			r.err = &DamageError{Offset: r.frames.start, Err: err}
			break
		}
		if ok {
			return e, nil
		}
	}
	return Event{}, r.err
}

// take reads what one line says, and reports whether that is an event.
func (r *Reader) take(l *line) (e Event, ok bool, err error) {
	switch l.Record {
	case newStream:
		if l.New == nil {
			return Event{}, false, errors.New("a stream says nothing of itself")
		}
		r.header.Streams = append(r.header.Streams, l.New.stream())
	case syncedLine:
		if l.Stream != nil {
			r.synced[*l.Stream] = l.Time
		}
	case rotatedLine:
		r.rotated = true
	case endLine:
		r.ended = true
	case eventLine, stateLine:
		if e, err = l.event(len(r.header.Streams)); err != nil {
			return Event{}, false, err
		}
		return e, l.Record == eventLine || !r.skipState, nil
	}
	return Event{}, false, nil
}

// line returns the next line that is not blank.
func (r *Reader) line() (*line, error) {
	for {
		for len(r.rest) == 0 {
			content, err := r.frames.next()
			if err == io.EOF {
				return nil, err
			}
			if err != nil {
				return nil, &DamageError{Offset: r.frames.start, Cut: errors.Is(err, io.ErrUnexpectedEOF), Err: err}
			}
			r.rest = content
		}
		raw, rest, _ := bytes.Cut(r.rest, []byte{'\n'})
		r.rest = rest
		if len(bytes.TrimSpace(raw)) == 0 {
			continue
		}
		l, err := parseLine(raw)
		if err != nil {
			return nil, &DamageError{Offset: r.frames.start, Err: err}
		}
		return l, nil
	}
}
