package wire

import (
	"unicode/utf16"
	"unicode/utf8"
)

// raw returns the bytes of a span as a string, escapes and all. When the value
// at hand is over the limit its bytes may be gone, and raw returns "".
func (s *scanner) raw(text span) string {
	if s.over {
		return ""
	}
	return alias(s.buf[text.start:text.end])
}

// name returns a key. It does not replace invalid UTF-8: such a key equals none
// of the names that are looked for either way.
func (s *scanner) name(text span) string {
	if text.escaped && !s.over {
		return unquote(s.buf[text.start:text.end])
	}
	return s.raw(text)
}

// text returns the string that a span stands for: an alias of the bytes unless
// there is something to replace.
func (s *scanner) text(text span) string {
	if s.over {
		return ""
	}
	if b := s.buf[text.start:text.end]; text.escaped || !utf8.Valid(b) {
		return unquote(b)
	}
	return s.raw(text)
}

// unquote returns the string that the content of a valid JSON string stands
// for. As in encoding/json, each byte that is not UTF-8 and each half of a
// surrogate pair becomes U+FFFD.
func unquote(b []byte) string {
	out := make([]byte, 0, len(b)+utf8.UTFMax)
	for len(b) > 0 {
		var n int
		var r rune
		if b[0] == '\\' {
			r, n = unescape(b)
		} else {
			r, n = utf8.DecodeRune(b)
		}
		out = utf8.AppendRune(out, r)
		b = b[n:]
	}
	return string(out)
}

// unescape returns the character that the escape at the start of b stands for,
// and the length of the escape.
func unescape(b []byte) (rune, int) {
	switch c := b[1]; c {
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		return unescapeUnicode(b)
	default:
		return rune(c), 2
	}
}

// unescapeUnicode is unescape for \uXXXX, alone or as a surrogate pair.
func unescapeUnicode(b []byte) (rune, int) {
	r := hex4(b[2:6])
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if len(b) >= 12 && b[6] == '\\' && b[7] == 'u' {
		if pair := utf16.DecodeRune(r, hex4(b[8:12])); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return utf8.RuneError, 6
}

func hex4(b []byte) rune {
	return hex(b[0])<<12 | hex(b[1])<<8 | hex(b[2])<<4 | hex(b[3])
}

// hex returns the value of a hexadecimal digit, or -1.
func hex(c byte) rune {
	switch {
	case '0' <= c && c <= '9':
		return rune(c - '0')
	case 'a' <= c && c <= 'f':
		return rune(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return rune(c-'A') + 10
	}
	return -1
}
