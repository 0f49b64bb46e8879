package wire

import (
	"fmt"
	"io"
)

// maxDepth is how deep JSON values may nest, as in encoding/json.
const maxDepth = 10_000

// scanner walks JSON text and checks its grammar in full. It allocates for escapes
// and errors alone. It has two modes: the whole text is at hand (src is nil), or the text
// is pulled from a window as it is walked, in which case buf is what the window
// holds and starts where the value at hand does.
type scanner struct {
	buf   []byte
	pos   int
	base  int64 // offset of buf[0] in the stream or object
	depth int   // of open objects and arrays
	err   error // the first error; final

	src   *window
	limit int  // bytes to keep of one value when pulling
	over  bool // the value at hand is over the limit: bytes that are walked are dropped

	// nest has a bit for each array or object that skip has open: set for an object.
	nest [maxDepth/64 + 1]uint64
}

// span is a part of scanner.buf: the content of a string, without its quotes.
type span struct {
	start, end int
	escaped    bool // it holds a backslash
}

// token skips white space and returns the next byte without consuming it, or 0
// when there is none.
func (s *scanner) token() byte {
	for {
		for ; s.pos < len(s.buf); s.pos++ {
			switch c := s.buf[s.pos]; c {
			case ' ', '\t', '\n', '\r':
			default:
				return c
			}
		}
		if !s.more() {
			return 0
		}
	}
}

// peek returns the next byte without consuming it, or 0 when there is none.
func (s *scanner) peek() byte {
	if s.pos < len(s.buf) || s.more() {
		return s.buf[s.pos]
	}
	return 0
}

// more gets bytes after the end of buf. It returns false, with err set, when
// there are none.
func (s *scanner) more() bool {
	switch {
	case s.err != nil:
		return false
	case s.src == nil:
		return s.fail("JSON text ends inside a value", io.ErrUnexpectedEOF)
	}
	return s.pull()
}

// fail sets the first error, at the position at hand, and returns false.
func (s *scanner) fail(what string, cause error) bool {
	if s.err == nil {
		s.err = &Error{
			Offset: s.base + int64(s.pos),
			What:   what,
			Object: s.src == nil, // in a stream no border can be found after it
			Err:    cause,
		}
	}
	return false
}

// unexpected fails because the byte at hand is not what the grammar wants.
func (s *scanner) unexpected(want string) bool {
	if s.err != nil {
		return false
	}
	if c := s.peek(); s.err == nil {
		return s.fail(fmt.Sprintf("JSON has %q instead of %s", c, want), nil)
	}
	return false
}

// open consumes the bracket that begins an object or an array.
func (s *scanner) open() bool {
	if s.depth++; s.depth > maxDepth {
		return s.fail(fmt.Sprintf("JSON nests deeper than %d", maxDepth), nil)
	}
	s.pos++
	return true
}

// shut consumes the bracket that ends an object or an array.
func (s *scanner) shut() {
	s.depth--
	s.pos++
}

// member steps to the next member of the object at hand: it consumes the comma
// (unless this is the first member), the key and the colon, and leaves the
// scanner before the value. It returns false at the end of the object, which it
// consumes, and on an error.
func (s *scanner) member(first bool) (key span, ok bool) {
	if !s.toKey(first) {
		return key, false
	}
	key, ok = s.str()
	return key, ok && s.colon()
}

// toKey is the part of member that leaves the scanner before the key.
func (s *scanner) toKey(first bool) bool {
	switch c := s.token(); {
	case c == '}':
		s.shut()
		return false
	case first:
	case c == ',':
		s.pos++
	default:
		return s.unexpected("',' or '}'")
	}
	return s.token() == '"' || s.unexpected("a key")
}

// colon is the part of member after the key.
func (s *scanner) colon() bool {
	if s.token() != ':' {
		return s.unexpected("':'")
	}
	s.pos++
	s.token()
	return s.err == nil
}

// element steps to the next element of the array at hand, like member.
func (s *scanner) element(first bool) bool {
	switch c := s.token(); {
	case c == ']':
		s.shut()
		return false
	case first:
		return s.err == nil
	case c == ',':
		s.pos++
		s.token()
		return s.err == nil
	}
	return s.unexpected("',' or ']'")
}
