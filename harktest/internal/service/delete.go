package service

import (
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gocampus/hark/harktest/internal/mvcc"
	"github.com/gocampus/hark/harktest/internal/object"
)

// immortal are the namespaces that cannot be deleted.
var immortal = []string{metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic}

var schemaNamespaces = schema.GroupResource{Resource: "namespaces"}

// Delete removes an object, or marks it as being deleted while finalizers or
// its grace period hold it. gone tells which; the version is the object's last one.
func (s *Service) Delete(t Target, o metav1.DeleteOptions, dryRun bool) (version *object.Version, gone bool, err error) {
	return s.deleteBy(t, o, func(t Target, record *Record) (*object.Version, bool, error) {
		return s.delete(t, record, o, deletion{dryRun: dryRun})
	})
}

// Remove is Delete, except that what is gone at once was not marked before.
func (s *Service) Remove(t Target, o metav1.DeleteOptions) error {
	_, _, err := s.deleteBy(t, o, func(t Target, record *Record) (*object.Version, bool, error) {
		return s.delete(t, record, o, deletion{oneStep: true})
	})
	return err
}

// deletion says how an object is deleted.
type deletion struct {
	dryRun  bool // compute the answer only
	oneStep bool // do not mark what is removed at once
}

// deleteBy deletes by try until nobody has changed the object meanwhile.
func (s *Service) deleteBy(t Target, o metav1.DeleteOptions, try func(Target, *Record) (*object.Version, bool, error)) (version *object.Version, gone bool, err error) {
	if errs := metavalidation.ValidateDeleteOptions(&o); len(errs) > 0 {
		return nil, false, apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: "DeleteOptions"}, "", errs)
	}
	if t.Kind.Storage() == "namespaces" && slices.Contains(immortal, t.Name) {
		return nil, false, apierrors.NewForbidden(schemaNamespaces, t.Name, errors.New("this namespace may not be deleted"))
	}
	for {
		record := s.store.Get(t.Kind.Storage(), t.Key())
		if record == nil {
			return nil, false, t.notFound()
		}
		version, gone, err = try(t, record)
		if !errors.Is(err, mvcc.ErrConflict) {
			return version, gone, err
		}
	}
}

func (s *Service) delete(t Target, record *Record, o metav1.DeleteOptions, d deletion) (*object.Version, bool, error) {
	t.Kind = t.Kind.Main()
	old := record.Value
	if err := deletePrecondition(t, old.Meta(), o.Preconditions); err != nil {
		return nil, false, err
	}
	next := object.New(t.Kind, old.Copy())
	m := next.Meta()
	if definition, ok := next.Object().(*unstructured.Unstructured); ok && t.Kind.Storage() == crdStorage && m.GetDeletionTimestamp() == nil {
		if err := markDefinition(definition); err != nil {
			return nil, false, err
		}
		version, err := s.replace(t, record, next, d.dryRun)
		return version, false, err
	}
	m.SetFinalizers(propagationFinalizers(m, o))
	held := len(m.GetFinalizers()) > 0 || holdsContent(next.Object())
	graceful, grace := gracePeriod(next.Object(), m, o)
	gone := grace == 0 && !held
	graceful = graceful && !(gone && d.oneStep)
	switch {
	case graceful:
		markGraceful(m, grace)
	case held:
		markDeleting(next.Object(), m)
	default:
		version, err := s.remove(t, record, next, d.dryRun)
		return version, true, err
	}
	if !gone && same(old, next) {
		return old, false, nil
	}
	version, err := s.replace(t, record, next, d.dryRun)
	if err != nil || !gone || d.dryRun {
		return version, gone, err
	}
	// The API marks a pod before it removes it, also when nothing is left to wait for.
	return s.removeMarked(t, version)
}

// removeMarked removes what has just been marked; mvcc.ErrConflict asks for another try.
func (s *Service) removeMarked(t Target, marked *object.Version) (*object.Version, bool, error) {
	record := s.store.Get(t.Kind.Storage(), t.Key())
	if record == nil || record.Value.Meta().GetUID() != marked.Meta().GetUID() {
		return marked, true, nil // somebody else was faster
	}
	version, err := s.removed(t, record)
	return version, true, err
}

