package service

import (
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilrand "k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/gocampus/hark/harktest/internal/mvcc"
	"github.com/gocampus/hark/harktest/internal/object"
	"github.com/gocampus/hark/key"
)

// WriteOptions are what all writes share.
type WriteOptions struct {
	// Manager owns the fields that a write sets.
	Manager string
	// DryRun computes the answer and stores nothing.
	DryRun bool
	// Force takes the fields of an apply from other managers.
	Force bool

	applied bool // a field manager has seen the object already
}

// generateAttempts is how many names are generated for an object before the API gives up.
const generateAttempts = 8

// Create stores a new object of the target's kind; obj becomes the service's.
// The target's name may be empty.
func (s *Service) Create(t Target, obj runtime.Object, o WriteOptions) (*object.Version, error) {
	if err := object.CheckMeta(obj); err != nil {
		return nil, BadRequest("%v", err)
	}
	m, err := meta.Accessor(obj)
	if err != nil {
		return nil, BadRequest("%v", err)
	}
	if m.GetGenerateName() == "" {
		return s.create(t, obj, o)
	}
	generated := m.GetName() == ""
	for attempt := 1; ; attempt++ {
		version, err := s.create(t, obj.DeepCopyObject(), o)
		if !apierrors.IsAlreadyExists(err) {
			return version, err
		}
		if !generated || attempt == generateAttempts {
			return nil, apierrors.NewGenerateNameConflict(t.Kind.Resource(), takenName(err), 1)
		}
	}
}

// takenName returns the name that an error says is taken.
func takenName(err error) string {
	status, _ := errors.AsType[*apierrors.StatusError](err)
	return status.ErrStatus.Details.Name
}

// create is Create with one attempt at a name.
func (s *Service) create(t Target, obj runtime.Object, o WriteOptions) (*object.Version, error) {
	obj, err := toHub(t.Kind, obj)
	if err != nil {
		return nil, BadRequest("%v", err)
	}
	t.Kind = t.Kind.Main()
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return nil, BadRequest("%v", err)
	}
	if err := s.admitCreate(t, accessor); err != nil {
		return nil, err
	}
	if svc, ok := obj.(*corev1.Service); ok && svc.Spec.ClusterIP != "" {
		s.allocating.Lock()
		defer s.allocating.Unlock()
	}
	var sent runtime.Object
	if t.Kind.Storage() == "nodes" { // which tell of themselves from the beginning
		sent = obj.DeepCopyObject()
	}
	prepareMeta(t, obj, accessor)
	// Fields are owned by who sends them or has them by default, not what the
	// server adds to them afterwards.
	if obj, err = s.trackCreate(t, obj, o); err != nil {
		return nil, err
	}
	if accessor, err = meta.Accessor(obj); err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	if sent != nil {
		keepPart(obj, sent, "status")
	}
	if err := s.prepareKind(t, obj); err != nil {
		return nil, err
	}
	if err := invalid(t, accessor.GetName(), validateCreate(t.Kind, obj, accessor)); err != nil {
		return nil, err
	}
	return s.commitNew(t, obj, o)
}

// commitNew puts a prepared object under a key that must be free.
func (s *Service) commitNew(t Target, obj runtime.Object, o WriteOptions) (*object.Version, error) {
	version := object.New(t.Kind, obj)
	t.Name = version.Meta().GetName()
	if err := encodable(version); err != nil {
		return nil, err
	}
	if o.DryRun {
		if s.store.Get(t.Kind.Storage(), t.Key()) != nil {
			return nil, s.alreadyExists(t)
		}
		return version, nil
	}
	err := s.commit(t, change{Resource: t.Kind.Storage(), Key: t.Key(), Value: version})
	if errors.Is(err, mvcc.ErrConflict) {
		return nil, s.alreadyExists(t)
	}
	if err != nil {
		return nil, err
	}
	return version, nil
}

// alreadyExists is the API's answer where a name is taken; it says so when the
// name will soon be free.
func (s *Service) alreadyExists(t Target) error {
	err := apierrors.NewAlreadyExists(t.Kind.Resource(), t.Name)
	record := s.store.Get(t.Kind.Storage(), t.Key())
	if record != nil && record.Value.Meta().GetDeletionTimestamp() != nil {
		err.ErrStatus.Message = "object is being deleted: " + err.ErrStatus.Message
	}
	return err
}

// admitCreate checks what does not depend on the kind: namespaces and versions.
func (s *Service) admitCreate(t Target, m metav1.Object) error {
	if err := matchNamespace(t, m); err != nil {
		return err
	}
	if m.GetResourceVersion() != "" {
		return errors.New("resourceVersion should not be set on objects to be created")
	}
	if !t.Kind.Namespaced {
		return nil
	}
	return s.admitNamespace(t, m.GetName())
}

// admitNamespace refuses writes to a namespace that is missing or going away.
func (s *Service) admitNamespace(t Target, name string) error {
	record := s.store.Get("namespaces", key.Key{Name: t.Namespace})
	if record == nil {
		return apierrors.NewNotFound(schemaNamespaces, t.Namespace)
	}
	if record.Value.Meta().GetDeletionTimestamp() == nil {
		return nil
	}
	err := apierrors.NewForbidden(t.Kind.Resource(), name, errors.New("unable to create new content in namespace "+t.Namespace+" because it is being terminated"))
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{
		Type: "NamespaceTerminating", Message: "namespace " + t.Namespace + " is being terminated", Field: "metadata.namespace",
	})
	return err
}

// matchNamespace sets the namespace of the request, or refuses another one.
func matchNamespace(t Target, m metav1.Object) error {
	want := t.Namespace
	if !t.Kind.Namespaced {
		want = ""
	}
	switch m.GetNamespace() {
	case want:
	case "":
		m.SetNamespace(want)
	default:
		return BadRequest("the namespace of the provided object does not match the namespace sent on the request")
	}
	return nil
}

// generatedLength is how much of generateName is kept, so that the name with
// its suffix of five characters fits a label.
const generatedLength = 58

// prepareMeta gives a new object its identity and its defaults.
func prepareMeta(t Target, obj runtime.Object, m metav1.Object) {
	m.SetUID(uuid.NewUUID())
	m.SetCreationTimestamp(metav1.Time{Time: time.Now().UTC().Truncate(time.Second)})
	m.SetDeletionTimestamp(nil)
	m.SetDeletionGracePeriodSeconds(nil)
	m.SetSelfLink("")
	if base := m.GetGenerateName(); base != "" && m.GetName() == "" {
		m.SetName(base[:min(len(base), generatedLength)] + utilrand.String(5))
	}
	if t.Kind.Generation {
		m.SetGeneration(1)
	}
	if t.Kind.Status {
		clearStatus(obj)
	}
	if t.Kind.Unstructured() { // of which the defaults are those of what it says it is
		obj.GetObjectKind().SetGroupVersionKind(t.Kind.GVK)
	}
	applyDefaults(obj)
}
