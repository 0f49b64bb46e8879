package wire

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

const (
	// minMatch is the shortest text that is looked for in a base. It is one word.
	minMatch = 8
	// stride is how far apart the texts of the base are that can be found out of
	// place. A match is then extended to both sides.
	stride = 4
	// horizon is how far a replaced text is followed before it is looked up.
	horizon = 80
)

// matcher finds in raw what it has in common with a base. What it finds is
// compared, byte by byte; that it finds everything is not promised. It is for one
// goroutine.
type matcher struct {
	patchWriter
	base []byte

	// table has positions in indexed, by the hash of the word there, plus one.
	table   []uint32
	shift   uint
	indexed []byte // the base whose table it is
}

// patch returns the patch that makes raw from base, valid until the next call,
// and where in it the places kept are; they are in rising order and do not
// overlap.
func (m *matcher) patch(raw []byte, base string, kept []place) (patch []byte, moved []place) {
	m.base = bytesOf(base)
	m.begin(raw, kept)
	if len(base) >= minMatch {
		pos := 0
		for _, p := range kept {
			m.find(pos, p.start())
			pos = p.end()
		}
		m.find(pos, len(raw))
	}
	m.end()
	return m.out, m.moved
}

// find finds matches for raw[lo:hi].
func (m *matcher) find(lo, hi int) {
	for hi-lo >= minMatch {
		start, at, ok := m.next(lo, hi)
		if !ok {
			return
		}
		for start > lo && at > 0 && m.raw[start-1] == m.base[at-1] {
			start--
			at--
		}
		n := commonPrefix(m.raw[start:hi], m.base[at:])
		m.match(start, n, at)
		lo = start + n
	}
}

// next finds the next word of raw[lo:hi] that the base has too. It is looked for
// where it is expected, and anywhere: without a table the latter only where the
// former fails for a while, because making the table takes longer than the rest.
func (m *matcher) next(lo, hi int) (start, at int, ok bool) {
	moved := m.expected - m.literal
	last := min(hi, len(m.base)-moved) - minMatch
	if !m.isIndexed() {
		for start := lo; start <= min(last, lo+horizon); start++ {
			if word(m.raw[start:]) == word(m.base[start+moved:]) {
				return start, start + moved, true
			}
		}
		m.index()
	}
	for start := lo; start <= hi-minMatch; start++ {
		w := word(m.raw[start:])
		if start <= last && w == word(m.base[start+moved:]) {
			return start, start + moved, true
		}
		if at := int(m.table[m.hash(w)]) - 1; at >= 0 && w == word(m.base[at:]) {
			return start, at, true
		}
	}
	return 0, 0, false
}

func (m *matcher) isIndexed() bool {
	return len(m.indexed) == len(m.base) && unsafe.SliceData(m.indexed) == unsafe.SliceData(m.base)
}

// index makes the table for the base.
func (m *matcher) index() {
	size := max(bits.Len(uint(len(m.base)/stride)), 4)
	m.shift = uint(64 - size)
	if cap(m.table) < 1<<size || cap(m.table) > keepBuffer {
		m.table = make([]uint32, 1<<size)
	}
	m.table = m.table[:1<<size]
	clear(m.table)
	for at := 0; at+minMatch <= len(m.base); at += stride {
		m.table[m.hash(word(m.base[at:]))] = uint32(at + 1)
	}
	m.indexed = m.base
}

func (m *matcher) hash(word uint64) uint64 { return word * 0x9E3779B97F4A7C15 >> m.shift }

func word(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

// commonPrefix is how many first bytes are the same.
func commonPrefix(a, b []byte) int {
	n := 0
	for ; n+8 <= min(len(a), len(b)); n += 8 {
		if diff := word(a[n:]) ^ word(b[n:]); diff != 0 {
			return n + bits.TrailingZeros64(diff)/8
		}
	}
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}