// remove deletes a record and returns answer. The event carries the state that was
// stored, not the one that the deleting request made of it, as a real server's does.
func (s *Service) remove(t Target, record *Record, answer *object.Version, dryRun bool) (*object.Version, error) {
	if dryRun {
		return answer, nil
	}
	_, err := s.removed(t, record)
	return answer, err
}

// removed deletes a record and returns its last version, which is the deletion's.
func (s *Service) removed(t Target, record *Record) (*object.Version, error) {
	last := object.New(t.Kind, record.Value.Copy())
	err := s.commit(t, change{Resource: t.Kind.Storage(), Key: t.Key(), Expect: record.Version, Value: last, Delete: true})
	if err != nil {
		return nil, err
	}
	return last, nil
}

func deletePrecondition(t Target, m metav1.Object, p *metav1.Preconditions) error {
	if p == nil {
		return nil
	}
	if p.UID != nil && *p.UID != m.GetUID() {
		return t.kindConflict(fmt.Errorf("the UID in the precondition (%s) does not match the UID in record (%s). The object might have been deleted and then recreated", *p.UID, m.GetUID()))
	}
	if p.ResourceVersion != nil && *p.ResourceVersion != m.GetResourceVersion() {
		return t.kindConflict(fmt.Errorf("the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s). The object might have been modified", *p.ResourceVersion, m.GetResourceVersion()))
	}
	return nil
}

// gracePeriod returns whether a deletion is one that gives grace, as those of pods
// are, and for how many seconds the object then lives on: for none unless the pod
// runs on a node.
func gracePeriod(obj runtime.Object, m metav1.Object, o metav1.DeleteOptions) (graceful bool, seconds int64) {
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		return false, 0
	}
	if m.GetDeletionTimestamp() != nil {
		return shortened(m, o.GracePeriodSeconds)
	}
	switch {
	case pod.Spec.NodeName == "" || pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded:
		seconds = 0
	case o.GracePeriodSeconds != nil:
		seconds = *o.GracePeriodSeconds
	case pod.Spec.TerminationGracePeriodSeconds != nil:
		seconds = *pod.Spec.TerminationGracePeriodSeconds
	default:
		seconds = corev1.DefaultTerminationGracePeriodSeconds
	}
	if seconds < 0 {
		seconds = 1
	}
	return true, seconds
}

// shortened returns the grace period of an object that is being deleted
// already: another deletion can only make it shorter.
func shortened(m metav1.Object, wish *int64) (graceful bool, seconds int64) {
	current := int64(0)
	if m.GetDeletionGracePeriodSeconds() != nil {
		current = *m.GetDeletionGracePeriodSeconds()
	}
	switch {
	case current <= 0:
		return false, 0
	case wish == nil || *wish >= current:
		return true, current
	case *wish < 0:
		return true, 1
	}
	return true, *wish
}

func markGraceful(m metav1.Object, grace int64) {
	requested := time.Now()
	if at := m.GetDeletionTimestamp(); at != nil {
		if current := m.GetDeletionGracePeriodSeconds(); current != nil {
			requested = at.Add(-time.Duration(*current) * time.Second)
		}
	} else if m.GetGeneration() > 0 {
		m.SetGeneration(m.GetGeneration() + 1)
	}
	at := metav1.Time{Time: requested.Add(time.Duration(grace) * time.Second).UTC().Truncate(time.Second)}
	m.SetDeletionTimestamp(&at)
	m.SetDeletionGracePeriodSeconds(&grace)
}

func markDeleting(obj runtime.Object, m metav1.Object) {
	now := metav1.Time{Time: time.Now().UTC().Truncate(time.Second)}
	if m.GetDeletionTimestamp() == nil && m.GetGeneration() > 0 {
		m.SetGeneration(m.GetGeneration() + 1)
	}
	if at := m.GetDeletionTimestamp(); at == nil || at.After(now.Time) {
		m.SetDeletionTimestamp(&now)
	}
	if namespace, ok := obj.(*corev1.Namespace); ok {
		namespace.Status.Phase = corev1.NamespaceTerminating
		return
	}
	m.SetDeletionGracePeriodSeconds(new(int64))
}

