package wire

import (
	"encoding/binary"
	"slices"
)

// A patch makes bytes from those of a base. It is
//
//	uvarint   how many bytes it makes
//	then, until so many are made:
//	uvarint   length of a literal
//	…         the literal
//	uvarint   2 × length of a match, + 1 if it is not where it is expected
//	varint    in that case: how far behind that place, or before it
//
// A match is copied from the base. It is expected where the match before it
// ended, moved by the length of the literal between them: that is where it is
// when the literal replaced a text of its own length. There is no match after a
// literal that completes the bytes.

// patchPieces are the pieces, in order, of what patch makes from base.
func patchPieces(patch, base string, yield func(string) bool) {
	p := patchReader{rest: patch}
	left := int(p.uvarint())
	for at := 0; left > 0; {
		literal := p.take(int(p.uvarint()))
		if left -= len(literal); !yield(literal) || left == 0 {
			return
		}
		match := p.uvarint()
		at += len(literal)
		if match&1 != 0 {
			at += p.varint()
		}
		length := int(match >> 1)
		if left -= length; !yield(base[at : at+length]) {
			return
		}
		at += length
	}
}

// appendPatched appends the first n bytes of what patch makes from base.
func appendPatched(dst []byte, patch, base string, n int) []byte {
	dst = slices.Grow(dst, n)
	end := len(dst) + n
	for piece := range func(yield func(string) bool) { patchPieces(patch, base, yield) } {
		dst = append(dst, piece[:min(len(piece), end-len(dst))]...)
		if len(dst) == end {
			break
		}
	}
	return dst
}

// patchReader reads a patch. Patches are our own and never malformed.
type patchReader struct{ rest string }

func (p *patchReader) uvarint() uint64 {
	if v := p.rest[0]; v < 0x80 {
		p.rest = p.rest[1:]
		return uint64(v)
	}
	v, n := binary.Uvarint(bytesOf(p.rest))
	p.rest = p.rest[n:]
	return v
}

func (p *patchReader) varint() int {
	v, n := binary.Varint(bytesOf(p.rest))
	p.rest = p.rest[n:]
	return int(v)
}

func (p *patchReader) take(n int) string {
	taken := p.rest[:n]
	p.rest = p.rest[n:]
	return taken
}

// patchWriter writes a patch that makes raw.
type patchWriter struct {
	raw      []byte
	out      []byte  // reused
	literal  int     // raw up to here is written
	expected int     // where the next match is expected, if no literal is before it
	kept     []place // what of raw must be in one piece in the patch
	moved    []place // where it is there
	span     [2]int  // of raw, of which is asked where the base has it
	spanAt   int     // there, or -1 if it is not in one match
}

func (w *patchWriter) begin(raw []byte, kept []place) {
	if cap(w.out) > keepBuffer {
		w.out = nil
	}
	w.raw, w.kept = raw, kept
	w.out, w.moved = binary.AppendUvarint(w.out[:0], uint64(len(raw))), append(w.moved[:0], kept...)
	w.literal, w.expected, w.spanAt = 0, 0, -1
}

// match says that the n bytes of raw from start are those of the base from at.
func (w *patchWriter) match(start, n, at int) {
	if start <= w.span[0] && w.span[1] <= start+n {
		w.spanAt = at + w.span[0] - start
	}
	w.write(start)
	w.expected += start - w.literal
	if moved := at - w.expected; moved == 0 {
		w.out = binary.AppendUvarint(w.out, uint64(n)<<1)
	} else {
		w.out = binary.AppendUvarint(w.out, uint64(n)<<1|1)
		w.out = binary.AppendVarint(w.out, int64(moved))
	}
	w.literal, w.expected = start+n, at+n
}

// write writes the literal that ends where the next match starts.
func (w *patchWriter) write(end int) {
	w.out = binary.AppendUvarint(w.out, uint64(end-w.literal))
	for i, p := range w.kept {
		if p.start() >= w.literal && p.end() <= end {
			w.moved[i] = placeAt(len(w.out)+p.start()-w.literal, p.end()-p.start())
		}
	}
	w.out = append(w.out, w.raw[w.literal:end]...)
}

// end completes the patch, and lets go of what it makes.
func (w *patchWriter) end() {
	if w.literal < len(w.raw) {
		w.write(len(w.raw))
	}
	w.raw = nil
}
