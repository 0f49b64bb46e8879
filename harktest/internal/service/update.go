package service

import (
	"bytes"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/gocampus/hark/harktest/internal/mvcc"
	"github.com/gocampus/hark/harktest/internal/object"
)

// Transform computes the new object from a copy of the current one, both as the
// target's kind sees them. It may be called again when the object changes meanwhile.
type Transform func(current runtime.Object) (runtime.Object, error)

// Update changes an object, or the part of it that the target's subresource
// names. The new object's resourceVersion, when it has one, must be the current
// one. A change of nothing makes no new version.
func (s *Service) Update(t Target, change Transform, o WriteOptions) (*object.Version, error) {
	for {
		record := s.store.Get(t.Kind.Storage(), t.Key())
		if record == nil {
			return nil, t.notFound()
		}
		version, err := s.update(t, record, change, o)
		if !errors.Is(err, mvcc.ErrConflict) {
			return version, err
		}
	}
}

// Put replaces an object as a client sends it, or creates it where the API lets an
// update do so; created tells which.
func (s *Service) Put(t Target, obj runtime.Object, o WriteOptions) (version *object.Version, created bool, err error) {
	for {
		version, err = s.Update(t, func(runtime.Object) (runtime.Object, error) { return obj.DeepCopyObject(), nil }, o)
		if t.Subresource != "" || !t.Kind.CreatedByUpdate() || !apierrors.IsNotFound(err) {
			return version, false, err
		}
		version, err = s.Create(t, obj.DeepCopyObject(), o)
		if !apierrors.IsAlreadyExists(err) {
			return version, true, err
		}
	}
}

// update tries once; mvcc.ErrConflict asks for another try.
func (s *Service) update(t Target, record *Record, change Transform, o WriteOptions) (*object.Version, error) {
	old := record.Value
	current, err := fromHub(t.Kind, old.Copy())
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	changed, err := change(current)
	if err != nil {
		return nil, err
	}
	next, err := toHub(t.Kind, changed)
	if err != nil {
		return nil, BadRequest("%v", err)
	}
	hub := t
	hub.Kind = t.Kind.Main()
	tracked := next
	if t.Subresource == ephemeralPart || t.Subresource == resizePart {
		// A manager owns what it sends, also where it is not taken from there.
		tracked = next.DeepCopyObject()
		applyDefaults(tracked)
	}
	if err := s.prepareUpdate(hub, next, old); err != nil {
		return nil, err
	}
	if t.Subresource != "binding" { // a binding is of no manager
		if tracked, err = s.trackUpdate(hub, old, tracked, o); err != nil {
			return nil, err
		}
		if next, err = withManagersOf(next, tracked); err != nil {
			return nil, err
		}
	}
	keepTimes(old.Meta(), next)
	version := object.New(hub.Kind, next)
	if finished(version.Meta()) {
		return s.remove(hub, record, version, o.DryRun)
	}
	if same(old, version) {
		return old, nil
	}
	return s.replace(hub, record, version, o.DryRun)
}

// withManagersOf returns tracked if it is what next was made into, and otherwise next
// with its managers.
func withManagersOf(next, tracked runtime.Object) (runtime.Object, error) {
	m, err := meta.Accessor(next)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	from, err := meta.Accessor(tracked)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	m.SetManagedFields(from.GetManagedFields())
	return next, nil
}

// encodable refuses what cannot be encoded, which Go objects and protobuf messages can
// be: were it stored, every list with it would fail.
func encodable(v *object.Version) error {
	if err := v.Encodable(); err != nil {
		return BadRequest("%s cannot be encoded: %v", v.Kind().GVK.Kind, err)
	}
	return nil
}

// replace commits a new version of a record.
func (s *Service) replace(t Target, record *Record, version *object.Version, dryRun bool) (*object.Version, error) {
	if err := encodable(version); err != nil {
		return nil, err
	}
	if dryRun {
		return version, nil
	}
	err := s.commit(t, change{Resource: t.Kind.Storage(), Key: t.Key(), Expect: record.Version, Value: version})
	if err != nil {
		return nil, err
	}
	return version, nil
}

