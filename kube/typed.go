package kube

import (
	"errors"
	"sync"
	"unsafe"

	"k8s.io/apimachinery/pkg/util/json"

	"github.com/gocampus/hark/kube/internal/protobuf"
	"github.com/gocampus/hark/wire"
)

// protobufDecoder is what generated API types have.
type protobufDecoder interface{ Unmarshal([]byte) error }

// decodeTyped decodes into what into, which is zero, points to, whatever kind it is.
func decodeTyped(obj *wire.Object, into any) error {
	if obj.Encoding() == wire.JSON {
		return withCopy(obj, func(raw []byte) error { return json.Unmarshal(raw, into) })
	}
	decoder, ok := into.(protobufDecoder)
	if !ok {
		return errors.New("the object is in protobuf, which this type cannot read; read the kind with SourceOptions.Encoding = wire.JSON")
	}
	if decodeFast(obj, into) {
		return nil
	}
	return withCopy(obj, decoder.Unmarshal)
}

// decodeFast decodes with strings that are parts of the bytes that obj keeps or, of
// a compact object, of one copy of them. It tells whether it could; if not, into
// is zero still.
func decodeFast(obj *wire.Object, into any) bool {
	if !protobuf.Knows(into) {
		return false
	}
	prefix := obj.Prefix()
	switch len(prefix) {
	case obj.Size():
		return protobuf.Decode(prefix, prefix, into)
	case 0:
		text := textOf(obj.AppendBytes(nil))
		return protobuf.Decode(text, text, into)
	}
	done := false
	_ = withCopy(obj, func(raw []byte) error {
		done = protobuf.Decode(textOf(raw), prefix, into)
		return nil
	})
	return done
}

// decodeBuffers hold the copy of the bytes that a decoder reads and lets go.
var decodeBuffers = sync.Pool{New: func() any { return new([]byte) }}

// maxPooledBuffer keeps one huge object from staying in the pool.
const maxPooledBuffer = 256 << 10

// withCopy calls decode with a copy of the object's bytes that it may change but
// not keep.
func withCopy(obj *wire.Object, decode func(raw []byte) error) error {
	buffer := decodeBuffers.Get().(*[]byte)
	raw := obj.AppendBytes((*buffer)[:0])
	err := decode(raw)
	if cap(raw) <= maxPooledBuffer {
		*buffer = raw
		decodeBuffers.Put(buffer)
	}
	return err
}

// textOf returns bytes as a string, which changes when they do.
func textOf(raw []byte) string { return unsafe.String(unsafe.SliceData(raw), len(raw)) }
