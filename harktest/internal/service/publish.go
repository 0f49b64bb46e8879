package service

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gocampus/hark/harktest/internal/kind"
	"github.com/gocampus/hark/harktest/internal/mvcc"
	"github.com/gocampus/hark/harktest/internal/object"
	"github.com/gocampus/hark/key"
)

// cleanupFinalizer holds a definition that is being deleted while it has objects.
const cleanupFinalizer = "customresourcecleanup.apiextensions.k8s.io"

// served is what is served of one definition.
type served struct {
	uid         types.UID
	generation  int64
	names       definitionNames
	kinds       []*kind.Kind
	terminating bool // no more objects may be created
	purging     bool // somebody is deleting the objects
}

type change = mvcc.Change[*object.Version]

// commit makes a change and all that follows from it at once. A definition is stored
// together with coming to be served, or to accept no more objects: who hears of it finds
// it so. An object of a defined kind is created only while its definition lets it be.
func (s *Service) commit(t Target, c change) error {
	switch {
	case c.Resource == crdStorage:
		if err := s.commitDefinition(c); err != nil {
			return err
		}
		s.settle(c.Key.Name)
		return nil
	case t.Kind.Definition != "" && c.Expect == 0:
		s.publishing.RLock()
		defer s.publishing.RUnlock()
		if err := s.admitObject(t); err != nil {
			return err
		}
	}
	if _, err := s.store.Commit(c); err != nil {
		return err
	}
	if c.Delete && t.Kind.Definition != "" {
		s.finalize(c.Resource) // whose name is the definition's
	}
	return nil
}

// admitObject refuses a new object whose definition is gone or going. s.publishing is held.
func (s *Service) admitObject(t Target) error {
	d := s.defined[t.Kind.Storage()]
	switch {
	case d == nil || d.uid != t.Kind.Definition:
		return genericStatus(http.StatusNotFound, "404 page not found")
	case d.terminating:
		return apierrors.NewForbidden(t.Kind.Resource(), t.Name, errors.New("create not allowed while custom resource definition is terminating"))
	}
	return nil
}

// commitDefinition stores a definition and serves what it defines.
func (s *Service) commitDefinition(c change) error {
	s.publishing.Lock()
	defer s.publishing.Unlock()
	if c.Delete {
		if _, err := s.store.Commit(c); err != nil {
			return err
		}
		return s.serve(c.Key.Name, nil)
	}
	d, err := s.withNames(c.Value)
	if err != nil {
		return err
	}
	if _, err := s.store.Commit(c); err != nil {
		return err
	}
	return s.serve(c.Key.Name, d)
}

// withNames gives a definition that is about to be stored the names that are free.
func (s *Service) withNames(v *object.Version) (*definition, error) {
	d, err := readDefinition(v.Object())
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(d.Spec.Versions, func(v definitionVersion) bool { return v.Storage }) {
		return nil, BadRequest("a definition needs a storage version")
	}
	if v.Meta().GetDeletionTimestamp() != nil {
		return d, nil
	}
	d.acceptNames(s.takenNames(d.Spec.Group, d.Metadata.Name))
	for _, k := range d.kinds() {
		if other := s.kinds.ByResource(k.GVR()); other != nil && other.Definition == "" {
			return nil, apierrors.NewForbidden(v.Kind().Resource(), d.Metadata.Name, errors.New(k.GVR().String()+" is served already"))
		}
	}
	return d, writeStatus(v.Object().(*unstructured.Unstructured), d.Status)
}

// serve brings the registry in line with a definition, or with its absence if it is
// nil. s.publishing is held for writing.
func (s *Service) serve(name string, d *definition) error {
	old := s.defined[name]
	if old == nil {
		old = &served{}
	}
	if d == nil {
		delete(s.defined, name)
		return s.kinds.Replace(old.kinds, nil)
	}
	next := &served{
		uid: d.Metadata.UID, generation: d.Metadata.Generation, names: d.Status.AcceptedNames, kinds: old.kinds,
		terminating: d.Metadata.DeletionTimestamp != nil, purging: old.purging,
	}
	s.defined[name] = next
	established := d.Status.is(conditionEstablished)
	if old.uid == next.uid && old.generation == next.generation && equality.Semantic.DeepEqual(old.names, next.names) && established == (len(old.kinds) > 0) {
		return nil // nothing of it that is served has changed
	}
	next.kinds = d.kinds()
	return s.kinds.Replace(old.kinds, next.kinds)
}

// Served returns the kind that is served under a group, version and plural, or nil.
func (s *Service) Served(gvr schema.GroupVersionResource) *kind.Kind {
	if k := s.kinds.ByResource(gvr); k != nil {
		return k
	}
	s.publishing.RLock() // perhaps it is about to be
	defer s.publishing.RUnlock()
	return s.kinds.ByResource(gvr)
}

