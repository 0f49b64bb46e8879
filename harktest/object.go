package harktest

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gocampus/hark/harktest/internal/kind"
	"github.com/gocampus/hark/harktest/internal/object"
	"github.com/gocampus/hark/harktest/internal/service"
)

// Object is any API object: a generated type such as *corev1.Pod, a registered
// one, or *unstructured.Unstructured with apiVersion and kind set.
type Object interface {
	runtime.Object
	metav1.Object
}

// directManager owns the fields that direct access writes.
const directManager = "harktest"

// renewed is the copy of a version that gets another number.
func renewed(v *object.Version) *object.Version { return object.New(v.Kind(), v.Copy()) }

// access is what all methods of direct access have in common: find the target,
// do it, and write the answer over obj.
func (s *Server) access(ctx context.Context, obj Object, do func(service.Target) (*object.Version, error)) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	t, err := s.target(obj)
	if err != nil {
		return err
	}
	version, err := do(t)
	if err != nil {
		return err
	}
	return assign(obj, t.Kind, version)
}

// assign makes obj a copy of a version.
func assign(obj Object, k *kind.Kind, version *object.Version) error {
	answer, err := version.As(k)
	if err != nil {
		return err
	}
	answer = answer.DeepCopyObject()
	if u, ok := obj.(*unstructured.Unstructured); ok {
		return assignUnstructured(u, k, answer)
	}
	to, from := reflect.ValueOf(obj).Elem(), reflect.ValueOf(answer).Elem()
	if to.Type() != from.Type() {
		return fmt.Errorf("harktest: %T is not the type of %v, which is %T", obj, k.GVK, answer)
	}
	to.Set(from)
	return nil
}

func assignUnstructured(u *unstructured.Unstructured, k *kind.Kind, answer runtime.Object) error {
	if same, ok := answer.(*unstructured.Unstructured); ok {
		u.Object = same.Object
		return nil
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(answer)
	if err != nil {
		return err
	}
	u.Object = fields
	u.SetGroupVersionKind(k.GVK)
	return nil
}

// typed returns a copy of obj of the kind's own type.
func typed(k *kind.Kind, obj Object) (runtime.Object, error) {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok || k.Unstructured() {
		return obj.DeepCopyObject(), nil
	}
	out := k.New()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, out); err != nil {
		return nil, apierrors.NewBadRequest(misfit(k, u, err))
	}
	return out, nil
}

// misfit words why an object is none of its kind: as the decoder of JSON does, which
// names the field, other than the converter.
func misfit(k *kind.Kind, u *unstructured.Unstructured, err error) string {
	raw, encoding := json.Marshal(u.Object)
	if encoding != nil {
		return err.Error()
	}
	if decoding := json.Unmarshal(raw, k.New()); decoding != nil {
		return decoding.Error()
	}
	return err.Error()
}

// Create stores a new object, as a POST does, and writes the answer over obj. Its
// errors are those of the API, for apierrors.IsAlreadyExists and the like.
func (s *Server) Create(ctx context.Context, obj Object) error {
	return s.access(ctx, obj, func(t service.Target) (*object.Version, error) {
		created, err := typed(t.Kind, obj)
		if err != nil {
			return nil, err
		}
		return s.service.Create(t, created, service.WriteOptions{Manager: directManager})
	})
}

// Get reads the object that obj names by its type, namespace and name into obj.
func (s *Server) Get(ctx context.Context, obj Object) error {
	return s.access(ctx, obj, s.service.Get)
}

// Update replaces an object, as a PUT does, and writes the answer over obj. The
// resourceVersion, when obj has one, must be the newest.
func (s *Server) Update(ctx context.Context, obj Object) error {
	return s.update(ctx, obj, "")
}

// UpdateStatus replaces an object's status and writes the answer over obj.
func (s *Server) UpdateStatus(ctx context.Context, obj Object) error {
	return s.update(ctx, obj, "status")
}

func (s *Server) update(ctx context.Context, obj Object, subresource string) error {
	return s.access(ctx, obj, func(t service.Target) (*object.Version, error) {
		t.Subresource = subresource
		wanted, err := typed(t.Kind, obj)
		if err != nil {
			return nil, err
		}
		return s.service.Update(t, func(runtime.Object) (runtime.Object, error) {
			return wanted.DeepCopyObject(), nil
		}, service.WriteOptions{Manager: directManager})
	})
}

// Change reads the object that obj names, lets change edit it, and writes it back,
// again when somebody else was faster; obj holds the answer. change may therefore be
// called more than once. A conflict that nobody else made, since change set another
// UID or resourceVersion, is returned.
func (s *Server) Change(ctx context.Context, obj Object, change func()) error {
	return s.changed(ctx, obj, "", change)
}

