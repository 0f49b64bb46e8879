package wire

import (
	"bytes"
	"strconv"

	"github.com/gocampus/hark/key"
)

// Object is one version of one object, kept as it came over the wire. It is
// immutable: what is handed out is a copy or a string, so that no caller can
// change what others read.
type Object struct {
	key             key.Key
	uid             string // aliases raw
	resourceVersion string // aliases raw
	version         uint64 // resourceVersion as an integer, 0 when it is not one
	raw             []byte
	encoding        Encoding
	deleting        bool
}

// NewObject scans the metadata of raw, which is one bare object, and returns
// the Object that keeps it. NewObject owns raw from then on. A name is required;
// a resourceVersion is not (objects inside tests and patches lack one).
func NewObject(encoding Encoding, raw []byte) (*Object, error) {
	var m sink
	if err := scan(encoding, raw, &m); err != nil {
		return nil, err
	}
	return newObject(encoding, raw, &m.Meta)
}

// newObject keeps raw under the metadata that was scanned from it.
func newObject(encoding Encoding, raw []byte, meta *Meta) (*Object, error) {
	if meta.Name == "" {
		return nil, &Error{What: "object has no metadata.name", Object: true}
	}
	version, err := strconv.ParseUint(meta.ResourceVersion, 10, 64)
	if err != nil {
		version = 0 // opaque to us, as the API allows
	}
	return &Object{
		key:             detachKey(meta.Namespace, meta.Name),
		uid:             meta.UID,
		resourceVersion: meta.ResourceVersion,
		version:         version,
		raw:             raw,
		encoding:        encoding,
		deleting:        !meta.DeletionTimestamp.IsZero(),
	}, nil
}

// detachKey copies a key out of the bytes that it was scanned from, in one
// allocation: keys outlive versions (in queues and indexes) and must not keep
// a version's bytes alive.
func detachKey(namespace, name string) key.Key {
	joined := namespace + name + " " // the blank forces a copy when one part is empty
	return key.Key{Namespace: joined[:len(namespace)], Name: joined[len(namespace) : len(joined)-1]}
}

// Key returns the object's namespace and name.
func (o *Object) Key() key.Key { return o.key }

// UID returns metadata.uid. Two objects of one key with different UIDs are
// different objects: the first was deleted and the second created.
func (o *Object) UID() string { return o.uid }

// ResourceVersion returns metadata.resourceVersion as the server wrote it.
func (o *Object) ResourceVersion() string { return o.resourceVersion }

// Version returns the resourceVersion as an integer, and whether it is one.
// KEP-5504 makes resourceVersions of built-in and custom resources comparable.
func (o *Object) Version() (uint64, bool) { return o.version, o.version != 0 }

// Deleting tells whether metadata.deletionTimestamp is set.
func (o *Object) Deleting() bool { return o.deleting }

// Encoding returns how AppendBytes' result is to be read.
func (o *Object) Encoding() Encoding { return o.encoding }

// String names the object and its version, and tells nothing of its content,
// which may be secret: "default/tmp@1234".
func (o *Object) String() string { return o.key.String() + "@" + o.resourceVersion }

// Equal reports whether two objects are the same to the byte. (One version of an
// object has the same bytes wherever it comes from, but a server whose history
// began anew may give a version out again.)
func (o *Object) Equal(other *Object) bool {
	return o == other || o.encoding == other.encoding && bytes.Equal(o.raw, other.raw)
}

// Size returns the number of bytes kept.
func (o *Object) Size() int { return len(o.raw) }

// AppendBytes appends a copy of the object's bytes to dst: the object as the
// server sent it, less managedFields unless they were asked for.
func (o *Object) AppendBytes(dst []byte) []byte { return append(dst, o.raw...) }

// Meta scans the metadata once more and returns it. The strings stay valid for
// ever; they keep this version's bytes alive as long as they are held.
func (o *Object) Meta() Meta {
	var meta Meta
	if err := Scan(o.encoding, o.raw, &meta); err != nil {
		// NewObject scanned these very bytes and they never change.
		panic("wire: a kept object does not scan: " + err.Error())
	}
	return meta
}

// Label returns the value of one label, and whether the object has it. The
// string keeps this version's bytes alive as long as it is held.
func (o *Object) Label(name string) (string, bool) {
	m := sink{label: lookup{name: name}}
	if scan(o.encoding, o.raw, &m) != nil {
		return "", false // cannot be: NewObject scanned these very bytes
	}
	return m.label.value, m.label.ok
}

// Annotation returns the value of one annotation, and whether the object has
// it. Annotations are first looked at here: where they are malformed there is
// none. The string keeps this version's bytes alive as long as it is held.
func (o *Object) Annotation(name string) (string, bool) {
	m := sink{annotation: lookup{name: name}}
	if scan(o.encoding, o.raw, &m) != nil {
		return "", false
	}
	return m.annotation.value, m.annotation.ok
}
