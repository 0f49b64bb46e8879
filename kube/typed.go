package kube

import (
	"errors"
	"sync"
	"unsafe"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/gocampus/hark/kube/internal/protobuf"
	"github.com/gocampus/hark/wire"
)

// protobufDecoder is what generated API types have.
type protobufDecoder interface{ Unmarshal([]byte) error }

// fastDecoder decodes into what into, which is zero, points to, and tells whether it could.
type fastDecoder func(obj *wire.Object, into any) bool

// decodeTyped decodes into what into, which is zero, points to, whatever kind it is.
func decodeTyped(obj *wire.Object, into any, fast fastDecoder) error {
	if obj.Encoding() == wire.JSON {
		return withCopy(obj, func(raw []byte) error { return json.Unmarshal(raw, into) })
	}
	decoder, ok := into.(protobufDecoder)
	if !ok {
		return errors.New("the object is in protobuf, which this type cannot read; read the kind with SourceOptions.Encoding = wire.JSON")
	}
	if fast(obj, into) {
		return nil
	}
	return withCopy(obj, decoder.Unmarshal)
}

// decodeFast decodes with strings that are parts of the bytes that obj keeps or, of
// a compact object, of one copy of them. It tells whether it could; if not, into
// is zero still.
func decodeFast(obj *wire.Object, into any) bool {
	return protobuf.Knows(into) && withStable(obj, func(data, stable string) bool { return protobuf.Decode(data, stable, into) })
}

// decodeAlike is decodeFast for a result that nobody changes: it may share parts with others.
func decodeAlike(obj *wire.Object, into any) bool {
	if _, ok := into.(*runtime.Unknown); ok { // whose kind, a part of the message, is set later on
		return decodeFast(obj, into)
	}
	if !protobuf.Knows(into) {
		return false
	}
	a := adviceFor(obj, into)
	switch {
	case a.serve:
		data := obj.Prefix()
		if len(data) < obj.Size() {
			data = textOf(obj.AppendBytes(nil))
		}
		model := protobuf.NewModel(data, into, a.like)
		if model == nil {
			viewModels.refuse(a.name)
			return protobuf.Decode(data, data, into)
		}
		viewModels.serve(a.name, model)
		return true
	case a.like == nil:
		return decodeFast(obj, into)
	}
	return withStable(obj, func(data, stable string) bool {
		shared, known, ok := protobuf.DecodeLike(data, stable, into, a.like)
		if ok && shared < known/poor {
			viewModels.dismiss(a.name, a.like)
		}
		return ok || protobuf.Decode(data, stable, into)
	})
}

// adviceFor reads the owner only where it has to: of a compact object that takes longer than the rest.
func adviceFor(obj *wire.Object, into any) advice {
	name := nameOf(obj, into)
	if own := viewModels.own(name, obj.Size()); own != nil {
		return advice{like: own, name: name}
	}
	return viewModels.advise(name, familyOf(obj, into), obj.Size())
}

// withStable calls decode with the object's bytes and the beginning of them that
// never changes, and returns its result.
func withStable(obj *wire.Object, decode func(data, stable string) bool) (done bool) {
	prefix := obj.Prefix()
	switch len(prefix) {
	case obj.Size():
		return decode(prefix, prefix)
	case 0:
		text := textOf(obj.AppendBytes(nil))
		return decode(text, text)
	}
	_ = withCopy(obj, func(raw []byte) error {
		done = decode(textOf(raw), prefix)
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
