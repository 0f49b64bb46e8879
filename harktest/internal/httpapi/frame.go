package httpapi

import (
	"encoding/binary"
	"net/http"

	"google.golang.org/protobuf/encoding/protowire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/gocampus/hark/harktest/internal/kind"
	"github.com/gocampus/hark/harktest/internal/object"
)

// framer encodes the events of one watch.
type framer struct {
	request *http.Request
	kind    *kind.Kind
	media   media
	headed  bool // the columns of a table were sent
}

// appendEvent appends the frame of a change.
func (f *framer) appendEvent(dst []byte, t watch.EventType, v *object.Version) ([]byte, error) {
	switch f.media.form {
	case asTable:
		body, err := appendTable(nil, f.request, f.kind, &tableOf{versions: []*object.Version{v}, columns: !f.headed})
		f.headed = true
		return f.appendFrame(dst, t, body), err
	case asPartial:
		body, err := appendObject(nil, partialKind, object.PartialMetadata(v.Meta()), f.media.protobuf())
		return f.appendFrame(dst, t, body), err
	}
	if f.media.protobuf() {
		return f.appendProtobuf(dst, t, v)
	}
	raw, err := v.JSON(f.kind)
	if err != nil {
		return dst, err
	}
	dst = appendJSONHead(dst, t)
	if f.kind.Unstructured() {
		dst = append(dst, raw...)
	} else {
		dst = object.AppendTypedJSON(dst, f.kind.GVK, raw)
	}
	return append(dst, '}', '\n'), nil
}

// appendProtobuf appends a frame around an object's bytes without copying them twice.
func (f *framer) appendProtobuf(dst []byte, t watch.EventType, v *object.Version) ([]byte, error) {
	raw, err := v.Protobuf(f.kind)
	if err != nil {
		return dst, err
	}
	return f.appendMessage(dst, t, raw), nil
}

// appendMessage is appendProtobuf for an encoded object.
func (f *framer) appendMessage(dst []byte, t watch.EventType, raw []byte) []byte {
	var space [128]byte
	envelope := object.Envelope(space[:0], f.kind.GVK, len(raw))
	dst = appendFrameHead(dst, t, len(envelope)+len(raw)+len(protobufTail))
	dst = append(dst, envelope...)
	dst = append(dst, raw...)
	return append(dst, protobufTail...)
}

// appendEncoded appends the frame of an object that is encoded as agreed: bare
// in protobuf, a whole document in JSON.
func (f *framer) appendEncoded(dst []byte, t watch.EventType, raw []byte) []byte {
	if f.media.protobuf() {
		return f.appendMessage(dst, t, raw)
	}
	return f.appendFrame(dst, t, raw)
}

// appendFrame appends the frame of an encoded document.
func (f *framer) appendFrame(dst []byte, t watch.EventType, body []byte) []byte {
	if f.media.protobuf() {
		return append(appendFrameHead(dst, t, len(body)), body...)
	}
	dst = append(appendJSONHead(dst, t), body...)
	return append(dst, '}', '\n')
}

func appendJSONHead(dst []byte, t watch.EventType) []byte {
	dst = append(dst, `{"type":"`...)
	dst = append(dst, t...)
	return append(dst, `","object":`...)
}

// appendFrameHead appends all of a protobuf frame that comes before the
// document: the length, and the WatchEvent (type in field 1, object in field 2, a
// RawExtension whose field 1 is the document).
func appendFrameHead(dst []byte, t watch.EventType, size int) []byte {
	extension := protowire.SizeTag(1) + protowire.SizeBytes(size)
	event := protowire.SizeTag(1) + protowire.SizeBytes(len(t)) + protowire.SizeTag(2) + protowire.SizeBytes(extension)
	dst = binary.BigEndian.AppendUint32(dst, uint32(event))
	dst = protowire.AppendTag(dst, 1, protowire.BytesType)
	dst = protowire.AppendString(dst, string(t))
	dst = protowire.AppendTag(dst, 2, protowire.BytesType)
	dst = protowire.AppendVarint(dst, uint64(extension))
	dst = protowire.AppendTag(dst, 1, protowire.BytesType)
	return protowire.AppendVarint(dst, uint64(size))
}

// appendBookmark appends a bookmark at a version; end marks the end of the
// initial events (KEP-3157).
func (f *framer) appendBookmark(dst []byte, version uint64, end bool) ([]byte, error) {
	obj := f.kind.New()
	m := obj.(metav1.Object) // kinds are objects by registration
	m.SetResourceVersion(versionText(version))
	if end {
		m.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
	}
	bookmark := object.New(f.kind, obj)
	if f.media.form != asWhole {
		return f.appendEvent(dst, watch.Bookmark, bookmark)
	}
	body, err := appendVersion(nil, f.kind, bookmark, f.media.protobuf())
	return f.appendFrame(dst, watch.Bookmark, body), err
}

// appendError appends an ERROR event.
func (f *framer) appendError(dst []byte, status *metav1.Status) ([]byte, error) {
	body, err := appendObject(nil, statusKind, status, f.media.protobuf())
	return f.appendFrame(dst, watch.Error, body), err
}