// finished tells whether an object that is being deleted has nothing left to wait for.
func finished(m metav1.Object) bool {
	grace := m.GetDeletionGracePeriodSeconds()
	return m.GetDeletionTimestamp() != nil && len(m.GetFinalizers()) == 0 && (grace == nil || *grace == 0)
}

// same tells whether a new version says nothing new. Both carry the old
// resourceVersion at this point.
func same(old, next *object.Version) bool {
	k := old.Kind()
	if k.HasProtobuf() { // as the API compares: by what would be stored
		a, errA := old.Protobuf(k)
		b, errB := next.Unstored()
		return errA == nil && errB == nil && bytes.Equal(a, b)
	}
	return equality.Semantic.DeepEqual(old.Object(), next.Object())
}

// keepTimes restores the times of managedFields when nothing else of them has
// changed, so that an apply of nothing new makes no new version.
func keepTimes(old metav1.Object, next runtime.Object) {
	m, err := meta.Accessor(next)
	if err != nil || len(m.GetManagedFields()) == 0 {
		return
	}
	before, after := old.GetManagedFields(), m.GetManagedFields()
	if len(before) != len(after) {
		return
	}
	for i := range before {
		a, b := before[i], after[i]
		a.Time, b.Time = nil, nil
		if !equality.Semantic.DeepEqual(a, b) {
			return
		}
	}
	m.SetManagedFields(before)
}

func (s *Service) prepareUpdate(t Target, next runtime.Object, old *object.Version) error {
	m, err := meta.Accessor(next)
	if err != nil {
		return BadRequest("%v", err)
	}
	if err := precondition(t, m, old.Meta()); err != nil {
		return err
	}
	m.SetResourceVersion(old.Meta().GetResourceVersion())
	if err := matchNamespace(t, m); err != nil {
		return err
	}
	keepOld(t, next, old)
	keepSystemMetadata(m, old.Meta())
	applyDefaults(next)
	if t.Subresource == "" {
		if err := prepareKindUpdate(t, next, old.Object()); err != nil {
			return err
		}
	}
	if t.countsGeneration() && specChanged(t.Kind, next, old.Object()) {
		m.SetGeneration(old.Meta().GetGeneration() + 1)
	}
	return invalid(t, m.GetName(), validateUpdate(t, next, m, old))
}

// countsGeneration tells whether an update of the target can count as one of the spec.
func (t Target) countsGeneration() bool {
	switch t.Subresource {
	case "", "scale", ephemeralPart, resizePart:
		return t.Kind.Generation
	}
	return false
}

// precondition checks what an update says of the version that it came from.
func precondition(t Target, m, old metav1.Object) error {
	if uid := m.GetUID(); uid != "" && uid != old.GetUID() {
		return t.conflict(fmt.Errorf("StorageError: invalid object, Code: 4, Key: /registry/%s/%s, ResourceVersion: 0, AdditionalErrorMsg: "+
			"Precondition failed: UID in precondition: %v, UID in object meta: %v", t.Kind.Plural, t.Key(), uid, old.GetUID())) // the API's words
	}
	version := m.GetResourceVersion()
	if (version == "" || version == "0") && t.Kind.NeedsVersion() {
		errs := field.ErrorList{field.Invalid(field.NewPath("metadata", "resourceVersion"), 0, "must be specified for an update")}
		return apierrors.NewInvalid(schema.GroupKind{Group: t.Kind.GVK.Group, Kind: t.Kind.Plural}, m.GetName(), errs) // the API names the resource
	}
	if version != "" && version != "0" && version != old.GetResourceVersion() {
		return t.conflict(errModified)
	}
	return nil
}

// keepSystemMetadata restores what no client can change.
func keepSystemMetadata(m, old metav1.Object) {
	m.SetGeneration(old.GetGeneration())
	m.SetUID(old.GetUID())
	m.SetCreationTimestamp(old.GetCreationTimestamp())
	if at := old.GetDeletionTimestamp(); at != nil { // without one, a new one is refused
		m.SetDeletionTimestamp(at)
	}
	if m.GetDeletionGracePeriodSeconds() == nil {
		m.SetDeletionGracePeriodSeconds(old.GetDeletionGracePeriodSeconds())
	}
	m.SetSelfLink("")
}

func invalid(t Target, name string, errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(t.Kind.GVK.GroupKind(), name, errs)
}
