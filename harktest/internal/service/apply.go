package service

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	"github.com/gocampus/hark/harktest/internal/kind"
	"github.com/gocampus/hark/harktest/internal/mvcc"
	"github.com/gocampus/hark/harktest/internal/object"
)

type fieldManager = managedfields.FieldManager

type managerKey struct {
	gvk         schema.GroupVersionKind
	subresource string
}

// fieldManager returns the manager of a kind's fields; it is made when it is
// first needed, since that costs more than a server's start.
func (s *Service) fieldManager(t Target) (*fieldManager, error) {
	k := managerKey{t.Kind.GVK, t.Subresource}
	s.mu.Lock()
	get := s.managers[k]
	if get == nil {
		get = sync.OnceValues(func() (*fieldManager, error) { return newFieldManager(s.kinds, t) })
		s.managers[k] = get
	}
	s.mu.Unlock()
	return get()
}

func newFieldManager(kinds *kind.Registry, t Target) (*fieldManager, error) {
	c := fieldConverter{kinds}
	gv := t.Kind.GVK.GroupVersion()
	if scheme.Scheme.Recognizes(t.Kind.GVK) && !t.Kind.Unstructured() {
		types := applyconfigurations.NewTypeConverter(scheme.Scheme)
		return managedfields.NewDefaultFieldManager(types, c, c, c, t.Kind.GVK, gv, t.Subresource, nil)
	}
	return managedfields.NewDefaultCRDFieldManager(managedfields.NewDeducedTypeConverter(), c, c, c, t.Kind.GVK, gv, t.Subresource, nil)
}

// fieldConverter is what a field manager needs of a scheme. There is one version
// of each stored kind, so that conversion is one between Go types.
type fieldConverter struct{ kinds *kind.Registry }

// ConvertToVersion implements runtime.ObjectConvertor.
func (c fieldConverter) ConvertToVersion(in runtime.Object, gv runtime.GroupVersioner) (runtime.Object, error) {
	u, ok := in.(*unstructured.Unstructured)
	if !ok {
		return in, nil
	}
	k := c.kinds.ByKind(u.GroupVersionKind())
	if k == nil {
		return nil, runtime.NewNotRegisteredErrForKind(kind.SchemeName, u.GroupVersionKind())
	}
	if k.Unstructured() {
		return in, nil
	}
	out := k.New()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, out); err != nil {
		return nil, err
	}
	out.GetObjectKind().SetGroupVersionKind(k.GVK)
	return out, nil
}

// Convert implements runtime.ObjectConvertor.
func (c fieldConverter) Convert(in, out, context any) error {
	return errors.New("service: conversion into a given object is not needed")
}

// ConvertFieldLabel implements runtime.ObjectConvertor.
func (c fieldConverter) ConvertFieldLabel(gvk schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}

// Default implements runtime.ObjectDefaulter.
func (c fieldConverter) Default(in runtime.Object) { applyDefaults(in) }

// New implements runtime.ObjectCreater.
func (c fieldConverter) New(gvk schema.GroupVersionKind) (runtime.Object, error) {
	obj, err := c.kinds.New(gvk)
	if err == nil {
		obj.GetObjectKind().SetGroupVersionKind(gvk)
	}
	return obj, err
}

// trackCreate records who owns the fields of a new object.
func (s *Service) trackCreate(t Target, obj runtime.Object, o WriteOptions) (runtime.Object, error) {
	if o.applied {
		return obj, nil
	}
	if !s.options.TrackFields {
		return withoutManagers(obj), nil
	}
	m, err := s.fieldManager(t)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	empty, err := fieldConverter{s.kinds}.New(t.Kind.GVK)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	obj.GetObjectKind().SetGroupVersionKind(t.Kind.GVK)
	return m.UpdateNoErrors(empty, withoutManagers(obj), o.Manager), nil
}

// trackUpdate records who owns the fields of an object that has owners already.
func (s *Service) trackUpdate(t Target, old *object.Version, next runtime.Object, o WriteOptions) (runtime.Object, error) {
	if o.applied {
		return next, nil
	}
	if !s.options.TrackFields && len(old.Meta().GetManagedFields()) == 0 {
		return withoutManagers(next), nil
	}
	m, err := s.fieldManager(t)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	live := old.Copy()
	live.GetObjectKind().SetGroupVersionKind(t.Kind.GVK)
	next.GetObjectKind().SetGroupVersionKind(t.Kind.GVK)
	tracked := m.UpdateNoErrors(live, next, o.Manager)
	if t.Subresource == "scale" {
		dropScaleTimes(tracked)
	}
	return tracked, nil
}

