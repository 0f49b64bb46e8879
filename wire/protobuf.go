package wire

import (
	"fmt"
	"time"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"
)

// The field numbers that are read, from the generated.proto files of
// k8s.io/apimachinery. Every built-in kind has its ObjectMeta in field 1.
const (
	objectMetadata = 1

	metaName              = 1
	metaNamespace         = 3
	metaUID               = 5
	metaResourceVersion   = 6
	metaGeneration        = 7
	metaDeletionTimestamp = 9
	metaLabels            = 11
	metaAnnotations       = 12
	metaOwnerReferences   = 13
	metaManagedFields     = 17

	timeSeconds = 1
	timeNanos   = 2

	entryKey   = 1
	entryValue = 2

	ownerKind       = 1
	ownerName       = 3
	ownerUID        = 4
	ownerAPIVersion = 5
	ownerController = 6
)

// message walks the fields of one protobuf message:
//
//	for m.next() {
//		switch m.num { … }
//	}
//	return m.err
type message struct {
	data []byte
	base int // offset of data[0] in the object at hand
	pos  int // where the next field starts
	err  error

	// The field at hand, valid after next returned true.
	num    protowire.Number
	typ    protowire.Type
	start  int    // of its tag
	body   []byte // of a BytesType field
	varint uint64 // of a VarintType field
}

// next steps to the next field. It returns false at the end and on an error.
func (m *message) next() bool {
	if m.err != nil || m.pos >= len(m.data) {
		return false
	}
	m.start = m.pos
	if m.short() {
		return true
	}
	num, typ, n := protowire.ConsumeTag(m.data[m.pos:])
	if n < 0 {
		return m.malformed(n)
	}
	m.num, m.typ, m.pos = num, typ, m.pos+n
	switch rest := m.data[m.pos:]; typ {
	case protowire.BytesType:
		m.body, n = protowire.ConsumeBytes(rest)
	case protowire.VarintType:
		m.varint, n = protowire.ConsumeVarint(rest)
	default:
		n = protowire.ConsumeFieldValue(num, typ, rest)
	}
	if n < 0 {
		return m.malformed(n)
	}
	m.pos += n
	return true
}

// short is next for nearly all fields of metadata: a BytesType field with a tag
// and a length of one byte each. Without it a scan takes a third more time.
func (m *message) short() bool {
	if len(m.data)-m.pos < 2 {
		return false
	}
	tag, length := m.data[m.pos], m.data[m.pos+1]
	body, end := m.pos+2, m.pos+2+int(length)
	if tag&7 != byte(protowire.BytesType) || tag < 1<<3 || tag >= 1<<7 || length >= 1<<7 || end > len(m.data) {
		return false
	}
	m.num, m.typ, m.body, m.pos = protowire.Number(tag>>3), protowire.BytesType, m.data[body:end], end
	return true
}

func (m *message) malformed(code int) bool {
	m.err = &Error{
		Offset: int64(m.base + m.start),
		What:   "malformed protobuf field",
		Object: true,
		Err:    protowire.ParseError(code),
	}
	return false
}

// expect fails the walk unless the field at hand has the wire type typ.
func (m *message) expect(typ protowire.Type, name string) bool {
	if m.typ == typ {
		return true
	}
	m.err = &Error{
		Offset: int64(m.base + m.start),
		What:   fmt.Sprintf("%s has protobuf wire type %d instead of %d", name, m.typ, typ),
		Object: true,
	}
	return false
}

// text stores the field at hand, a string, in dst.
func (m *message) text(dst *string, name string) {
	if m.expect(protowire.BytesType, name) {
		*dst = alias(m.body)
	}
}

// integer stores the field at hand, an int32, int64 or bool, in dst.
func (m *message) integer(dst *int64, name string) {
	if m.expect(protowire.VarintType, name) {
		*dst = int64(m.varint)
	}
}

// enter returns the message inside the field at hand.
func (m *message) enter(name string) message {
	if !m.expect(protowire.BytesType, name) {
		return message{err: m.err}
	}
	return message{data: m.body, base: m.base + m.pos - len(m.body)}
}

