package object

import (
	"bytes"
	"errors"

	"google.golang.org/protobuf/encoding/protowire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Touched returns a version that will differ from v by its resourceVersion alone. For
// typed kinds that have protobuf it costs no decoding and no encoding.
func (v *Version) Touched() *Version {
	raw, err := v.Protobuf(v.kind)
	if err != nil {
		return New(v.kind, v.Copy())
	}
	base := &bytesOf{protobuf: raw}
	if v.touched != nil {
		base.json = v.touched.json // any version's will do
	}
	if base.json == nil {
		base.json, _ = v.JSON(v.kind) // without it the JSON is made from the object
	}
	m, ok := metaOf(v.meta)
	if !ok {
		return New(v.kind, v.Copy())
	}
	return &Version{kind: v.kind, meta: &m, selectable: v.selectable, touched: base}
}

// metaOf returns a shallow copy of an object's metadata.
func metaOf(m metav1.Object) (metav1.ObjectMeta, bool) {
	if direct, ok := m.(*metav1.ObjectMeta); ok {
		return *direct, true
	}
	if holder, ok := m.(metav1.ObjectMetaAccessor); ok {
		if direct, ok := holder.GetObjectMeta().(*metav1.ObjectMeta); ok {
			return *direct, true
		}
	}
	return metav1.ObjectMeta{}, false
}

// spliceJSON replaces metadata.resourceVersion in the JSON of a typed object. There,
// only names and the UID come before it, none of which holds a quote.
func spliceJSON(raw []byte, version string) ([]byte, bool) {
	name := []byte(`"resourceVersion":"`)
	start := bytes.Index(raw, name)
	if start < 0 {
		return nil, false
	}
	start += len(name)
	end := bytes.IndexByte(raw[start:], '"')
	if end < 0 {
		return nil, false
	}
	return replace(raw, start, start+end, version), true
}

func replace(raw []byte, start, end int, text string) []byte {
	out := make([]byte, 0, len(raw)-(end-start)+len(text))
	out = append(out, raw[:start]...)
	out = append(out, text...)
	return append(out, raw[end:]...)
}

// The numbers of metadata in all objects of the API, and of resourceVersion in it.
const (
	metadataField        = 1
	resourceVersionField = 6
)

var errSplice = errors.New("object: no metadata.resourceVersion in the message")

// spliceProtobuf replaces metadata.resourceVersion in a message.
func spliceProtobuf(raw []byte, version string) ([]byte, error) {
	at, metadata, ok := findField(raw, metadataField)
	if !ok {
		return nil, errSplice
	}
	inner, old, ok := findField(metadata, resourceVersionField)
	if !ok {
		return nil, errSplice
	}
	size := len(metadata) - protowire.SizeBytes(len(old)) + protowire.SizeBytes(len(version))
	out := make([]byte, 0, len(raw)+len(version)+2*protowire.SizeVarint(uint64(size)))
	out = append(out, raw[:at]...)
	out = protowire.AppendVarint(out, uint64(size))
	out = append(out, metadata[:inner]...)
	out = protowire.AppendString(out, version)
	out = append(out, metadata[inner+protowire.SizeBytes(len(old)):]...)
	return append(out, raw[at+protowire.SizeBytes(len(metadata)):]...), nil
}

// findField returns the first length-delimited field of a number: the offset of
// its length, and its value.
func findField(raw []byte, number protowire.Number) (at int, value []byte, ok bool) {
	for at < len(raw) {
		n, kind, size := protowire.ConsumeTag(raw[at:])
		if size < 0 {
			return 0, nil, false
		}
		at += size
		if n == number && kind == protowire.BytesType {
			value, size = protowire.ConsumeBytes(raw[at:])
			return at, value, size >= 0
		}
		if size = protowire.ConsumeFieldValue(n, kind, raw[at:]); size < 0 {
			return 0, nil, false
		}
		at += size
	}
	return 0, nil, false
}
