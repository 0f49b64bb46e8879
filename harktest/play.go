package harktest

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// Put stores objects as they are, status and deletion marks included, whether they
// are new or replace what is there: for those who play what another server did.
// Nothing is validated and no finalizer is waited for; missing namespaces are
// created. The objects get new resourceVersions and are not changed. It fails on
// the first whose kind is not known.
func (s *Server) Put(objects ...Object) error {
	for _, obj := range objects {
		t, err := s.target(obj)
		if err != nil {
			return err
		}
		stored := runtime.Object(obj)
		if _, ok := obj.(*unstructured.Unstructured); ok {
			if stored, err = typed(t.Kind, obj); err != nil {
				return err
			}
		}
		if err := s.service.Restore(t, stored); err != nil {
			return fmt.Errorf("harktest: put of %s %s: %w", t.Kind.GVK.Kind, t.Key(), err)
		}
	}
	return nil
}

// Drop removes objects at once, without grace and whatever finalizers they have.
// Those that are not there are none.
func (s *Server) Drop(objects ...Object) error {
	for _, obj := range objects {
		t, err := s.target(obj)
		if err != nil {
			return err
		}
		if err := s.service.Drop(t); err != nil {
			return fmt.Errorf("harktest: drop of %s %s: %w", t.Kind.GVK.Kind, t.Key(), err)
		}
	}
	return nil
}
