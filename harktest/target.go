package harktest

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/gocampus/hark/harktest/internal/kind"
	"github.com/gocampus/hark/harktest/internal/service"
)

// target finds out what an object is; the namespace default is assumed.
func (s *Server) target(obj Object) (service.Target, error) {
	t, err := s.find(obj)
	if err != nil {
		return t, fmt.Errorf("harktest: %w", err)
	}
	return t, nil
}

// find is target without the package's name in its errors.
func (s *Server) find(obj Object) (service.Target, error) {
	k, err := s.kindOf(obj)
	if err != nil {
		return service.Target{}, err
	}
	t := service.Target{Kind: k, Namespace: obj.GetNamespace(), Name: obj.GetName()}
	if k.Namespaced && t.Namespace == "" {
		t.Namespace = metav1.NamespaceDefault
	}
	return t, nil
}

// kindOf returns the kind of an object that the server can keep.
func (s *Server) kindOf(obj Object) (*kind.Kind, error) {
	if v := reflect.ValueOf(obj); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return nil, errors.New("the object is nil")
	}
	k := s.kinds.Of(obj)
	if k == nil {
		return nil, unknownKind(obj)
	}
	if !k.Serves("get") {
		return nil, fmt.Errorf("%s: can only be created by a client: the server does not keep it", called(k.GVK.Kind, obj))
	}
	return k, nil
}

// called names an object in an error.
func called(kind string, obj Object) string {
	return cmp.Or(strings.TrimSpace(kind+" "+obj.GetName()), "object")
}

// unknownKind says, of an unstructured object in kubectl's words, that the server
// does not have the kind.
func unknownKind(obj Object) error {
	gvk := obj.GetObjectKind().GroupVersionKind()
	if _, ok := obj.(*unstructured.Unstructured); !ok {
		return fmt.Errorf("kind of %T %q is not registered", obj, gvk)
	}
	if gvk.Kind == "" || gvk.Version == "" {
		return fmt.Errorf("%s: apiVersion and kind are required", called(gvk.Kind, obj))
	}
	err := &meta.NoKindMatchError{GroupKind: gvk.GroupKind(), SearchedVersions: []string{gvk.Version}}
	return fmt.Errorf("%s: %w", called(gvk.Kind, obj), err)
}
