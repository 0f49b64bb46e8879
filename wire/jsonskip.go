package wire

import (
	"encoding/binary"
	"math/bits"
)

// skip consumes one value of any type.
func (s *scanner) skip() bool {
	for floor := s.depth; ; {
		if s.hop(floor) {
			return s.err == nil
		}
		switch c := s.token(); c {
		case '{', '[':
			if !s.open() {
				return false
			}
			if s.mark(c == '{'); s.enterSkipped(c) {
				continue
			}
		default:
			s.scalar(c)
		}
		if s.err != nil || !s.leaveSkipped(floor) {
			return s.err == nil
		}
	}
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
// and escapes. It goes on from value to value, into containers and out of them, and
// returns true after the last one above the depth floor. It stops before a value that
// is, or is followed by, anything else: skip walks that one and says what is wrong.
func (s *scanner) hop(floor int) bool {
	b := s.buf
	for {
		i := s.hopInto(b)
		if i < 0 {
			return false
		}
		if i == s.pos { // into a container, before its first value
			continue
		}
		depth := s.depth
		for depth > floor && i < len(b) && b[i] == s.closing(depth) {
			depth--
			i++
		}
		if depth > floor {
			if i = s.hopNext(b, i, depth); i < 0 {
				return false
			}
		}
		s.pos, s.depth = i, depth
		if depth == floor {
			return true
		}
	}
}

// hopInto returns the end of the value at hand, or steps before the first value in it
// and returns that place; -1 for neither.
func (s *scanner) hopInto(b []byte) int {
	i := s.pos
	if i+1 >= len(b) {
		return -1
	}
	switch c := b[i]; c {
	case '"':
		return hopString(b, i)
	case '{', '[':
		if i++; b[i] == c+2 { // the bracket that shuts it
			return i + 1
		}
		if c == '{' {
			i = hopKey(b, i)
		}
		if i < 0 || i == len(b) || b[i] <= ' ' || s.depth == maxDepth { // after white space it may be empty yet
			return -1
		}
		s.pos = i
		s.depth++
		s.mark(c == '{')
		return i
	case 't':
		return hopWord(b, i, "true")
	case 'f':
		return hopWord(b, i, "false")
	case 'n':
		return hopWord(b, i, "null")
	}
	return hopInteger(b, i)
}

// hopNext returns the place of the next value of the container of that depth.
func (s *scanner) hopNext(b []byte, i, depth int) int {
	switch {
	case i >= len(b) || b[i] != ',':
		return -1
	case s.closing(depth) == '}':
		return hopKey(b, i+1)
	}
	return i + 1
}

// closing returns the bracket that ends the container of that depth.
func (s *scanner) closing(depth int) byte {
	if s.nest[depth/64]&(1<<(depth%64)) != 0 {
		return '}'
	}
	return ']'
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

// hopString returns the place after a string. Most end within eight bytes.
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

// hopWord returns the place after a word.
func hopWord(b []byte, i int, word string) int {
	if len(b)-i < len(word) || string(b[i:i+len(word)]) != word {
		return -1
	}
	return i + len(word)
}

// hopInteger returns the place after an integer whose end shows.
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