// dropScaleTimes drops the times of what was set by scaling, as the API does.
func dropScaleTimes(obj runtime.Object) {
	m, err := meta.Accessor(obj)
	if err != nil {
		return
	}
	fields := m.GetManagedFields()
	for i := range fields {
		if fields[i].Subresource == "scale" {
			fields[i].Time = nil
		}
	}
	m.SetManagedFields(fields)
}

func withoutManagers(obj runtime.Object) runtime.Object {
	if m, err := meta.Accessor(obj); err == nil && len(m.GetManagedFields()) > 0 {
		m.SetManagedFields(nil)
	}
	return obj
}

// Apply is a server-side apply: it creates the object or merges the fields that
// the manager wants; created tells which.
func (s *Service) Apply(t Target, body []byte, o WriteOptions) (version *object.Version, created bool, err error) {
	wanted, err := appliedObject(t, body, o)
	if err != nil {
		return nil, false, err
	}
	if t.Kind.ToHub != nil {
		return nil, false, BadRequest("apply of %s is served in version %s only", t.Kind.Plural, t.Kind.Main().GVK.GroupVersion())
	}
	o.applied = true
	for {
		version, created, err = s.apply(t, wanted, o)
		if !errors.Is(err, mvcc.ErrConflict) && !(created && apierrors.IsAlreadyExists(err)) {
			return version, created, err
		}
	}
}

// appliedObject reads and checks the body of an apply.
func appliedObject(t Target, body []byte, o WriteOptions) (*unstructured.Unstructured, error) {
	wanted := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(body, &wanted.Object); err != nil {
		return nil, BadRequest("error encoding patch: %v", strings.TrimPrefix(err.Error(), "error converting YAML to JSON: "))
	}
	switch {
	case o.Manager == "":
		return nil, BadRequest("PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required for apply patch")
	case wanted.GroupVersionKind() != t.Kind.GVK && t.Subresource != "scale":
		return nil, BadRequest("invalid object type: %v", wanted.GroupVersionKind())
	case wanted.GetName() != "" && wanted.GetName() != t.Name:
		return nil, BadRequest("the name of the object (%s) does not match the name on the URL (%s)", wanted.GetName(), t.Name)
	case len(wanted.GetManagedFields()) > 0:
		return nil, BadRequest("metadata.managedFields must be nil")
	}
	if err := object.CheckMeta(wanted); err != nil { // for once an internal error of the API's
		return nil, fmt.Errorf("failed to create typed patch object (%s; %s): %w", t.Key(), t.Kind.GVK, err)
	}
	wanted.SetName(t.Name)
	if wanted.GetNamespace() != "" { // without one it stays without until it is created
		return wanted, matchNamespace(t, wanted)
	}
	return wanted, nil
}

func (s *Service) apply(t Target, wanted *unstructured.Unstructured, o WriteOptions) (*object.Version, bool, error) {
	m, err := s.fieldManager(t)
	if err != nil {
		return nil, false, apierrors.NewInternalError(err)
	}
	record := s.store.Get(t.Kind.Storage(), t.Key())
	if record == nil {
		if t.Subresource != "" {
			return nil, false, t.notFound()
		}
		version, err := s.applyNew(t, m, wanted, o)
		return version, true, err
	}
	version, err := s.update(t, record, func(current runtime.Object) (runtime.Object, error) {
		current.GetObjectKind().SetGroupVersionKind(t.Kind.GVK)
		return m.Apply(current, wanted.DeepCopy(), o.Manager, o.Force)
	}, o)
	return version, false, err
}

func (s *Service) applyNew(t Target, m *fieldManager, wanted *unstructured.Unstructured, o WriteOptions) (*object.Version, error) {
	empty, err := fieldConverter{s.kinds}.New(t.Kind.GVK)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	obj, err := m.Apply(empty, wanted.DeepCopy(), o.Manager, o.Force)
	if err != nil {
		return nil, err
	}
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return nil, fmt.Errorf("service: apply made no object: %w", err)
	}
	if accessor.GetUID() != "" {
		return nil, t.conflict(errors.New("uid mismatch: the provided object specified uid " + string(accessor.GetUID()) + ", and no existing object was found"))
	}
	return s.Create(t, obj, o)
}