// settle does what follows from a change of a definition: it goes when it is to go and
// has no objects, and others get the names that have become free.
func (s *Service) settle(name string) {
	s.finalize(name)
	_, group, _ := strings.Cut(name, ".") // its name is that of the resource
	for record := range s.store.Newest(crdStorage).All("", key.Key{}) {
		d, err := readDefinition(record.Value.Object())
		if err != nil || d.Spec.Group != group || d.Metadata.Name == name || d.Status.is(conditionNamesAccepted) || d.Metadata.DeletionTimestamp != nil {
			continue
		}
		s.editDefinition(d.Metadata.Name, func(u *unstructured.Unstructured) bool {
			// The names are given as the definition is stored.
			next, err := readDefinition(u)
			if err != nil {
				return false
			}
			before := next.Status.AcceptedNames
			s.publishing.RLock()
			next.acceptNames(s.takenNames(next.Spec.Group, next.Metadata.Name))
			s.publishing.RUnlock()
			return next.Status.is(conditionNamesAccepted) || !equality.Semantic.DeepEqual(before, next.Status.AcceptedNames)
		})
	}
}

// editDefinition changes a stored definition unless edit returns false. It removes one
// that is being deleted and has no finalizer left.
func (s *Service) editDefinition(name string, edit func(*unstructured.Unstructured) bool) {
	for {
		record := s.store.Get(crdStorage, key.Key{Name: name})
		if record == nil {
			return
		}
		u := record.Value.Copy().(*unstructured.Unstructured)
		if !edit(u) {
			return
		}
		t := Target{Kind: record.Value.Kind(), Name: name}
		version := object.New(t.Kind, u)
		var err error
		if finished(version.Meta()) {
			_, err = s.removed(t, record)
		} else {
			_, err = s.replace(t, record, version, false)
		}
		if !errors.Is(err, mvcc.ErrConflict) {
			return
		}
	}
}

// markDefinition begins the deletion of a definition.
func markDefinition(u *unstructured.Unstructured) error {
	now := metav1.Time{Time: time.Now().UTC().Truncate(time.Second)}
	u.SetDeletionTimestamp(&now)
	if finalizers := u.GetFinalizers(); !slices.Contains(finalizers, cleanupFinalizer) {
		u.SetFinalizers(append(finalizers, cleanupFinalizer))
	}
	return setTerminating(u, "InstanceDeletionPending", "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon")
}

func setTerminating(u *unstructured.Unstructured, reason, message string) error {
	d, err := readDefinition(u)
	if err != nil {
		return err
	}
	d.Status.set(definitionCondition{Type: conditionTerminating, Status: "True", Reason: reason, Message: message})
	return writeStatus(u, d.Status)
}

// finalize deletes the objects of a definition that is being deleted and, when they
// are all gone, lets the definition go. Whoever removes the last of them calls it.
func (s *Service) finalize(name string) {
	kinds, ok := s.beginPurge(name)
	if !ok {
		return
	}
	if len(kinds) > 0 {
		s.purge(kinds[0])
	}
	s.endPurge(name)
	// Looked at after endPurge: an object that goes from now on calls finalize again.
	empty := true
	for range s.store.Newest(name).All("", key.Key{}) {
		empty = false
		break
	}
	s.editDefinition(name, func(u *unstructured.Unstructured) bool {
		if u.GetDeletionTimestamp() == nil || !slices.Contains(u.GetFinalizers(), cleanupFinalizer) {
			return false
		}
		if empty || len(kinds) == 0 {
			u.SetFinalizers(slices.DeleteFunc(u.GetFinalizers(), func(f string) bool { return f == cleanupFinalizer }))
			return true
		}
		d, err := readDefinition(u)
		if err != nil || slices.ContainsFunc(d.Status.Conditions, func(c definitionCondition) bool { return c.Reason == "InstanceDeletionInProgress" }) {
			return false
		}
		return setTerminating(u, "InstanceDeletionInProgress", "CustomResource deletion is in progress") == nil
	})
}

// beginPurge returns the kinds of a definition whose objects are to be deleted; ok is
// false when there is none, or somebody is doing it already.
func (s *Service) beginPurge(name string) (kinds []*kind.Kind, ok bool) {
	s.publishing.Lock()
	defer s.publishing.Unlock()
	d := s.defined[name]
	if d == nil || !d.terminating || d.purging {
		return nil, false
	}
	d.purging = true
	return d.kinds, true
}

func (s *Service) endPurge(name string) {
	s.publishing.Lock()
	defer s.publishing.Unlock()
	if d := s.defined[name]; d != nil {
		d.purging = false
	}
}

// purge deletes all objects of a kind; their finalizers may keep them.
func (s *Service) purge(k *kind.Kind) {
	t := Target{Kind: k}
	for record := range s.store.Newest(k.Storage()).All("", key.Key{}) {
		t.Namespace, t.Name = record.Key.Namespace, record.Key.Name
		// Somebody else may have deleted it meanwhile, which is as good.
		_, _, _ = s.Delete(t, metav1.DeleteOptions{}, false)
	}
}
