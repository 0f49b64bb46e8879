package kube

import (
	"errors"
	"fmt"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/gocampus/hark/wire"
)

// As decodes an object into a new T, a generated API type (As[corev1.Pod]) or,
// of an object in JSON, any struct with JSON tags. Nobody else holds the result:
// it may be changed.
//
// The object must be of T's kind; protobuf bytes do not say which kind they are.
// apiVersion and kind are set where client-go's scheme knows T, and otherwise
// are what the bytes say, which for items of a list may be nothing.
//
// Strings of the result may be parts of the object's bytes, which they keep in
// memory: strings.Clone what is to outlive the result.
//
// Errors name the object and its version.
func As[T any](obj *wire.Object) (*T, error) {
	into := new(T)
	if err := decode(obj, schema.GroupVersionKind{}, into, decodeFast); err != nil {
		return nil, err
	}
	return into, nil
}

// Decode decodes an object of this kind into into, whose former content is
// dropped: a pointer to a generated API type, to any struct with JSON tags (of
// objects in JSON), to an unstructured.Unstructured or to a
// metav1.PartialObjectMetadata. apiVersion and kind are set. The result
// may be changed; its strings are as those of As.
//
// An Unstructured holds integers as int64 and other numbers as float64, as
// everywhere in Kubernetes. From protobuf it is made by way of the generated
// type, so that fields newer than this program's client-go are missing.
//
// Errors name the object and its version.
func (k Kind) Decode(obj *wire.Object, into any) error { return decode(obj, k.GVK, into, decodeFast) }

// decode decodes by gvk, which is empty when only into says what to expect.
func decode(obj *wire.Object, gvk schema.GroupVersionKind, into any, fast fastDecoder) error {
	if obj == nil {
		return errors.New("decode: there is no object")
	}
	if err := decodeInto(obj, gvk, into, fast); err != nil {
		return fmt.Errorf("decode %s at version %s into %T: %w", obj.Key(), obj.ResourceVersion(), into, err)
	}
	return nil
}

func decodeInto(obj *wire.Object, gvk schema.GroupVersionKind, into any, fast fastDecoder) error {
	target := reflect.ValueOf(into)
	if target.Kind() != reflect.Pointer || target.IsNil() {
		return errors.New("a non-nil pointer is needed")
	}
	target.Elem().SetZero()
	switch into := into.(type) {
	case *unstructured.Unstructured:
		return decodeUnstructured(obj, gvk, into)
	case *metav1.PartialObjectMetadata:
		// Its one field is metadata, which has the same number in every kind.
		if err := decodeTyped(obj, into, fast); err != nil {
			return err
		}
		setKind(into, gvk)
		return nil
	}
	known, err := expectKind(into, gvk)
	if err != nil {
		return err
	}
	if err := decodeTyped(obj, into, fast); err != nil {
		return err
	}
	setKind(into, known)
	return nil
}

// expectKind returns the kind that into is for, and an error when that is
// another one than gvk.
func expectKind(into any, gvk schema.GroupVersionKind) (schema.GroupVersionKind, error) {
	object, ok := into.(runtime.Object)
	if !ok {
		return gvk, nil
	}
	kinds, _, err := scheme.Scheme.ObjectKinds(object)
	if err != nil { // not a built-in type: gvk is all there is
		return gvk, nil
	}
	for _, kind := range kinds {
		if gvk.Empty() || kind == gvk {
			return kind, nil
		}
	}
	return gvk, fmt.Errorf("the object is %s %s", gvk.GroupVersion(), gvk.Kind)
}

func setKind(into any, gvk schema.GroupVersionKind) {
	if object, ok := into.(runtime.Object); ok && !gvk.Empty() {
		object.GetObjectKind().SetGroupVersionKind(gvk)
	}
}

var errNoKind = errors.New("the bytes do not say which kind they are; use Kind.Decode")

func decodeUnstructured(obj *wire.Object, gvk schema.GroupVersionKind, into *unstructured.Unstructured) error {
	if obj.Encoding() == wire.Protobuf {
		object, err := decodeBuiltIn(obj, gvk)
		if err != nil {
			return err
		}
		if into.Object, err = runtime.DefaultUnstructuredConverter.ToUnstructured(object); err != nil {
			return err
		}
		into.SetGroupVersionKind(gvk)
		return nil
	}
	if err := decodeTyped(obj, &into.Object, decodeFast); err != nil {
		return err
	}
	if into.GetKind() == "" || into.GetAPIVersion() == "" { // an item of a list
		if gvk.Empty() {
			return errNoKind
		}
		into.SetGroupVersionKind(gvk)
	}
	return nil
}

// decodeBuiltIn decodes protobuf into client-go's type of a kind.
func decodeBuiltIn(obj *wire.Object, gvk schema.GroupVersionKind) (runtime.Object, error) {
	if gvk.Empty() {
		return nil, errNoKind
	}
	object, err := scheme.Scheme.New(gvk)
	if err != nil {
		return nil, err
	}
	return object, decodeTyped(obj, object, decodeFast)
}
