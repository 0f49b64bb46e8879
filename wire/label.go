package wire

import "strings"

// A label is the one part of the metadata that is read of all objects in turn. In
// protobuf an Object remembers where the labels begin, which encoders write sorted,
// so that one is read in the bytes, nothing is put together, and not more memory is
// touched than has to be. Siblings nearly always have the labels of their base: of a
// patched object that has them, and what follows them, in one match, the place is
// that in the base. Where it cannot be so, all of the metadata is scanned.

const (
	// labelsUnknown says nothing: the metadata is to be scanned.
	labelsUnknown = 0
	// labelsNone is no place: metadata has a tag and a length before it.
	labelsNone = 1
	// labelsInBase is the bit that says that the place is one of the base.
	labelsInBase = 1 << 15
	// longLabels is how much is put together to look for a label in.
	longLabels = 1024
)

// labelTag begins a label, whose size follows.
const labelTag = metaLabels<<3 | 2

// labelRun is where a scan has seen labels.
type labelRun struct {
	start, end int
	last       string // name
	broken     bool   // they are in more than one place, or not sorted
}

// see adds a label that is at [start, end).
func (r *labelRun) see(name string, start, end int) {
	switch {
	case r.end == 0:
		r.start = start
	case r.end != start || name <= r.last:
		r.broken = true
	}
	r.end, r.last = end, name
}

// place is what an Object remembers when the edits are done.
func (r *labelRun) place(edits []edit) uint16 {
	if r.end == 0 {
		return labelsNone
	}
	at := afterEdits(edits, r.start)
	if r.broken || at >= labelsInBase {
		return labelsUnknown
	}
	return uint16(at)
}

// label looks a label up without a scan. It returns false for known where it
// takes one.
func (b *body) label(name string) (value string, ok, known bool) {
	if b.labels <= labelsNone {
		return "", false, b.labels == labelsNone
	}
	at, size := int(b.labels), int(b.head)-int(b.labels)
	switch {
	case b.labels&labelsInBase != 0:
		return findLabel(b.base[b.labels&^labelsInBase:], name, false)
	case b.form == patched:
		return b.labelInPieces(at, size, name)
	case at+size <= len(b.data):
		return findLabel(b.data[at:at+size], name, true)
	}
	return findLabel(b.data[min(at, len(b.data)):], name, false)
}

// labelInPieces is label for labels that begin at a place of a patched object and
// are not in one piece.
func (b *body) labelInPieces(at, size int, name string) (value string, ok, known bool) {
	n := min(size, longLabels)
	borrowed := borrowable.Get().(*buffer)
	defer borrowed.free()
	text := borrowed.bytes[:0]
	for piece := range b.pieces {
		skipped := min(at, len(piece))
		at -= skipped
		piece = piece[skipped:]
		if text = append(text, piece[:min(len(piece), n-len(text))]...); len(text) == n {
			break
		}
	}
	borrowed.bytes = text
	value, ok, known = findLabel(alias(text), name, n == size)
	return strings.Clone(value), ok, known
}

// labelSpan is where the labels of an object in one piece are, and the byte that
// follows them in the metadata; it is empty where that is not known.
func (o *Object) labelSpan(raw []byte) (start, end int) {
	b := &o.body
	if b.labels <= labelsNone {
		return 0, 0
	}
	start, end = int(b.labels), int(b.labels)
	for text := alias(raw[start:b.head]); text != "" && text[0] == labelTag; {
		_, rest, ok := cutField(text)
		if !ok {
			return 0, 0
		}
		text, end = rest, int(b.head)-len(rest)
	}
	if end >= int(b.head) {
		return 0, 0
	}
	return start, end + 1
}

// findLabel looks a name up among the sorted labels that text begins with. All says
// that the metadata ends with text. What is not as every encoder writes it, or may
// not be, is left to the scan.
func findLabel(text, name string, all bool) (value string, ok, known bool) {
	for text != "" && text[0] == labelTag {
		entry, rest, fine := cutField(text)
		if !fine || entry == "" || entry[0] != entryKey<<3|2 {
			return "", false, false
		}
		key, entry, fine := cutField(entry)
		if !fine || entry == "" || entry[0] != entryValue<<3|2 {
			return "", false, false
		}
		found, end, fine := cutField(entry)
		if !fine || end != "" {
			return "", false, false
		}
		switch {
		case key == name:
			return found, true, true
		case key > name:
			return "", false, true
		}
		text = rest
	}
	if text == "" {
		return "", false, all
	}
	return "", false, text[0] < 0x80 // else it may be a label's number in two bytes
}

// cutField cuts a field with a tag of one byte, a size of one or two and a body
// off text.
func cutField(text string) (body, rest string, ok bool) {
	if len(text) < 2 {
		return "", "", false
	}
	size, start := int(text[1]), 2
	if size >= 0x80 {
		if len(text) < 3 || text[2] >= 0x80 {
			return "", "", false
		}
		size, start = size&0x7f|int(text[2])<<7, 3
	}
	if len(text)-start < size {
		return "", "", false
	}
	return text[start : start+size], text[start+size:], true
}
