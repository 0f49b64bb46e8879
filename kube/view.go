package kube

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"weak"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gocampus/hark/wire"
)

// View is As for those who only read: who asks for one version of an object as
// one type gets the same result as all others who hold it, decoded once. It must
// not be changed, nor anything that can be reached from it; who wants to change
// something makes a DeepCopy or asks As.
//
// Nothing is kept for View: a result that nobody holds any more goes with the
// next garbage collection, and the next View decodes again. It does not keep
// obj alive, but its strings may be parts of obj's bytes, as those of As. Two versions
// of an object, and the same one read twice from the network, have results of their
// own. An error is not remembered.
//
// It is safe for concurrent use. Of several who ask at the same time more than
// one may decode, and all get the result of one.
func View[T any](obj *wire.Object) (*T, error) {
	return view[T](obj, schema.GroupVersionKind{})
}

// ViewOf is View of an object of this kind, for an unstructured.Unstructured and
// the other types that Kind.Decode takes.
func ViewOf[T any](kind Kind, obj *wire.Object) (*T, error) { return view[T](obj, kind.GVK) }

// views are the results that are alive, by object: its weak pointer is no other
// object's, ever. The values are *viewSet.
var views sync.Map

// viewSet is what one object was decoded into, at least once. It does not
// change; another takes its place.
type viewSet []*viewed

// viewed is one result.
type viewed struct {
	gvk   schema.GroupVersionKind // that was asked for
	value any                     // a weak.Pointer[T], which says the type
}

// viewID is what a result is to be forgotten by.
type viewID struct {
	object weak.Pointer[wire.Object]
	viewed *viewed
}

func view[T any](obj *wire.Object, gvk schema.GroupVersionKind) (*T, error) {
	if obj == nil {
		return nil, errors.New("view: there is no object")
	}
	object := weak.Make(obj)
	if result := findView[T](loadViews(object), gvk); result != nil {
		return result, nil
	}
	result := new(T)
	if err := decode(obj, gvk, result); err != nil {
		return nil, err
	}
	return shareView(object, gvk, result), nil
}

func loadViews(object weak.Pointer[wire.Object]) *viewSet {
	set, _ := views.Load(object)
	found, _ := set.(*viewSet)
	return found
}

// findView returns the result of this type and kind, nil when none is alive.
func findView[T any](set *viewSet, gvk schema.GroupVersionKind) *T {
	if set == nil {
		return nil
	}
	for _, v := range *set {
		if value, ok := v.value.(weak.Pointer[T]); ok && v.gvk == gvk {
			if result := value.Value(); result != nil {
				return result
			}
		}
	}
	return nil
}

// shareView makes result the one that all get, unless another was first, and
// returns that which they get.
func shareView[T any](object weak.Pointer[wire.Object], gvk schema.GroupVersionKind, result *T) *T {
	v := &viewed{gvk: gvk, value: weak.Make(result)}
	for {
		old := loadViews(object)
		if first := findView[T](old, gvk); first != nil {
			return first
		}
		set := viewSet{v}
		if old != nil {
			set = append(set, *old...)
		}
		if replaceViews(object, old, set) {
			runtime.AddCleanup(result, forgetView, viewID{object, v})
			return result
		}
	}
}

// forgetView drops a result that was collected.
func forgetView(id viewID) {
	for {
		old := loadViews(id.object)
		set := slices.DeleteFunc(slices.Clone(*old), func(v *viewed) bool { return v == id.viewed })
		if replaceViews(id.object, old, set) {
			return
		}
	}
}

// replaceViews puts set in the place of old, nil for none, and tells whether
// old was still there.
func replaceViews(object weak.Pointer[wire.Object], old *viewSet, set viewSet) bool {
	switch {
	case old == nil:
		_, taken := views.LoadOrStore(object, &set)
		return !taken
	case len(set) == 0:
		return views.CompareAndDelete(object, old)
	}
	return views.CompareAndSwap(object, old, &set)
}
