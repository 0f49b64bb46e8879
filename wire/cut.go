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

// editsProtobuf appends to edits what removes managedFields from a bare
// protobuf message: the entries themselves, and the new length of the metadata
// around them. The edits are in order and do not overlap.
func editsProtobuf(raw []byte, edits []edit) ([]edit, error) {
	object := message{data: raw}
	for object.next() {
		if object.num == objectMetadata && object.typ == protowire.BytesType {
			edits = editsObjectMeta(&object, edits)
		}
	}
	return edits, object.err
}

// editsObjectMeta is editsProtobuf for one part of the metadata, the field that
// object is at.
func editsObjectMeta(object *message, edits []edit) []edit {
	meta := object.enter("metadata")
	at := len(edits)
	_, _, tag := protowire.ConsumeTag(object.data[object.start:])
	edits = append(edits, edit{object.start + tag, meta.base, len(meta.data)})
	for meta.next() {
		if meta.num == metaManagedFields && meta.typ == protowire.BytesType {
			edits = removeProtobuf(edits, at, meta.base+meta.start, meta.base+meta.pos)
		}
	}
	object.err = meta.err
	if len(edits) == at+1 {
		return edits[:at] // nothing to remove: every byte stays
	}
	return edits
}

// removeProtobuf adds the removal of [start, end) and takes its size off the
// length that the edit number at writes. Entries that follow one another, as
// encoders write them, become one edit.
func removeProtobuf(edits []edit, at, start, end int) []edit {
	edits[at].length -= end - start
	if last := len(edits) - 1; last > at && edits[last].end == start {
		edits[last].end = end
		return edits
	}
	return append(edits, edit{start, end, cut})
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
