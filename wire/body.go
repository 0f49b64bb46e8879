package wire

import (
	"encoding/binary"
	"slices"
	"sync"
)

// body is the bytes of an object in one of three forms.
type body struct {
	data     string
	base     string
	head     uint32 // all of the metadata is in that many first bytes; 0: not known
	labels   uint16 // where the labels begin: see label.go
	encoding Encoding
	form     form
}

type form uint8

const (
	// whole: the bytes are data.
	whole form = iota
	// split: the bytes are data, then base, which is the Object's tail.
	split
	// patched: data is a patch, which makes the bytes from those of base.
	patched
)

// size is the number of bytes.
func (b *body) size() int {
	if b.form == patched {
		size, _ := binary.Uvarint(bytesOf(b.data))
		return int(size)
	}
	return len(b.data) + len(b.base)
}

// append appends the first n of the bytes.
func (b *body) append(dst []byte, n int) []byte {
	switch {
	case b.form == patched:
		return appendPatched(dst, b.data, b.base, n)
	case n <= len(b.data):
		return append(dst, b.data[:n]...)
	}
	dst = slices.Grow(dst, n)
	dst = append(dst, b.data...)
	return append(dst, b.base[:n-len(b.data)]...)
}

// equal reports whether two bodies have the same bytes.
func (b *body) equal(other *body) bool {
	switch {
	case b.encoding != other.encoding || b.size() != other.size():
		return false
	case b.form == other.form && b.data == other.data && b.base == other.base:
		return true
	case b.form == whole:
		return other.is(b.data)
	case other.form == whole:
		return b.is(other.data)
	}
	borrowed := other.borrow(other.size())
	defer borrowed.free()
	return b.is(alias(borrowed.bytes))
}

// is reports whether the bytes, which are as many, are raw.
func (b *body) is(raw string) bool {
	for piece := range b.pieces {
		if raw[:len(piece)] != piece {
			return false
		}
		raw = raw[len(piece):]
	}
	return true
}

// pieces are the bytes, in order.
func (b *body) pieces(yield func(string) bool) {
	if b.form == patched {
		patchPieces(b.data, b.base, yield)
	} else if yield(b.data) {
		yield(b.base)
	}
}

// buffer holds bytes that were put together to be read once.
type buffer struct{ bytes []byte }

var borrowable = sync.Pool{New: func() any { return new(buffer) }}

// borrow returns a buffer with the first n bytes, to be freed.
func (b *body) borrow(n int) *buffer {
	borrowed := borrowable.Get().(*buffer)
	borrowed.bytes = b.append(borrowed.bytes[:0], n)
	return borrowed
}

func (b *buffer) free() {
	if cap(b.bytes) <= keepBuffer {
		borrowable.Put(b)
	}
}

// scan reads the metadata into m. The strings in m are part of the body, unless
// there is a borrowed buffer: then they are part of that one, and it is to be
// freed.
func (o *Object) scan(m *sink) (borrowed *buffer) {
	b := &o.body
	n := int(b.head)
	if m.part = n > 0; !m.part {
		n = b.size()
	}
	var err error
	if b.form != patched && n <= len(b.data) {
		err = scan(b.encoding, bytesOf(b.data[:n]), m)
	} else {
		borrowed = b.borrow(n)
		err = scan(b.encoding, borrowed.bytes, m)
	}
	switch {
	case err == nil:
	case m.annotation.name != "":
		m.annotation.forget()
	default:
		// These very bytes were scanned before and they never change.
		panic("wire: a kept object does not scan: " + err.Error())
	}
	return borrowed
}
