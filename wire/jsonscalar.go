package wire

import (
	"encoding/binary"
	"math/bits"
)

// scalar consumes a string, number, true, false or null that begins with c.
func (s *scanner) scalar(c byte) bool {
	switch {
	case c == '"':
		_, ok := s.str()
		return ok
	case c == '-' || '0' <= c && c <= '9':
		_, ok := s.number()
		return ok
	case c == 't':
		return s.literal("true")
	case c == 'f':
		return s.literal("false")
	case c == 'n':
		return s.literal("null")
	}
	return s.unexpected("a value")
}

// literal consumes the given word.
func (s *scanner) literal(word string) bool {
	for i := range len(word) {
		if s.peek() != word[i] {
			return s.unexpected(word)
		}
		s.pos++
	}
	return true
}

// number consumes a number: -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?
func (s *scanner) number() (text span, ok bool) {
	text.start = s.pos
	if s.peek() == '-' {
		s.pos++
	}
	if s.peek() == '0' {
		s.pos++
	} else if !s.digits() {
		return text, false
	}
	if s.afterDigit() == '.' {
		s.pos++
		if !s.digits() {
			return text, false
		}
	}
	if c := s.afterDigit(); c == 'e' || c == 'E' {
		s.pos++
		if c := s.peek(); c == '+' || c == '-' {
			s.pos++
		}
		if !s.digits() {
			return text, false
		}
	}
	text.end = s.pos
	return text, s.err == nil
}

// digits consumes one or more digits.
func (s *scanner) digits() bool {
	if c := s.peek(); c < '0' || c > '9' {
		return s.unexpected("a digit")
	}
	for c := s.peek(); '0' <= c && c <= '9'; c = s.afterDigit() {
		s.pos++
	}
	return true
}

// afterDigit is peek where a number may end: it is the only value whose end does
// not show, so that the end of a text that is at hand is no error.
func (s *scanner) afterDigit() byte {
	if s.src == nil && s.pos == len(s.buf) {
		return 0
	}
	return s.peek()
}

// str consumes a string and returns where its content is.
func (s *scanner) str() (text span, ok bool) {
	s.pos++ // the quote
	text.start = s.pos
	for {
		s.pos += plain(s.buf[s.pos:])
		switch c := s.peek(); {
		case c == '"':
			text.end = s.pos
			s.pos++
			return text, true
		case c == '\\':
			text.escaped = true
			if !s.escape() {
				return text, false
			}
		case s.err != nil:
			return text, false
		case c < ' ':
			return text, s.unexpected("a character of a string")
		}
	}
}

// escape consumes a backslash and what belongs to it.
func (s *scanner) escape() bool {
	s.pos++
	switch c := s.peek(); c {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.pos++
		return true
	case 'u':
		s.pos++
		for range 4 {
			if hex(s.peek()) < 0 {
				return s.unexpected("a hexadecimal digit")
			}
			s.pos++
		}
		return true
	}
	return s.unexpected("an escape")
}

// plain returns how many bytes of b, from the first, are neither a quote nor a
// backslash nor a control character. It looks at eight bytes at once.
func plain(b []byte) int {
	i := 0
	for ; i+8 <= len(b); i += 8 {
		if found := special(binary.LittleEndian.Uint64(b[i:])); found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for ; i < len(b); i++ {
		if c := b[i]; c == '"' || c == '\\' || c < ' ' {
			return i
		}
	}
	return i
}

// special sets the high bit of the lowest byte of x that is a quote, a backslash or a
// control character: the high bit of (x-n)&^x is set for each byte below n, reliably so for
// the lowest such byte.
func special(x uint64) uint64 {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	quote, slash := x^('"'*ones), x^('\\'*ones)
	return (((x - ' '*ones) &^ x) | ((quote - ones) &^ quote) | ((slash - ones) &^ slash)) & highs
}
