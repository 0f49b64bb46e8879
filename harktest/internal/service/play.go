package service

import (
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/gocampus/hark/harktest/internal/mvcc"
	"github.com/gocampus/hark/harktest/internal/object"
	"github.com/gocampus/hark/key"
)

// Restore stores an object as it is, whether it is new or replaces one, under the next
// version.
func (s *Service) Restore(t Target, obj runtime.Object) error {
	for {
		err := s.restore(t, obj.DeepCopyObject())
		if !errors.Is(err, mvcc.ErrConflict) {
			return err
		}
	}
}

func (s *Service) restore(t Target, obj runtime.Object) error {
	there := s.store.Get(t.Kind.Main().Storage(), t.Key())
	if there == nil {
		err := s.Load(t, obj)
		if apierrors.IsAlreadyExists(err) {
			return mvcc.ErrConflict // somebody was faster: replace it
		}
		return err
	}
	obj, err := toHub(t.Kind, obj)
	if err != nil {
		return err
	}
	m, err := meta.Accessor(obj)
	if err != nil {
		return err
	}
	k := t.Kind.Main()
	if k.Namespaced {
		m.SetNamespace(t.Namespace)
	}
	complete(k, m, obj)
	version := object.New(k, obj)
	version.Packable()
	if err := s.commit(t, change{Resource: k.Storage(), Key: t.Key(), Expect: there.Version, Value: version}); err != nil {
		return err
	}
	version.Pack()
	return nil
}

// Drop removes an object at once, whatever finalizers or grace it has. One that is
// not there is none.
func (s *Service) Drop(t Target) error {
	k := t.Kind.Main()
	for {
		there := s.store.Get(k.Storage(), key.Key{Namespace: t.Namespace, Name: t.Name})
		if there == nil {
			return nil
		}
		last := object.New(k, there.Value.Copy())
		err := s.commit(t, change{Resource: k.Storage(), Key: t.Key(), Expect: there.Version, Value: last, Delete: true})
		if !errors.Is(err, mvcc.ErrConflict) {
			return err
		}
	}
}
