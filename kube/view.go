package kube

import (
	"errors"
	"runtime"
	"sync"
	"unsafe"
	"weak"

	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gocampus/hark/wire"
)

// View is As for those who only read: who asks for one version of an object as one
// type gets the same result as all others who hold it, decoded once. It must not be
// changed, nor anything that can be reached from it (resource.Quantity.AsDec changes
// its receiver); who wants to change something makes a DeepCopy or asks As.
//
// Results of objects in protobuf also share parts with each other: what has the same
// bytes in another version of the object, or in another object of the same
// controlling owner (or of none, as this one), is not decoded again. For that View
// keeps some results that were asked for twice, of at most 8 MiB of messages in all
// (decoded about three times as much of pods, seven of maps with small entries),
// until three garbage collections have come since their last use.
//
// Nothing else is kept: a result that nobody holds any more goes with the next
// garbage collection, and the next View decodes again. It does not keep obj alive,
// but its strings may be parts of obj's bytes, as those of As, or of the bytes of
// those that it shares with: one more version and one more object at the most,
// neither of them much larger than obj. Two versions of an object, and the same one
// read twice from the network, have results of their own. An error is not
// remembered.
//
// It is safe for concurrent use. Of several who ask at the same time more than one
// may decode, and all get the result of one.
func View[T any](obj *wire.Object) (*T, error) {
	return view[T](obj, schema.GroupVersionKind{})
}

// ViewOf is View of an object of this kind, for an unstructured.Unstructured and
// the other types that Kind.Decode takes. Of a generated API type it is the same as
// View.
func ViewOf[T any](kind Kind, obj *wire.Object) (*T, error) { return view[T](obj, kind.GVK) }

// views are the results that are alive: *viewed by the address of their object, which
// is a uintptr. An address is found faster than a weak pointer is made.
var views sync.Map

// viewed is one result, and behind it the others of the same address. It does not
// change once it is in views.
type viewed struct {
	object weak.Pointer[wire.Object] // whose address may be another's by now
	gvk    schema.GroupVersionKind   // that was asked for; of a type's own kind, that kind
	own    bool                      // who asks for no kind gets the same
	value  any                       // a weak.Pointer[T], which says the type
	next   *viewed
}

// viewID is what a result is to be forgotten by.
type viewID struct {
	address uintptr
	value   any // as in viewed: it is no other result's, ever
}

func view[T any](obj *wire.Object, gvk schema.GroupVersionKind) (*T, error) {
	if obj == nil {
		return nil, errors.New("view: there is no object")
	}
	address := uintptr(unsafe.Pointer(obj))
	known := loadViews(address)
	if result := findView[T](known, obj, gvk); result != nil {
		return result, nil
	}
	result := new(T)
	if err := decode(obj, gvk, result, decodeAlike); err != nil {
		return nil, err
	}
	if unsafe.Sizeof(*result) == 0 {
		return result, nil // the runtime tells of no such value that it is gone
	}
	v := &viewed{object: weak.Make(obj), gvk: gvk, value: weak.Make(result), next: known}
	if own := ownKind(result); gvk.Empty() || gvk == own {
		v.gvk, v.own = own, true
	}
	if first := shareView[T](address, obj, v); first != nil {
		return first, nil
	}
	runtime.AddCleanup(result, forgetView, viewID{address, v.value})
	return result, nil
}

// ownKind returns the kind of a generated API type, and of other types none.
func ownKind(into any) schema.GroupVersionKind {
	if _, ok := into.(k8sruntime.Unstructured); ok {
		return schema.GroupVersionKind{} // it is of the kind that it was told
	}
	kind, _ := expectKind(into, schema.GroupVersionKind{})
	return kind
}

func loadViews(address uintptr) *viewed {
	first, _ := views.Load(address)
	found, _ := first.(*viewed)
	return found
}

// findView returns the result of this object, type and kind, nil when none is alive.
func findView[T any](v *viewed, obj *wire.Object, gvk schema.GroupVersionKind) *T {
	for ; v != nil; v = v.next {
		if value, ok := v.value.(weak.Pointer[T]); ok && (v.gvk == gvk || v.own && gvk.Empty()) && v.object.Value() == obj {
			if result := value.Value(); result != nil {
				return result
			}
		}
	}
	return nil
}

// shareView makes v the one that all get, unless another was first, which it
// returns. Among those behind v, which there were before, it was not.
func shareView[T any](address uintptr, obj *wire.Object, v *viewed) *T {
	for !replaceViews(address, v.next, v) {
		v.next = loadViews(address)
		if first := findView[T](v.next, obj, v.gvk); first != nil {
			return first
		}
	}
	return nil
}

// forgetView drops a result that was collected.
func forgetView(id viewID) {
	for {
		old := loadViews(id.address)
		if replaceViews(id.address, old, old.without(id.value)) {
			return
		}
	}
}

// without returns the results less one, nil for none.
func (v *viewed) without(value any) *viewed {
	switch {
	case v == nil:
		return nil
	case v.value == value:
		return v.next
	}
	return &viewed{v.object, v.gvk, v.own, v.value, v.next.without(value)}
}

// replaceViews puts v in the place of old, nil for none, and tells whether old
// was still there.
func replaceViews(address uintptr, old, v *viewed) bool {
	switch {
	case old == nil:
		_, taken := views.LoadOrStore(address, v)
		return !taken
	case v == nil:
		return views.CompareAndDelete(address, old)
	}
	return views.CompareAndSwap(address, old, v)
}
