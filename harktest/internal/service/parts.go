package service

import (
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/gocampus/hark/harktest/internal/kind"
	"github.com/gocampus/hark/harktest/internal/object"
)

// clearStatus empties the status of an object that is being created.
func clearStatus(obj runtime.Object) {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		delete(u.Object, "status")
		return
	}
	if status := reflect.ValueOf(obj).Elem().FieldByName("Status"); status.IsValid() {
		status.SetZero()
	}
}

// keepOld restores the parts of an object that a request has no say in: the
// status in an update of the object, all but its own part in one of a subresource.
func keepOld(t Target, next runtime.Object, old *object.Version) {
	switch {
	case t.Subresource == "status":
		keepAllBut(next, old.Object(), "status")
		keepStatusMetadata(t.Kind, next, old)
	case t.Subresource == ephemeralPart, t.Subresource == resizePart:
		keepAllButPart(t.Subresource, next.(*corev1.Pod), old.Object().(*corev1.Pod))
	case t.Subresource == "approval":
		keepAllBut(next, old.Object(), "status")
	case t.Subresource == "" && t.Kind.Status:
		keepPart(next, old.Object(), "status")
	}
	if namespace, ok := next.(*corev1.Namespace); ok && t.Subresource == "" {
		namespace.Spec.Finalizers = old.Object().(*corev1.Namespace).Spec.Finalizers
	}
}

// keepStatusMetadata restores the metadata that an update of the status cannot
// change: all of it for custom resources, the labels for workloads.
func keepStatusMetadata(k *kind.Kind, next runtime.Object, old *object.Version) {
	m, err := meta.Accessor(next)
	if err != nil {
		return
	}
	if k.GVK.Group == "apps" || k.Custom {
		m.SetLabels(old.Meta().GetLabels())
	}
	if k.Custom {
		m.SetAnnotations(old.Meta().GetAnnotations())
		m.SetFinalizers(old.Meta().GetFinalizers())
	}
	m.SetOwnerReferences(old.Meta().GetOwnerReferences())
}

func keepPart(next, old runtime.Object, part string) {
	if u, ok := next.(*unstructured.Unstructured); ok {
		if value, found := old.(*unstructured.Unstructured).Object[part]; found {
			u.Object[part] = value
		} else {
			delete(u.Object, part)
		}
		return
	}
	name := strings.ToUpper(part[:1]) + part[1:]
	if field := reflect.ValueOf(next).Elem().FieldByName(name); field.IsValid() {
		field.Set(reflect.ValueOf(old).Elem().FieldByName(name))
	}
}

func keepAllBut(next, old runtime.Object, part string) {
	if u, ok := next.(*unstructured.Unstructured); ok {
		for name := range u.Object {
			if !isMeta(name) && name != part {
				delete(u.Object, name)
			}
		}
		for name, value := range old.(*unstructured.Unstructured).Object {
			if !isMeta(name) && name != part {
				u.Object[name] = value
			}
		}
		return
	}
	to, from := reflect.ValueOf(next).Elem(), reflect.ValueOf(old).Elem()
	for i := range to.NumField() {
		if name := to.Type().Field(i).Name; !isMeta(name) && !strings.EqualFold(name, part) {
			to.Field(i).Set(from.Field(i))
		}
	}
}

// isMeta tells whether a field of an object, by its JSON or Go name, is its
// metadata or the name of its type.
func isMeta(name string) bool {
	switch name {
	case "metadata", "apiVersion", "kind", "ObjectMeta", "TypeMeta":
		return true
	}
	return false
}

// specChanged tells whether an update counts in metadata.generation.
func specChanged(k *kind.Kind, next, old runtime.Object) bool {
	if u, ok := next.(*unstructured.Unstructured); ok {
		return customSpecChanged(k, u.Object, old.(*unstructured.Unstructured).Object)
	}
	to, from := reflect.ValueOf(next).Elem(), reflect.ValueOf(old).Elem()
	for i := range to.NumField() {
		name := to.Type().Field(i).Name
		if isMeta(name) || name == "Status" {
			continue
		}
		if !equality.Semantic.DeepEqual(to.Field(i).Interface(), from.Field(i).Interface()) {
			return true
		}
	}
	return annotationsCount(next, old)
}

// annotationsCount tells whether a change of annotations alone counts: it does
// for deployments.
func annotationsCount(next, old runtime.Object) bool {
	if _, ok := next.(*deployment); !ok {
		return false
	}
	a, b := next.(*deployment), old.(*deployment)
	return !equality.Semantic.DeepEqual(a.Annotations, b.Annotations)
}

func customSpecChanged(k *kind.Kind, next, old map[string]any) bool {
	counts := func(name string) bool { return !isMeta(name) && !(k.Status && name == "status") }
	for name, value := range next {
		if counts(name) && !equality.Semantic.DeepEqual(value, old[name]) {
			return true
		}
	}
	for name := range old {
		if _, found := next[name]; counts(name) && !found {
			return true
		}
	}
	return false
}
