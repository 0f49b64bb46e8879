package story

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/gocampus/hark/harktest/internal/kind"
	"github.com/gocampus/hark/harktest/internal/service"
	"github.com/gocampus/hark/key"
)

// noteOwners keeps the index of owned objects and wakes those whom an event of
// an object concerns: its owners, and after its deletion what it owned.
func (s *Story) noteOwners(it item, e service.Event) {
	m := e.Version.Meta()
	for _, ref := range m.GetOwnerReferences() {
		if e.Type == watch.Deleted {
			delete(s.owned[ref.UID], it)
		} else {
			if s.owned[ref.UID] == nil {
				s.owned[ref.UID] = map[item]struct{}{}
			}
			s.owned[ref.UID][it] = struct{}{}
		}
		if owner := s.ownerKind(ref); owner != nil {
			s.agenda.add(item{owner, ownerKey(owner, it, ref)}, time.Now())
		}
	}
	if e.Type == watch.Deleted {
		for dependent := range s.owned[m.GetUID()] {
			s.agenda.add(dependent, time.Now())
		}
		delete(s.pods, m.GetUID())
	}
}

func (s *Story) ownerKind(ref metav1.OwnerReference) *kind.Kind {
	k := s.service.Kinds().ByKind(schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind))
	if k == nil {
		return nil
	}
	return k.Main()
}

func ownerKey(owner *kind.Kind, it item, ref metav1.OwnerReference) key.Key {
	if owner.Namespaced {
		return key.Key{Namespace: it.key.Namespace, Name: ref.Name}
	}
	return key.Key{Name: ref.Name}
}

// collect does the garbage collector's part for an object: it deletes one whose
// owners are all gone, and carries out foreground and orphaning deletions. It
// returns true when there is nothing else to do about the object.
func (s *Story) collect(it item) bool {
	version, err := s.service.Get(it.target())
	if err != nil {
		return true
	}
	m := version.Meta()
	if m.GetDeletionTimestamp() != nil {
		switch finalizers := m.GetFinalizers(); {
		case slices.Contains(finalizers, metav1.FinalizerOrphanDependents):
			s.orphan(m)
			s.removeFinalizer(it, metav1.FinalizerOrphanDependents)
		case slices.Contains(finalizers, metav1.FinalizerDeleteDependents):
			s.deleteDependents(it, m)
		}
		return false
	}
	if s.ownerless(it, m) {
		uid := m.GetUID()
		// An error means that it is gone or was created anew.
		_, _, _ = s.service.Delete(it.target(), metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}}, false)
	}
	return false
}

// ownerless tells whether an object has owners and none of them lives.
func (s *Story) ownerless(it item, m metav1.Object) bool {
	refs := m.GetOwnerReferences()
	return len(refs) > 0 && !slices.ContainsFunc(refs, func(ref metav1.OwnerReference) bool {
		owner := s.ownerKind(ref)
		if owner == nil {
			return true // of a kind that is not served: who knows
		}
		version, err := s.service.Get(item{owner, ownerKey(owner, it, ref)}.target())
		return err == nil && version.Meta().GetUID() == ref.UID
	})
}

// deleteDependents is a deletion in the foreground: the owner goes last.
func (s *Story) deleteDependents(it item, m metav1.Object) {
	live := 0
	for dependent := range s.owned[m.GetUID()] {
		version, err := s.service.Get(dependent.target())
		if err != nil {
			continue
		}
		live++
		if version.Meta().GetDeletionTimestamp() == nil {
			policy := metav1.DeletePropagationForeground
			_, _, _ = s.service.Delete(dependent.target(), metav1.DeleteOptions{PropagationPolicy: &policy}, false)
		}
	}
	if live == 0 {
		s.removeFinalizer(it, metav1.FinalizerDeleteDependents)
	}
}

// orphan makes what an object owns independent of it.
func (s *Story) orphan(m metav1.Object) {
	uid := m.GetUID()
	for dependent := range s.owned[uid] {
		s.edit(dependent, func(object metav1.Object) {
			object.SetOwnerReferences(slices.DeleteFunc(object.GetOwnerReferences(), func(ref metav1.OwnerReference) bool { return ref.UID == uid }))
		})
	}
	delete(s.owned, uid)
}

func (s *Story) removeFinalizer(it item, finalizer string) {
	s.edit(it, func(object metav1.Object) {
		object.SetFinalizers(slices.DeleteFunc(object.GetFinalizers(), func(f string) bool { return f == finalizer }))
	})
}

// edit changes the metadata of an object; one that is gone is left alone.
func (s *Story) edit(it item, change func(metav1.Object)) {
	_, _ = s.service.Update(it.target(), func(current runtime.Object) (runtime.Object, error) {
		m, err := meta.Accessor(current)
		if err == nil {
			change(m)
		}
		return current, err
	}, s.write())
}
