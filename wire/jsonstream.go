package wire

import "fmt"

// A scanner that pulls from a window keeps the bytes of one value at a time:
// border or drop begins it, pull extends it.

// pulling returns a scanner of the text that src delivers.
func pulling(src *window, limit int) scanner { return scanner{src: src, limit: limit} }

// pull gets more bytes from the stream. Those that were walked stay at hand, for
// the spans that point to them, unless the value is over the limit.
func (s *scanner) pull() bool {
	if s.over || s.pos > s.limit {
		s.over = true
		s.drop()
	}
	err := s.src.fill(s.limit)
	s.buf = s.src.bytes() // they may be in another buffer, whatever came
	if err != nil {
		s.err = s.src.broken(err, "a JSON value")
	}
	return err == nil
}

// drop forgets the bytes that were walked.
func (s *scanner) drop() {
	s.src.skip(s.pos)
	s.buf, s.pos, s.base = s.src.bytes(), 0, s.src.offset
}

// begin drops what was walked and begins the value at hand.
func (s *scanner) begin() {
	s.drop()
	s.over = false
}

// border skips white space between the documents of a stream and begins the next
// one. It returns io.EOF when the stream ends instead.
func (s *scanner) border() error {
	for {
		for ; s.pos < len(s.buf); s.pos++ {
			switch s.buf[s.pos] {
			case ' ', '\t', '\n', '\r':
			default:
				s.begin()
				return nil
			}
		}
		s.begin()
		s.buf = nil // the window may drop it
		if err := s.src.fill(s.limit); err != nil {
			return err
		}
		s.buf = s.src.bytes()
	}
}

// oversized returns the error for the value at hand, which began at that place
// in the stream, or nil if it is within the limit.
func (s *scanner) oversized(what string, began int64) error {
	size := s.base + int64(s.pos) - began
	if size <= int64(s.limit) {
		return nil
	}
	return oversized(what, began, size, s.limit)
}

func oversized(what string, began, size int64, limit int) error {
	return &Error{
		Offset: began,
		What:   fmt.Sprintf("%s of %d bytes is longer than the limit of %d", what, size, limit),
		Object: true,
	}
}

// bad returns an error about the value at hand that does not hinder the walk.
func (s *scanner) bad(what string) error {
	return &Error{Offset: s.base + int64(s.pos), What: what, Object: true}
}
