package service

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/validation/path"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/gocampus/hark/harktest/internal/kind"
	"github.com/gocampus/hark/harktest/internal/mvcc"
	"github.com/gocampus/hark/harktest/internal/object"
	"github.com/gocampus/hark/key"
)

// CreateNamespaces creates the namespaces of these names.
func (s *Service) CreateNamespaces(names ...string) error {
	k := s.kinds.ByResource(corev1.SchemeGroupVersion.WithResource("namespaces"))
	for _, name := range names {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if _, err := s.Create(Target{Kind: k, Name: name}, namespace, WriteOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// Load stores an object as it is; only defaults and
// what every stored object has are filled in. A namespace may exist, since the
// server or an object before it made it: it is replaced.
func (s *Service) Load(t Target, obj runtime.Object) error {
	if err := object.CheckMeta(obj); err != nil {
		return err
	}
	obj, err := toHub(t.Kind, obj)
	if err != nil {
		return err
	}
	t.Kind = t.Kind.Main()
	m, err := meta.Accessor(obj)
	if err != nil {
		return err
	}
	if m.GetName() == "" {
		return errors.New("metadata.name is required")
	}
	if wrong := path.IsValidPathSegmentName(m.GetName()); len(wrong) > 0 {
		return fmt.Errorf("metadata.name: %q %s", m.GetName(), strings.Join(wrong, ", "))
	}
	if t.Kind.Namespaced {
		m.SetNamespace(t.Namespace)
		if s.store.Get("namespaces", key.Key{Name: t.Namespace}) == nil {
			if err := s.CreateNamespaces(t.Namespace); err != nil && !apierrors.IsAlreadyExists(err) {
				return err
			}
		}
	}
	complete(t.Kind, m, obj)
	version := object.New(t.Kind, obj)
	version.Packable()
	c := change{Resource: t.Kind.Storage(), Key: t.Key(), Value: version}
	if _, ok := obj.(*corev1.Namespace); ok {
		if there := s.store.Get(c.Resource, c.Key); there != nil {
			c.Expect = there.Version
		}
	}
	if err = s.commit(t, c); err != nil {
		if errors.Is(err, mvcc.ErrConflict) {
			return apierrors.NewAlreadyExists(t.Kind.Resource(), m.GetName())
		}
		return err
	}
	version.Pack()
	return nil
}

// complete fills in what every stored object has.
func complete(k *kind.Kind, m metav1.Object, obj runtime.Object) {
	if m.GetUID() == "" {
		m.SetUID(uuid.NewUUID())
	}
	if created := m.GetCreationTimestamp(); created.IsZero() {
		m.SetCreationTimestamp(metav1.Time{Time: time.Now().UTC().Truncate(time.Second)})
	}
	if k.Generation && m.GetGeneration() == 0 {
		m.SetGeneration(1)
	}
	if pod, ok := obj.(*corev1.Pod); ok {
		pod.Status.Phase = cmp.Or(pod.Status.Phase, corev1.PodPending)
	}
	applyDefaults(obj)
}

// Touch stores a new version of an object that differs by its version alone.
func (s *Service) Touch(t Target) error {
	t.Kind = t.Kind.Main()
	for {
		record := s.store.Get(t.Kind.Storage(), t.Key())
		if record == nil {
			return t.notFound()
		}
		_, err := s.store.Commit(mvcc.Change[*object.Version]{
			Resource: t.Kind.Storage(), Key: t.Key(), Expect: record.Version, Value: record.Value.Touched(),
		})
		if !errors.Is(err, mvcc.ErrConflict) {
			return err
		}
	}
}
