package wire

import (
	"encoding/binary"
	"math/bits"
)

// skip consumes one value of any type.
func (s *scanner) skip() bool {
	for floor := s.depth; ; {
		if !s.hop(floor) && !s.walk() {
			continue // before a value
		}
		if s.err != nil || !s.leaveSkipped(floor) {
			return s.err == nil
		}
	}
}

// walk consumes the value at hand and returns true, or steps before the first value in it.
func (s *scanner) walk() bool {
	c := s.token()
	if c != '{' && c != '[' {
		s.scalar(c)
		return true
	}
	if !s.open() {
		return true
	}
	s.mark(c == '{')
	return !s.enterSkipped(c)
}

// mark notes for skip whether the container just opened is an object.
func (s *scanner) mark(object bool) {
	word, bit := s.depth/64, uint64(1)<<(s.depth%64)
	if object {
		s.nest[word] |= bit
	} else {
		s.nest[word] &^= bit
	}
}

// enterSkipped steps to the first value of the container that c began. It
// returns false when there is none.
func (s *scanner) enterSkipped(c byte) bool {
	if c == '{' {
		_, ok := s.member(true)
		return ok
	}
	return s.element(true)
}

// leaveSkipped is called after a value. It steps to the next one, out of as many
// containers as end there, or returns false when the depth floor is reached.
func (s *scanner) leaveSkipped(floor int) bool {
	for s.depth > floor && s.err == nil {
		ok := false
		if s.closing(s.depth) == '}' {
			_, ok = s.member(false)
		} else {
			ok = s.element(false)
		}
		if ok {
			return true
		}
	}
	return false
}

// hop consumes values as servers write them: at hand as a whole, without white space
// and escapes. It goes on from value to value, into containers and out of them, to the
// end of the last one above the depth floor, or up to what is written otherwise and has
// to be walked. It returns whether it stands after a value; if not, before one.
func (s *scanner) hop(floor int) bool {
	b := s.buf
	for s.pos+1 < len(b) { // the second byte of a value is at hand, or what follows it
		switch c := b[s.pos]; {
		case c != '{' && c != '[':
			if !s.hopTo(hopScalar(b, s.pos)) {
				return false
			}
		case s.depth == maxDepth:
			return false
		case b[s.pos+1] == c+2: // as in ASCII for both kinds of brackets
			s.pos += 2
		case !s.hopTo(hopInto(b, s.pos)):
			return false
		default:
			s.depth++
			s.mark(c == '{')
			continue
		}
		for s.depth > floor && s.pos < len(b) && b[s.pos] == s.closing(s.depth) {
			s.shut()
		}
		if s.depth == floor || !s.hopTo(hopNext(b, s.pos, s.closing(s.depth))) {
			return true
		}
	}
	return false
}

// hopTo goes to a place; it returns false if that is none, which is -1.
func (s *scanner) hopTo(i int) bool {
	if i < 0 {
		return false
	}
	s.pos = i
	return true
}

// closing returns the bracket that ends the container of that depth.
func (s *scanner) closing(depth int) byte {
	if s.nest[depth/64]&(1<<(depth%64)) != 0 {
		return '}'
	}
	return ']'
}

// hopInto returns the place of the first value in a container; -1 if that does not
// follow at once, so that there may be none.
func hopInto(b []byte, i int) int {
	if b[i] == '{' {
		i = hopKey(b, i+1)
	} else {
		i++
	}
	if i < 0 || i == len(b) || b[i] <= ' ' {
		return -1
	}
	return i
}

// hopNext returns the place of the next value in the container that is shut by closing,
// -1 if there is none, or it is not plain where.
func hopNext(b []byte, i int, closing byte) int {
	switch {
	case i >= len(b) || b[i] != ',':
		return -1
	case closing == '}':
		return hopKey(b, i+1)
	}
	return i + 1
}

// hopScalar returns the place after what is no container, -1 if it is not plain.
func hopScalar(b []byte, i int) int {
	switch b[i] {
	case '"':
		return hopString(b, i)
	case 't':
		return hopWord(b, i, "true")
	case 'f':
		return hopWord(b, i, "false")
	case 'n':
		return hopWord(b, i, "null")
	}
	return hopInteger(b, i)
}

// hopKey returns the place after a key and its colon, -1 if it is not plain.
func hopKey(b []byte, i int) int {
	if i >= len(b) || b[i] != '"' {
		return -1
	}
	if i = hopString(b, i); i < 0 || i >= len(b) || b[i] != ':' {
		return -1
	}
	return i + 1
}

// hopString returns the place after a string, -1 if it is not plain. Most end within eight bytes.
func hopString(b []byte, i int) int {
	i++
	if i+8 <= len(b) {
		if found := special(binary.LittleEndian.Uint64(b[i:])); found != 0 {
			if i += bits.TrailingZeros64(found) / 8; b[i] != '"' {
				return -1
			}
			return i + 1
		}
		i += 8
	}
	i += plain(b[i:])
	if i >= len(b) || b[i] != '"' {
		return -1
	}
	return i + 1
}

// hopWord returns the place after a word, -1 if it is another.
func hopWord(b []byte, i int, word string) int {
	if len(b)-i < len(word) || string(b[i:i+len(word)]) != word {
		return -1
	}
	return i + len(word)
}

// hopInteger returns the place after an integer whose end shows, -1 for anything else.
func hopInteger(b []byte, i int) int {
	if b[i] == '-' {
		i++
	}
	first := i
	for i < len(b) && '0' <= b[i] && b[i] <= '9' {
		i++
	}
	if i == first || i == len(b) || b[first] == '0' && i > first+1 {
		return -1
	}
	switch b[i] {
	case ',', '}', ']':
		return i
	}
	return -1
}