// alias returns b as a string without a copy. That is sound because the bytes
// that are scanned never change as long as a result is in use: an Object's
// bytes are immutable, and what aliases a reader's buffer is copied before the
// buffer is read into again.
func alias(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// bytesOf returns s as bytes without a copy, to be read only.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// scanProtobuf reads the metadata of a bare protobuf message. As in a decoder,
// metadata that comes in several parts is merged: the last scalar counts, and
// labels and owners add up. Strings are not checked for UTF-8 (the decoders of
// the API do not). It is stricter than those in what no encoder writes: varints
// of more than 64 bits, and groups that are closed under another number.
func scanProtobuf(raw []byte, m *sink) error {
	object := message{data: raw}
	for object.next() {
		if object.num != objectMetadata {
			continue
		}
		meta := object.enter("metadata")
		m.beginPart(&object, &meta)
		if err := scanObjectMeta(&meta, m); err != nil {
			return err
		}
		m.endPart()
		m.parts++
		m.end = object.pos
	}
	return object.err
}

// scanObjectMeta reads one part of an ObjectMeta.
func scanObjectMeta(f *message, m *sink) error {
	for f.next() {
		switch f.num {
		case metaName:
			f.text(&m.Name, "metadata.name")
		case metaNamespace:
			f.text(&m.Namespace, "metadata.namespace")
		case metaUID:
			f.text(&m.UID, "metadata.uid")
		case metaResourceVersion:
			f.text(&m.ResourceVersion, "metadata.resourceVersion")
		case metaGeneration:
			f.integer(&m.Generation, "metadata.generation")
		case metaDeletionTimestamp:
			m.DeletionTimestamp, f.err = scanTime(f.enter("metadata.deletionTimestamp"))
		case metaLabels:
			var label Label
			label, f.err = scanEntry(f.enter("metadata.labels"))
			m.addLabel(label)
			m.run.see(label.Name, f.base+f.start, f.base+f.pos)
		case metaAnnotations:
			if m.annotation.name != "" {
				var annotation Label
				annotation, f.err = scanEntry(f.enter("metadata.annotations"))
				m.annotation.see(annotation)
			}
		case metaOwnerReferences:
			owner, controls, err := scanOwner(f.enter("metadata.ownerReferences"))
			if controls && !m.owned {
				m.Owner, m.owned = owner, true // the first one, as for metav1.GetControllerOf
			}
			f.err = err
		case metaManagedFields:
			if m.cutting && f.typ == protowire.BytesType {
				m.remove(f.base+f.start, f.base+f.pos)
			}
		}
	}
	return f.err
}

// scanTime reads a Time. The API keeps whole seconds and ignores the
// nanoseconds, see metav1.Time.
func scanTime(f message) (time.Time, error) {
	var seconds int64
	for f.next() {
		switch f.num {
		case timeSeconds:
			f.integer(&seconds, "a time's seconds")
		case timeNanos:
			f.expect(protowire.VarintType, "a time's nanos")
		}
	}
	if f.err != nil || len(f.data) == 0 {
		return time.Time{}, f.err
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// scanEntry reads one entry of a map of strings.
func scanEntry(f message) (Label, error) {
	var entry Label
	for f.next() {
		switch f.num {
		case entryKey:
			f.text(&entry.Name, "a map entry's key")
		case entryValue:
			f.text(&entry.Value, "a map entry's value")
		}
	}
	return entry, f.err
}

// scanOwner reads one owner reference and whether it is a controlling one.
func scanOwner(f message) (owner Owner, controls bool, err error) {
	var controller int64
	for f.next() {
		switch f.num {
		case ownerAPIVersion:
			f.text(&owner.APIVersion, "an owner's apiVersion")
		case ownerKind:
			f.text(&owner.Kind, "an owner's kind")
		case ownerName:
			f.text(&owner.Name, "an owner's name")
		case ownerUID:
			f.text(&owner.UID, "an owner's uid")
		case ownerController:
			f.integer(&controller, "an owner's controller")
		}
	}
	return owner, controller != 0, f.err
}
