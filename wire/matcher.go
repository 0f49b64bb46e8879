package wire

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

const (
	// minMatch is the shortest text that is looked for in a base. It is one word.
	minMatch = 8
	// stride is how far apart the texts are that are looked up in the base, all of
	// whose places the table has. A match is then extended to both sides.
	stride = 4
	// probes is how many places of an object are looked up before all of them are.
	probes = 24
	// horizon is how far a replaced text is followed before it is looked up.
	horizon = 80
	// maxShift is how far beside its place a text is looked for before that.
	maxShift = 4
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

// promises tells whether raw seems to have anything in common with a base that is
// not a sibling's. Where there is nothing, as in most config maps, finding that
// out word by word would take longer than all the rest.
func (m *matcher) promises(raw []byte, base string) bool {
	if m.base = bytesOf(base); len(base) < minMatch || len(raw) < probes*minMatch {
		return true
	}
	if !m.isIndexed() {
		m.index()
	}
	m.raw = raw
	for i := range probes {
		lo := i * (len(raw) - minMatch) / (probes - 1)
		if _, _, ok := m.anywhere(lo, lo+minMatch); ok {
			return true
		}
	}
	return false
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

// next finds the next word of raw[lo:hi] that the base has too: where it is
// expected, else anywhere. Making the table for that takes longer than the rest;
// without one a place a little beside is tried before, which is where a text is
// when one before it has become longer.
func (m *matcher) next(lo, hi int) (start, at int, ok bool) {
	moved := m.expected - m.literal
	near := min(hi, lo+horizon+minMatch)
	if start, ok = m.aligned(lo, near, moved); ok {
		return start, start + moved, true
	}
	if !m.isIndexed() {
		if start, moved, ok = m.beside(lo, near, moved); ok {
			return start, start + moved, true
		}
		m.index()
	}
	return m.anywhere(lo, hi)
}

// anywhere finds the first word of raw[lo:hi] that the table has.
func (m *matcher) anywhere(lo, hi int) (start, at int, ok bool) {
	for start := lo; start <= hi-minMatch; start += stride {
		w := word(m.raw[start:])
		if at := int(m.table[m.hash(w)]) - 1; at >= 0 && w == word(m.base[at:]) {
			return start, at, true
		}
	}
	return 0, 0, false
}

// beside finds the first word of raw[lo:hi] that the base has a little beside the
// place that moved says, the less the better, and by how much it is moved there.
func (m *matcher) beside(lo, hi, moved int) (start, by int, ok bool) {
	for shift := 1; shift <= maxShift && !ok; shift++ {
		if start, ok = m.aligned(lo, hi, moved+shift); ok {
			by = moved + shift
			hi = start + minMatch - 1 // only a nearer one is better
		}
		if found, nearer := m.aligned(lo, hi, moved-shift); nearer {
			start, by, ok = found, moved-shift, true
		}
	}
	return start, by, ok
}

// aligned finds the first word of raw[lo:hi] that the base has moved bytes further
// on.
func (m *matcher) aligned(lo, hi, moved int) (start int, ok bool) {
	lo, hi = max(lo, -moved), min(hi, len(m.base)-moved)
	if hi-lo < minMatch {
		return 0, false
	}
	raw, base := m.raw[lo:hi], m.base[lo+moved:hi+moved]
	for i := 0; i+minMatch <= len(raw) && i+minMatch <= len(base); {
		diff := word(raw[i:]) ^ word(base[i:])
		if diff == 0 {
			return lo + i, true
		}
		i += minMatch - bits.LeadingZeros64(diff)/8 // behind the last byte that differs
	}
	return 0, false
}

func (m *matcher) isIndexed() bool {
	return len(m.indexed) == len(m.base) && unsafe.SliceData(m.indexed) == unsafe.SliceData(m.base)
}

// index makes the table for the base.
func (m *matcher) index() {
	size := max(bits.Len(uint(len(m.base)))+1, 4)
	m.shift = uint(64 - size)
	if cap(m.table) < 1<<size || cap(m.table) > keepBuffer {
		m.table = make([]uint32, 1<<size)
	}
	m.table = m.table[:1<<size]
	clear(m.table)
	for at := 0; at+minMatch <= len(m.base); at++ {
		m.table[m.hash(word(m.base[at:]))] = uint32(at + 1)
	}
	m.indexed = m.base
}

func (m *matcher) hash(word uint64) uint64 { return word * 0x9E3779B97F4A7C15 >> m.shift }

func word(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

// commonPrefix is how many first bytes are the same.
func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	a, b = a[:n], b[:n]
	for i := equalBlocks(a, b); i < n; i++ {
		if n-i >= 8 {
			diff := word(a[i:]) ^ word(b[i:])
			if diff != 0 {
				return i + bits.TrailingZeros64(diff)/8
			}
			i += 7
		} else if a[i] != b[i] {
			return i
		}
	}
	return n
}

// equalBlocks is how many first bytes are the same in blocks of 32. Nearly all that
// is compared goes through here.
func equalBlocks(a, b []byte) int {
	n := min(len(a), len(b)) &^ 31
	for i := 0; i < n; i += 32 {
		x, y := a[i:i+32:i+32], b[i:i+32:i+32]
		if (word(x[0:8])^word(y[0:8]))|(word(x[8:16])^word(y[8:16]))|
			(word(x[16:24])^word(y[16:24]))|(word(x[24:32])^word(y[24:32])) != 0 {
			return i
		}
	}
	return n
}
