package wire

import (
	"math"
	"strconv"
	"strings"

	"github.com/gocampus/hark/key"
)

// Object is one version of one object, kept as it came over the wire. It is
// immutable: what is handed out is a copy or a string, so that no caller can
// change what others read.
type Object struct {
	key     key.Key
	version uint64 // resourceVersion as an integer, 0 when it is not one
	body    body
	// Places in body.data.
	uid, resourceVersion place
	owner                place // UID of the controlling owner, of the forms that are not patched
	deleting             bool
}

// NewObject scans the metadata of raw, which is one bare object, and returns
// the Object that keeps it. NewObject owns raw from then on. A name is required;
// a resourceVersion is not (objects inside tests and patches lack one).
func NewObject(encoding Encoding, raw []byte) (*Object, error) {
	var m sink
	if err := scan(encoding, raw, &m); err != nil {
		return nil, err
	}
	if m.Name == "" {
		return nil, errNoName()
	}
	o := &Object{body: body{encoding: encoding, data: alias(raw)}, key: m.key().Clone()}
	o.describe(alias(raw), &m)
	return o, nil
}

func errNoName() error { return &Error{What: "object has no metadata.name", Object: true} }

// describe completes an Object that has its key and its body with the metadata
// that was scanned from raw: the same bytes, or those that the body was cut from.
func (o *Object) describe(raw string, m *sink) {
	version, err := strconv.ParseUint(m.ResourceVersion, 10, 64)
	if err != nil {
		version = 0 // opaque to us, as the API allows
	}
	if end := afterEdits(m.edits, m.end); m.parts == 1 && end <= math.MaxUint32 {
		o.body.head = uint32(end)
		if o.body.encoding == Protobuf {
			o.body.labels = m.run.place(m.edits)
		}
	}
	o.version = version
	readable := len(o.body.data)
	o.uid = placeOf(m.UID, raw).cut(m, readable)
	o.resourceVersion = placeOf(m.ResourceVersion, raw).cut(m, readable)
	o.owner = placeOf(m.Owner.UID, raw).cut(m, readable)
	o.deleting = !m.DeletionTimestamp.IsZero()
}

// Key returns the object's namespace and name.
func (o *Object) Key() key.Key { return o.key }

// UID returns metadata.uid. Two objects of one key with different UIDs are
// different objects: the first was deleted and the second created.
func (o *Object) UID() string {
	if o.uid == elsewhere {
		return o.Meta().UID
	}
	return o.uid.in(o.body.data)
}

// OwnerUID returns the UID of the controlling owner, "" when there is none. The
// string may keep this version's bytes alive as long as it is held.
func (o *Object) OwnerUID() string {
	if o.owner != elsewhere {
		return o.owner.in(o.body.data)
	}
	var m sink
	borrowed := o.scan(&m)
	if borrowed == nil {
		return m.Owner.UID
	}
	defer borrowed.free()
	return strings.Clone(m.Owner.UID)
}

// ResourceVersion returns metadata.resourceVersion as the server wrote it.
func (o *Object) ResourceVersion() string {
	if o.resourceVersion == elsewhere {
		return o.Meta().ResourceVersion
	}
	return o.resourceVersion.in(o.body.data)
}

// Version returns the resourceVersion as an integer, and whether it is one.
// KEP-5504 makes resourceVersions of built-in and custom resources comparable.
func (o *Object) Version() (uint64, bool) { return o.version, o.version != 0 }

// Deleting tells whether metadata.deletionTimestamp is set.
func (o *Object) Deleting() bool { return o.deleting }

// Encoding returns how AppendBytes' result is to be read.
func (o *Object) Encoding() Encoding { return o.body.encoding }

// String names the object and its version, and tells nothing of its content,
// which may be secret: "default/tmp@1234".
func (o *Object) String() string { return o.key.String() + "@" + o.ResourceVersion() }

// Equal reports whether two objects are the same to the byte. (One version of an
// object has the same bytes wherever it comes from, but a server whose history
// began anew may give a version out again.)
func (o *Object) Equal(other *Object) bool {
	return o == other || o.body.equal(&other.body)
}

// Size returns the number of bytes that AppendBytes appends. Less may be kept:
// see Compactor.
func (o *Object) Size() int { return o.body.size() }

// AppendBytes appends a copy of the object's bytes to dst: the object as the
// server sent it, less managedFields unless they were asked for.
func (o *Object) AppendBytes(dst []byte) []byte { return o.body.append(dst, o.body.size()) }

// Prefix returns the beginning of the object's bytes, as much as is kept in one
// piece: all of them, all but the last few hundred, or nothing (see Compactor).
// Who holds a part of it keeps this version's bytes alive, and not the Object.
func (o *Object) Prefix() string {
	if o.body.form == patched {
		return ""
	}
	return o.body.data
}

// Meta scans the metadata once more and returns it. The strings stay valid for
// ever; they may keep this version's bytes alive as long as they are held.
func (o *Object) Meta() Meta {
	m := sink{allLabels: true}
	borrowed := o.scan(&m)
	if borrowed != nil {
		m.Meta.detach()
		borrowed.free()
	}
	return m.Meta
}

// Label returns the value of one label, and whether the object has it. The
// string may keep this version's bytes alive as long as it is held.
func (o *Object) Label(name string) (string, bool) {
	if value, ok, known := o.body.label(name); known {
		return value, ok
	}
	m := sink{label: lookup{name: name}}
	return m.label.take(o.scan(&m))
}

// Annotation returns the value of one annotation, and whether the object has
// it. Annotations are first looked at here: where they are malformed there is
// none. The string may keep this version's bytes alive as long as it is held.
func (o *Object) Annotation(name string) (string, bool) {
	m := sink{annotation: lookup{name: name}}
	return m.annotation.take(o.scan(&m))
}

// take returns what was found, as a copy where it lies in a borrowed buffer,
// which is given back.
func (l *lookup) take(borrowed *buffer) (string, bool) {
	value := l.value
	if borrowed != nil {
		value = strings.Clone(value)
		borrowed.free()
	}
	return value, l.ok
}
