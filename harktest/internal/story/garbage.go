package story

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/gocampus/hark/harktest/internal/kind"
	"github.com/gocampus/hark/harktest/internal/service"
	"github.com/gocampus/hark/key"
)

// noteOwners keeps the index of owned objects and wakes those whom an event of
// an object concerns: its owners, past and present, and after its deletion what it owned.
func (s *Story) noteOwners(it item, e service.Event) {
	m := e.Version.Meta()
	for _, ref := range s.refs[it] {
		delete(s.owned[ref.UID], it)
		s.wakeOwner(it, ref)
	}
	delete(s.refs, it)
	if e.Type == watch.Deleted {
		s.wakeDependents(m.GetUID())
		delete(s.pods, m.GetUID())
		return
	}
	refs := m.GetOwnerReferences()
	if len(refs) > 0 {
		s.refs[it] = refs
	}
	for _, ref := range refs {
		if s.owned[ref.UID] == nil {
			s.owned[ref.UID] = map[item]struct{}{}
		}
		s.owned[ref.UID][it] = struct{}{}
		s.wakeOwner(it, ref)
	}
}

func (s *Story) wakeOwner(it item, ref metav1.OwnerReference) {
	if owner := s.ownerKind(ref); owner != nil {
		s.agenda.add(item{owner, ownerKey(owner, it, ref)}, time.Now())
	}
}

func (s *Story) wakeDependents(owner types.UID) {
	for dependent := range s.owned[owner] {
		s.agenda.add(dependent, time.Now())
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
// owners are gone or waiting for it to go, and carries out foreground and orphaning
// deletions. It returns true when there is nothing else to do about the object.
func (s *Story) collect(it item) bool {
	version, err := s.service.Get(it.target())
	if err != nil {
		return true
	}
	m := version.Meta()
	switch {
	case m.GetDeletionTimestamp() == nil:
		s.collectDependent(it, m)
	case slices.Contains(m.GetFinalizers(), metav1.FinalizerOrphanDependents):
		s.orphan(m)
		s.removeFinalizer(it, metav1.FinalizerOrphanDependents)
	case deletesDependents(m):
		s.wakeDependents(m.GetUID())
		if !s.blocked(m.GetUID()) {
			s.removeFinalizer(it, metav1.FinalizerDeleteDependents)
		}
	}
	return false
}

// deletesDependents tells whether an object is being deleted in the foreground: it
// goes after those that it owns.
func deletesDependents(m metav1.Object) bool {
	return m.GetDeletionTimestamp() != nil && slices.Contains(m.GetFinalizers(), metav1.FinalizerDeleteDependents)
}

// blocked tells whether an object that an owner waits for is left. Like the real
// collector it knows no end for an object that blocks itself, and for a ring of which
// all are deleted in the foreground by others.
func (s *Story) blocked(owner types.UID) bool {
	for dependent := range s.owned[owner] {
		version, err := s.service.Get(dependent.target())
		if err != nil {
			continue
		}
		if slices.ContainsFunc(version.Meta().GetOwnerReferences(), func(ref metav1.OwnerReference) bool { return ref.UID == owner && blocks(ref) }) {
			return true
		}
	}
	return false
}

func blocks(ref metav1.OwnerReference) bool {
	return ref.BlockOwnerDeletion != nil && *ref.BlockOwnerDeletion
}

// collectDependent does what an object's owners ask for. One that lives keeps the
// object, which lets go of the others. Otherwise it is deleted: with what it owns
// when an owner waits for it, and by itself when all are gone.
func (s *Story) collectDependent(it item, m metav1.Object) {
	refs := m.GetOwnerReferences()
	if len(refs) == 0 {
		return
	}
	living, waiting := s.owners(it, refs)
	uid := m.GetUID()
	options := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}}
	switch {
	case len(living) == len(refs):
		return
	case len(living) > 0:
		s.edit(it, func(object metav1.Object) { object.SetOwnerReferences(living) })
		return
	case waiting && len(s.owned[uid]) > 0:
		if s.closesRing(uid) && slices.ContainsFunc(refs, blocks) {
			s.unblock(it) // its event brings us here again
			return
		}
		options.PropagationPolicy = new(metav1.DeletePropagationForeground)
	}
	// An error means that it is gone or was created anew.
	_, _, _ = s.service.Delete(it.target(), options, false)
}

// owners returns the references to owners that live, and whether one is left that
// waits for what it owns. An owner of a kind that is not served lives: who knows.
func (s *Story) owners(it item, refs []metav1.OwnerReference) (living []metav1.OwnerReference, waiting bool) {
	for _, ref := range refs {
		owner := s.ownerKind(ref)
		if owner == nil {
			living = append(living, ref)
			continue
		}
		version, err := s.service.Get(item{owner, ownerKey(owner, it, ref)}.target())
		switch {
		case err != nil || version.Meta().GetUID() != ref.UID:
		case deletesDependents(version.Meta()):
			waiting = true
		default:
			living = append(living, ref)
		}
	}
	return living, waiting
}

// closesRing tells whether something that an object owns waits itself for what it
// owns: perhaps for the object.
func (s *Story) closesRing(uid types.UID) bool {
	for dependent := range s.owned[uid] {
		if version, err := s.service.Get(dependent.target()); err == nil && deletesDependents(version.Meta()) {
			return true
		}
	}
	return false
}

// unblock lets an object's owners go before it, which breaks a ring.
func (s *Story) unblock(it item) {
	s.edit(it, func(object metav1.Object) {
		refs := object.GetOwnerReferences()
		for i := range refs {
			refs[i].BlockOwnerDeletion = new(false)
		}
		object.SetOwnerReferences(refs)
	})
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
