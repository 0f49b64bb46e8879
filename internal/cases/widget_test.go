package cases

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gocampus/hark/informer"
	"github.com/gocampus/hark/kube"
)

// widget is the Go type of a custom resource.
type widget struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        metav1.ObjectMeta `json:"metadata"`
	Spec            struct {
		Size int `json:"size"`
	} `json:"spec"`
}

// newWidget is a custom object; size is what the type wants, or not.
func newWidget(name string, size any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Widget",
		"metadata": map[string]any{"namespace": "default", "name": name},
		"spec":     map[string]any{"size": size},
	}}
}

func widgetDefinition() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "widgets.example.com"},
		"spec": map[string]any{
			"group": "example.com", "scope": "Namespaced",
			"names": map[string]any{"plural": "widgets", "kind": "Widget"},
			"versions": []any{map[string]any{"name": "v1", "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object"}}}},
		},
	}}
}

// widgetKind is the kind whether or not it is served.
var widgetKind = kube.Kind{
	GVR:      schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"},
	GVK:      schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"},
	Singular: "widget", Namespaced: true, Watchable: true,
}

// make creates objects of any kind.
func (w *world) make(objects ...*unstructured.Unstructured) {
	w.t.Helper()
	for _, o := range objects {
		must(w.t, w.Create(w.t.Context(), o))
	}
}

// names are those of the objects that a store has, sorted.
func names(i *informer.Informer) []string {
	var all []string
	for o := range i.Store().All() {
		all = append(all, o.Key().Name)
	}
	slices.Sort(all)
	return all
}
