package service

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
		version, gone, err = s.delete(t, record, o, dryRun)
		if !errors.Is(err, mvcc.ErrConflict) {
			return version, gone, err
		}
	}
}

func (s *Service) delete(t Target, record *Record, o metav1.DeleteOptions, dryRun bool) (*object.Version, bool, error) {
	t.Kind = t.Kind.Main()
	old := record.Value
	if err := deletePrecondition(t, old.Meta(), o.Preconditions); err != nil {
		return nil, false, err
	}
	next := object.New(t.Kind, old.Copy())
	m := next.Meta()
	m.SetFinalizers(propagationFinalizers(m, o))
	if grace := gracePeriod(next.Object(), m, o); grace > 0 {
		markGraceful(m, grace)
	} else if len(m.GetFinalizers()) > 0 || holdsContent(next.Object()) {
		markDeleting(next.Object(), m)
	} else {
		version, err := s.remove(t, record, next, dryRun)
		return version, true, err
	}
	if same(old, next) {
		return old, false, nil
	}
	version, err := s.replace(t, record, next, dryRun)
	return version, false, err
}

// remove deletes a record and returns answer. The event carries the state that was
// stored, not the one that the deleting request made of it, as a real server's does.
func (s *Service) remove(t Target, record *Record, answer *object.Version, dryRun bool) (*object.Version, error) {
	if dryRun {
		return answer, nil
	}
	last := object.New(t.Kind, record.Value.Copy())
	_, err := s.store.Commit(mvcc.Change[*object.Version]{
		Resource: t.Kind.Storage(), Key: t.Key(), Expect: record.Version, Value: last, Delete: true,
	})
	if err != nil {
		return nil, err
	}
	s.afterStore(last)
	return answer, nil
}

func deletePrecondition(t Target, m metav1.Object, p *metav1.Preconditions) error {
	if p == nil {
		return nil
	}
	if p.UID != nil && *p.UID != m.GetUID() {
		return t.conflict(fmt.Errorf("the UID in the precondition (%s) does not match the UID in record (%s). The object might have been deleted and then recreated", *p.UID, m.GetUID()))
	}
	if p.ResourceVersion != nil && *p.ResourceVersion != m.GetResourceVersion() {
		return t.conflict(fmt.Errorf("the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s). The object might have been modified", *p.ResourceVersion, m.GetResourceVersion()))
	}
	return nil
}

// gracePeriod returns for how many seconds a deletion lets the object live on:
// only pods that run on a node have one.
func gracePeriod(obj runtime.Object, m metav1.Object, o metav1.DeleteOptions) int64 {
	pod, ok := obj.(*corev1.Pod)
	if !ok || pod.Spec.NodeName == "" || pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded {
		return 0
	}
	grace := int64(corev1.DefaultTerminationGracePeriodSeconds)
	if pod.Spec.TerminationGracePeriodSeconds != nil {
		grace = *pod.Spec.TerminationGracePeriodSeconds
	}
	if o.GracePeriodSeconds != nil {
		grace = *o.GracePeriodSeconds
	}
	if grace < 0 {
		grace = 1
	}
	if m.GetDeletionTimestamp() == nil {
		return grace
	}
	return shortened(m, o.GracePeriodSeconds)
}

// shortened returns the grace period of an object that is being deleted
// already: another deletion can only make it shorter.
func shortened(m metav1.Object, wish *int64) int64 {
	current := int64(0)
	if m.GetDeletionGracePeriodSeconds() != nil {
		current = *m.GetDeletionGracePeriodSeconds()
	}
	if wish == nil || *wish >= current {
		return current
	}
	if *wish < 0 {
		return min(1, current)
	}
	return *wish
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
	next := object.New(t.Kind, record.Value.Copy())
	namespace := next.Object().(*corev1.Namespace)
	namespace.Spec.Finalizers = slices.Clone(wanted.Spec.Finalizers)
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
	list.ResourceVersion = strconv.FormatUint(s.store.Version(), 10)
	return list, nil
}

// Evict deletes a pod as its eviction asks.
func (s *Service) Evict(t Target, o metav1.DeleteOptions, dryRun bool) error {
	_, _, err := s.Delete(t, o, dryRun)
	return err
}
