package object

import (
	"fmt"
	"reflect"
	"strconv"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/gocampus/hark/harktest/internal/kind"
)

// Version is one stored version of one object. Once it is stored it is immutable
// and safe for concurrent use.
type Version struct {
	kind *kind.Kind
	// object is nil once the version was packed: it is then decoded from its
	// protobuf bytes whenever somebody needs it.
	object atomic.Pointer[runtime.Object]
	meta   metav1.Object

	json, protobuf encoded
	selectable     *selectable
	// touched is the version that v differs from by its resourceVersion alone; its
	// bytes are spliced instead of encoding anew. nil for most versions.
	touched *bytesOf
}

// bytesOf are the encodings of a version that another one was made from.
type bytesOf struct{ json, protobuf []byte }

// encoded is one encoding of a version, made when it is first needed.
type encoded struct {
	once sync.Once
	data []byte
	err  error
}

func (e *encoded) get(encode func() ([]byte, error)) ([]byte, error) {
	e.once.Do(func() { e.data, e.err = encode() })
	return e.data, e.err
}

func (v *Version) encodeJSON() ([]byte, error) {
	if v.touched != nil && v.touched.json != nil {
		if spliced, ok := spliceJSON(v.touched.json, v.meta.GetResourceVersion()); ok {
			return spliced, nil
		}
	}
	return encodeJSON(v.Object())
}

func (v *Version) encodeProtobuf() ([]byte, error) {
	if v.touched != nil {
		return spliceProtobuf(v.touched.protobuf, v.meta.GetResourceVersion())
	}
	return encodeProtobuf(v.Object())
}

type selectable struct {
	once sync.Once
	set  fields.Set
}

// New returns the version that obj, an object of the storage kind k, will be.
// It owns obj.
func New(k *kind.Kind, obj runtime.Object) *Version {
	accessor, err := meta.Accessor(obj)
	if err != nil {
		panic("object: an object without metadata: " + err.Error()) // kinds are objects by registration
	}
	if !k.Unstructured() {
		obj.GetObjectKind().SetGroupVersionKind(emptyKind)
	}
	v := &Version{kind: k, meta: accessor, selectable: &selectable{}}
	v.object.Store(&obj)
	return v
}

// Stamp sets the resourceVersion; the store calls it before anybody reads v.
func (v *Version) Stamp(version uint64) {
	text := strconv.FormatUint(version, 10)
	v.meta.SetResourceVersion(text)
	if obj := v.object.Load(); obj != nil {
		if accessor, err := meta.Accessor(*obj); err == nil && accessor != v.meta {
			accessor.SetResourceVersion(text)
		}
	}
}

// Packable makes it possible to Pack v later. It must be called before v is stored.
func (v *Version) Packable() {
	obj := *v.object.Load()
	if !v.kind.HasProtobuf() {
		return
	}
	// The metadata is detached, so that it does not keep the rest alive.
	if field := reflect.ValueOf(obj).Elem().FieldByName("ObjectMeta"); field.IsValid() {
		if m, ok := field.Interface().(metav1.ObjectMeta); ok {
			v.meta = &m
		}
	}
}

// Pack encodes v and lets go of the decoded object, which takes several times
// the memory. It does nothing when v is not Packable.
func (v *Version) Pack() {
	obj := v.object.Load()
	if obj == nil {
		return
	}
	if accessor, err := meta.Accessor(*obj); err != nil || accessor == v.meta {
		return
	}
	if _, err := v.Protobuf(v.kind); err == nil {
		v.object.Store(nil)
	}
}

// Kind returns the storage kind.
func (v *Version) Kind() *kind.Kind { return v.kind }

// Object returns the object itself: it must not be changed.
func (v *Version) Object() runtime.Object {
	if obj := v.object.Load(); obj != nil {
		return *obj
	}
	raw, err := v.Protobuf(v.kind)
	obj := v.kind.New()
	if err == nil {
		err = obj.(interface{ Unmarshal([]byte) error }).Unmarshal(raw) // Pack has seen its counterpart
	}
	if err != nil {
		panic(fmt.Sprintf("object: an encoded %s does not decode: %v", v.kind.GVK.Kind, err))
	}
	return obj
}

// Meta returns the object's metadata: it must not be changed.
func (v *Version) Meta() metav1.Object { return v.meta }

// Copy returns a copy of the object that the caller may change.
func (v *Version) Copy() runtime.Object {
	if obj := v.object.Load(); obj != nil {
		return (*obj).DeepCopyObject()
	}
	return v.Object() // decoded for this caller alone
}

// Restamped returns the same object under another resourceVersion.
func (v *Version) Restamped(version string) *Version {
	other := New(v.kind, v.Copy())
	other.meta.SetResourceVersion(version)
	return other
}

// Labels returns the labels, to be matched against a selector.
func (v *Version) Labels() labels.Set { return v.meta.GetLabels() }

// Fields returns the fields that a field selector can name.
func (v *Version) Fields() fields.Set {
	s := v.selectable
	s.once.Do(func() { s.set = selectableFields(v.kind, v.Object(), v.meta) })
	return s.set
}

// storedAs tells whether kind k sees the object as it is stored. The kind that it was
// stored as may have been replaced by a newer one of the same name since.
func (v *Version) storedAs(k *kind.Kind) bool {
	return k == v.kind || k.FromHub == nil || k.GVK == v.kind.GVK
}

// As returns the object as another kind of the same storage sees it.
func (v *Version) As(k *kind.Kind) (runtime.Object, error) {
	if v.storedAs(k) {
		return v.Object(), nil
	}
	return k.FromHub(v.Object())
}

// JSON returns the object as kind k sees it, as one JSON document without a
// newline. A typed object has no apiVersion and kind; see AppendTypedJSON.
func (v *Version) JSON(k *kind.Kind) ([]byte, error) {
	if v.storedAs(k) {
		return v.json.get(v.encodeJSON)
	}
	obj, err := k.FromHub(v.Object())
	if err != nil {
		return nil, err
	}
	return encodeJSON(obj)
}

// Encodable returns why a version that is not stored yet cannot be encoded, in JSON or in
// protobuf if it has that, or nil.
func (v *Version) Encodable() error {
	if _, err := encodeJSON(v.Object()); err != nil {
		return err
	}
	if !v.kind.HasProtobuf() {
		return nil
	}
	_, err := v.Unstored()
	return err
}

// Unstored returns the protobuf message of a version that is not stored yet and
// may still change.
func (v *Version) Unstored() ([]byte, error) { return encodeProtobuf(v.Object()) }

// Protobuf returns the object as kind k sees it, as a bare protobuf message. It
// fails with ErrNoProtobuf for kinds that have no such encoding.
func (v *Version) Protobuf(k *kind.Kind) ([]byte, error) {
	if v.storedAs(k) {
		return v.protobuf.get(v.encodeProtobuf)
	}
	obj, err := k.FromHub(v.Object())
	if err != nil {
		return nil, err
	}
	return encodeProtobuf(obj)
}
