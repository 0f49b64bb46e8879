package object

import (
	"strconv"
	"sync"

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
	obj  runtime.Object
	meta metav1.Object

	fields   func() fields.Set
	json     func() ([]byte, error)
	protobuf func() ([]byte, error)
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
	v := &Version{kind: k, obj: obj, meta: accessor}
	v.fields = sync.OnceValue(func() fields.Set { return selectableFields(k, v.obj, v.meta) })
	v.json = sync.OnceValues(func() ([]byte, error) { return encodeJSON(v.obj) })
	v.protobuf = sync.OnceValues(func() ([]byte, error) { return encodeProtobuf(v.obj) })
	return v
}

// Stamp sets the resourceVersion; the store calls it before anybody reads v.
func (v *Version) Stamp(version uint64) {
	v.meta.SetResourceVersion(strconv.FormatUint(version, 10))
}

// Kind returns the storage kind.
func (v *Version) Kind() *kind.Kind { return v.kind }

// Object returns the object itself: it must not be changed.
func (v *Version) Object() runtime.Object { return v.obj }

// Meta returns the object's metadata: it must not be changed.
func (v *Version) Meta() metav1.Object { return v.meta }

// Copy returns a copy of the object that the caller may change.
func (v *Version) Copy() runtime.Object { return v.obj.DeepCopyObject() }

// Restamped returns the same object under another resourceVersion.
func (v *Version) Restamped(version string) *Version {
	other := New(v.kind, v.Copy())
	other.meta.SetResourceVersion(version)
	return other
}

// Labels returns the labels, to be matched against a selector.
func (v *Version) Labels() labels.Set { return v.meta.GetLabels() }

// Fields returns the fields that a field selector can name.
func (v *Version) Fields() fields.Set { return v.fields() }

// As returns the object as another kind of the same storage sees it.
func (v *Version) As(k *kind.Kind) (runtime.Object, error) {
	if k == v.kind || k.FromHub == nil {
		return v.obj, nil
	}
	return k.FromHub(v.obj)
}

// JSON returns the object as kind k sees it, as one JSON document without a
// newline. A typed object has no apiVersion and kind; see AppendTyped.
func (v *Version) JSON(k *kind.Kind) ([]byte, error) {
	if k == v.kind || k.FromHub == nil {
		return v.json()
	}
	obj, err := k.FromHub(v.obj)
	if err != nil {
		return nil, err
	}
	return encodeJSON(obj)
}

// Protobuf returns the object as kind k sees it, as a bare protobuf message. It
// fails with ErrNoProtobuf for kinds that have no such encoding.
func (v *Version) Protobuf(k *kind.Kind) ([]byte, error) {
	if k == v.kind || k.FromHub == nil {
		return v.protobuf()
	}
	obj, err := k.FromHub(v.obj)
	if err != nil {
		return nil, err
	}
	return encodeProtobuf(obj)
}
