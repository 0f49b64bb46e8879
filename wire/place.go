package wire

import "unsafe"

// place says where a short string lies in longer bytes: its offset in the upper
// 24 bits, its length in the lower 8. Two string headers would take 32 bytes of
// every object.
type place uint32

// elsewhere is the place of a string that is too long or too far away, or that
// does not lie in the bytes: a JSON escape was replaced.
const elsewhere = ^place(0)

// placeOf returns where s lies in raw, which it may be a part of.
func placeOf(s, raw string) place {
	if s == "" {
		return 0
	}
	at := uintptr(unsafe.Pointer(unsafe.StringData(s))) - uintptr(unsafe.Pointer(unsafe.StringData(raw)))
	if n := uintptr(len(raw)); at >= n || at+uintptr(len(s)) > n {
		return elsewhere
	}
	return placeAt(int(at), len(s))
}

// cut returns where the string lies when m's edits are done, if that is in the
// first n bytes.
func (p place) cut(m *sink, n int) place {
	if p == 0 || p == elsewhere {
		return p
	}
	size := p.end() - p.start()
	at := afterEdits(m.edits, p.start())
	if at+size > n {
		return elsewhere
	}
	return placeAt(at, size)
}

// placeAt is the place of n bytes at an offset.
func placeAt(at, n int) place {
	if at >= 1<<24 || n >= 1<<8-1 {
		return elsewhere
	}
	return place(at<<8 | n)
}

func (p place) start() int { return int(p >> 8) }

func (p place) end() int { return int(p>>8 + p&0xff) }

// in returns the string at the place, which is not elsewhere.
func (p place) in(data string) string { return data[p.start():p.end()] }
