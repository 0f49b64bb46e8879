package wire

import "google.golang.org/protobuf/encoding/protowire"

// edit replaces the bytes [start, end) of an object: by the varint of length,
// or by nothing when length is negative.
type edit struct{ start, end, length int }

// cut is the length of an edit that removes.
const cut = -1

// reuse returns edits without its content, for the next object, unless an
// unusual one made it large.
func reuse(edits []edit) []edit {
	if cap(edits) > 256 {
		return nil
	}
	return edits[:0]
}

// A scan of protobuf that is cutting makes the edits of each part of the metadata:
// first the new length of the part, then the entries of managedFields, which are
// removed. They are in order and do not overlap.

// beginPart makes the edit of the length of the part meta, the field that object
// is at.
func (m *sink) beginPart(object, meta *message) {
	if m.cutting {
		_, _, tag := protowire.ConsumeTag(object.data[object.start:])
		m.length = len(m.edits)
		m.edits = append(m.edits, edit{object.base + object.start + tag, meta.base, len(meta.data)})
	}
}

// endPart drops the edit of a part in which there was nothing to remove: then
// every byte stays, of whatever spelling its length is.
func (m *sink) endPart() {
	if m.cutting && len(m.edits) == m.length+1 {
		m.edits = m.edits[:m.length]
	}
}

// remove removes [start, end) of the part at hand and takes its size off the
// part's length. Entries that follow one another, as encoders write them, become
// one edit.
func (m *sink) remove(start, end int) {
	m.edits[m.length].length -= end - start
	if last := len(m.edits) - 1; last > m.length && m.edits[last].end == start {
		m.edits[last].end = end
		return
	}
	m.edits = append(m.edits, edit{start, end, cut})
}

// afterEdits returns where the byte at pos is when the edits are done, which do
// not touch it.
func afterEdits(edits []edit, pos int) int {
	at := pos
	for _, e := range edits {
		if e.end > pos {
			break
		}
		at -= e.end - e.start
		if e.length != cut {
			at += protowire.SizeVarint(uint64(e.length))
		}
	}
	return at
}

// appendEdited appends raw after the edits to dst.
func appendEdited(dst, raw []byte, edits []edit) []byte {
	pos := 0
	for _, e := range edits {
		dst = append(dst, raw[pos:e.start]...)
		if e.length != cut {
			dst = protowire.AppendVarint(dst, uint64(e.length))
		}
		pos = e.end
	}
	return append(dst, raw[pos:]...)
}