// ChangeStatus is Change for the status.
func (s *Server) ChangeStatus(ctx context.Context, obj Object, change func()) error {
	return s.changed(ctx, obj, "status", change)
}

func (s *Server) changed(ctx context.Context, obj Object, subresource string, change func()) error {
	for {
		if err := s.Get(ctx, obj); err != nil {
			return err
		}
		t, err := s.target(obj)
		if err != nil {
			return err
		}
		read := obj.GetResourceVersion()
		change()
		if err := s.update(ctx, obj, subresource); !apierrors.IsConflict(err) || s.isAt(t, read) {
			return err
		}
	}
}

// isAt tells whether an object is still at a version.
func (s *Server) isAt(t service.Target, resourceVersion string) bool {
	version, err := s.service.Get(t)
	return err == nil && version.Meta().GetResourceVersion() == resourceVersion
}

// Patch changes the object that obj names by a JSON, merge, strategic merge or
// apply patch and writes the answer over obj.
func (s *Server) Patch(ctx context.Context, obj Object, patchType types.PatchType, patch []byte) error {
	return s.access(ctx, obj, func(t service.Target) (*object.Version, error) {
		o := service.WriteOptions{Manager: directManager}
		if patchType == types.ApplyYAMLPatchType {
			version, _, err := s.service.Apply(t, patch, o)
			return version, err
		}
		return s.service.Patch(t, service.Patch{Type: patchType, Data: patch}, o)
	})
}

// Delete deletes the object that obj names. Without options the defaults of the API
// apply: a pod on a node has its grace period. A pod that has none is gone in one
// step, a single event; when a client deletes it over the API, the pod is first
// marked, as a real server does it. It fails when there is more than one of options.
func (s *Server) Delete(ctx context.Context, obj Object, options ...metav1.DeleteOptions) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	t, err := s.target(obj)
	if err != nil {
		return err
	}
	switch len(options) {
	case 0:
		return s.service.Remove(t, metav1.DeleteOptions{})
	case 1:
		return s.service.Remove(t, options[0])
	}
	return fmt.Errorf("harktest: Delete: %d options; want at most one", len(options))
}

// Preload stores objects as they are, status included, without validation and
// faster than Create: for the state that a test or demonstration begins with.
// Names are required; missing namespaces are created, and a namespace that exists
// is replaced; defaults, UIDs, times, generations and a pod's phase are filled in
// where they are missing. It owns the objects from then on. It fails on the first
// object that exists already, whose kind is not known or not kept, or whose name
// cannot be part of a path.
func (s *Server) Preload(objects ...Object) error {
	for _, obj := range objects {
		if err := s.preload(obj); err != nil {
			return fmt.Errorf("harktest: %w", err)
		}
	}
	return nil
}

func (s *Server) preload(obj Object) error {
	t, err := s.find(obj)
	if err != nil {
		return err
	}
	loaded := runtime.Object(obj)
	if _, ok := obj.(*unstructured.Unstructured); ok {
		loaded, err = typed(t.Kind, obj)
	}
	if err == nil {
		err = s.service.Load(t, loaded)
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", t.Kind.GVK.Kind, t.Key(), err)
	}
	return nil
}

// Touch stores new versions of objects that differ from the old ones by their
// resourceVersion alone, at a small part of the cost of an update: to load a client
// under test with events. The objects are named by type, namespace and name, and are
// not changed.
func (s *Server) Touch(objects ...Object) error {
	for _, obj := range objects {
		t, err := s.target(obj)
		if err != nil {
			return err
		}
		if err := s.service.Touch(t); err != nil {
			return err
		}
	}
	return nil
}

// List returns the objects of a type, of a namespace or, for "", of all, in the
// order of the API: List[*corev1.Pod](server, "default").
func List[T Object](s *Server, namespace string) ([]T, error) {
	of := reflect.TypeFor[T]()
	if of.Kind() != reflect.Pointer {
		return nil, fmt.Errorf("harktest: List: %v is not a pointer to an object", of)
	}
	prototype := reflect.New(of.Elem()).Interface().(T) // of is a pointer, and this one
	k, err := s.kindOf(prototype)
	if err != nil {
		return nil, fmt.Errorf("harktest: %w", err)
	}
	list, err := s.service.List(service.Target{Kind: k, Namespace: namespace}, service.ListOptions{})
	if err != nil {
		return nil, err
	}
	result := make([]T, 0, len(list.Records))
	for _, record := range list.Records {
		obj, err := record.Value.As(k)
		if err != nil {
			return nil, err
		}
		result = append(result, obj.DeepCopyObject().(T))
	}
	return result, nil
}