// holdsContent tells whether an object waits for a controller that removes what is in it.
func holdsContent(obj runtime.Object) bool {
	namespace, ok := obj.(*corev1.Namespace)
	return ok && len(namespace.Spec.Finalizers) > 0
}

// propagationFinalizers returns the finalizers with those that the propagation
// policy asks for: a garbage collector removes them again.
func propagationFinalizers(m metav1.Object, o metav1.DeleteOptions) []string {
	var want string
	switch {
	case o.PropagationPolicy != nil && *o.PropagationPolicy == metav1.DeletePropagationForeground:
		want = metav1.FinalizerDeleteDependents
	case o.PropagationPolicy != nil && *o.PropagationPolicy == metav1.DeletePropagationOrphan,
		o.PropagationPolicy == nil && o.OrphanDependents != nil && *o.OrphanDependents: // still read by the API
		want = metav1.FinalizerOrphanDependents
	case o.PropagationPolicy == nil && o.OrphanDependents == nil: // still read by the API
		return m.GetFinalizers()
	}
	finalizers := slices.DeleteFunc(slices.Clone(m.GetFinalizers()), func(f string) bool {
		return f == metav1.FinalizerDeleteDependents || f == metav1.FinalizerOrphanDependents
	})
	if want != "" {
		finalizers = append(finalizers, want)
	}
	return finalizers
}

// FinalizeNamespace replaces a namespace's spec.finalizers; one that is being deleted and
// has none left is removed.
func (s *Service) FinalizeNamespace(t Target, obj runtime.Object, o WriteOptions) (*object.Version, error) {
	wanted, ok := obj.(*corev1.Namespace)
	if !ok {
		return nil, BadRequest("a Namespace is needed")
	}
	t.Subresource = "finalize"
	for {
		record := s.store.Get("namespaces", t.Key())
		if record == nil {
			return nil, t.notFound()
		}
		version, err := s.finalizeNamespace(t, record, wanted, o)
		if !errors.Is(err, mvcc.ErrConflict) {
			return version, err
		}
	}
}

func (s *Service) finalizeNamespace(t Target, record *Record, wanted *corev1.Namespace, o WriteOptions) (*object.Version, error) {
	if err := precondition(t, wanted, record.Value.Meta()); err != nil {
		return nil, err
	}
	old := record.Value
	namespace := wanted.DeepCopy()
	namespace.Status = old.Copy().(*corev1.Namespace).Status
	applyDefaults(namespace)
	namespace.ResourceVersion = old.Meta().GetResourceVersion()
	keepSystemMetadata(namespace, old.Meta())
	tracked, err := s.trackUpdate(t, old, namespace, o)
	if err != nil {
		return nil, err
	}
	next := object.New(t.Kind, tracked)
	namespace = tracked.(*corev1.Namespace)
	if namespace.DeletionTimestamp != nil && len(namespace.Spec.Finalizers)+len(namespace.Finalizers) == 0 {
		return s.remove(t, record, next, o.DryRun)
	}
	return s.replace(t, record, next, o.DryRun)
}

// DeleteCollection deletes all objects that a list returns, and returns them.
func (s *Service) DeleteCollection(t Target, l ListOptions, o metav1.DeleteOptions, dryRun bool) (*List, error) {
	list, err := s.List(t, l)
	if err != nil {
		return nil, err
	}
	for _, record := range list.Records {
		t.Namespace, t.Name = record.Key.Namespace, record.Key.Name
		if _, _, err := s.Delete(t, o, dryRun); err != nil && !apierrors.IsNotFound(err) {
			return nil, err
		}
	}
	return list, nil
}

// Evict deletes a pod as its eviction asks.
func (s *Service) Evict(t Target, o metav1.DeleteOptions, dryRun bool) error {
	_, _, err := s.Delete(t, o, dryRun)
	return err
}
