package kind

import (
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Kind is one served version of one kind. It does not change after it was added
// to a Registry.
type Kind struct {
	GVK        schema.GroupVersionKind
	Plural     string
	Singular   string
	Short      []string
	Categories []string
	Namespaced bool
	// Status tells whether there is a status subresource: the main resource
	// then ignores the status, and the subresource everything else.
	Status bool
	// Generation tells whether metadata.generation counts changes of the spec.
	Generation bool
	// Scale is the scale subresource, or nil.
	Scale *Scale
	// Extra are further subresources: name to the kind that discovery names.
	Extra []Subresource
	// Verbs of the main resource; nil means all eight.
	Verbs []string
	// Columns of a Table answer for a custom resource; nil means NAME and AGE.
	Columns []Column
	// Schema is the OpenAPI schema of a custom resource, in decoded JSON; nil when
	// there is none.
	Schema map[string]any
	// SelectableFields are JSON paths that field selectors may name, for a
	// custom resource: "spec.colour".
	SelectableFields []string
	// Hub is the kind that objects are stored as: the kind itself for most.
	// FromHub and ToHub convert; their results share nothing that they change. The
	// kind that is stored has a FromHub when objects may have been stored as another.
	Hub     *Kind
	FromHub func(runtime.Object) (runtime.Object, error)
	ToHub   func(runtime.Object) (runtime.Object, error)
	// Custom tells that the kind was defined by a CustomResourceDefinition.
	Custom bool
	// Definition is the UID of that CustomResourceDefinition; "" for a kind that was
	// registered otherwise.
	Definition types.UID
	// Unserved kinds exist for storage only.
	Unserved bool

	typ  reflect.Type  // of the struct; nil for unstructured kinds
	gone chan struct{} // closed when the kind is removed
}

// Scale says where the fields of the scale subresource are, as JSON paths
// without the leading dot: "spec.replicas".
type Scale struct{ Spec, Status, Selector string }

// Subresource is an entry of discovery.
type Subresource struct {
	Name  string
	GVK   schema.GroupVersionKind
	Verbs []string
}

// Column is an additionalPrinterColumn of a CustomResourceDefinition.
type Column struct {
	Name, Type, Format, Description, JSONPath string
	Priority                                  int32
}

var allVerbs = []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}

// customVerbs is how the API lists the verbs of custom resources.
var customVerbs = []string{"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"}

// AllVerbs returns the verbs of the main resource in the order of discovery.
func (k *Kind) AllVerbs() []string {
	switch {
	case k.Verbs != nil:
		return k.Verbs
	case k.Custom:
		return customVerbs
	}
	return allVerbs
}

// Serves tells whether the main resource has a verb.
func (k *Kind) Serves(verb string) bool { return slices.Contains(k.AllVerbs(), verb) }

// Resource returns group and plural, for error messages.
func (k *Kind) Resource() schema.GroupResource {
	return schema.GroupResource{Group: k.GVK.Group, Resource: k.Plural}
}

// GVR returns group, version and plural.
func (k *Kind) GVR() schema.GroupVersionResource {
	return k.GVK.GroupVersion().WithResource(k.Plural)
}

// Storage returns the name under which the objects are stored. Versions of one
// kind share it.
func (k *Kind) Storage() string {
	if k.Hub != nil {
		return k.Hub.Storage()
	}
	return k.Resource().String()
}

// Main returns the kind that objects are stored as.
func (k *Kind) Main() *Kind {
	if k.Hub != nil {
		return k.Hub
	}
	return k
}

// Gone is closed when the kind is no longer served.
func (k *Kind) Gone() <-chan struct{} { return k.gone }

// Unstructured tells whether objects are kept as *unstructured.Unstructured.
func (k *Kind) Unstructured() bool { return k.typ == nil }

// HasProtobuf tells whether objects have a protobuf encoding.
func (k *Kind) HasProtobuf() bool {
	if k.typ == nil {
		return false
	}
	return reflect.PointerTo(k.typ).Implements(protobufMessage)
}

var protobufMessage = reflect.TypeFor[interface {
	Marshal() ([]byte, error)
	Unmarshal([]byte) error
}]()

// Type returns the struct of a typed kind, nil for an unstructured one.
func (k *Kind) Type() reflect.Type { return k.typ }

// New returns an empty object. A typed one has no apiVersion and kind set, as
// the API's own objects in lists; an unstructured one has.
func (k *Kind) New() runtime.Object {
	if k.typ != nil {
		return reflect.New(k.typ).Interface().(runtime.Object)
	}
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(k.GVK)
	return u
}

// SetType makes the kind typed: prototype is a pointer to its struct.
func (k *Kind) SetType(prototype runtime.Object) { k.typ = reflect.TypeOf(prototype).Elem() }

// Subresources returns all subresources in the order of discovery.
func (k *Kind) Subresources() []Subresource {
	verbs := []string{"get", "patch", "update"}
	all := slices.Clone(k.Extra)
	if k.Status {
		all = append(all, Subresource{"status", k.GVK, verbs})
	}
	if k.Scale != nil {
		all = append(all, Subresource{"scale", schema.GroupVersionKind{Group: "autoscaling", Version: "v1", Kind: "Scale"}, verbs})
	}
	if k.Custom {
		return all
	}
	slices.SortFunc(all, func(a, b Subresource) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Subresource returns the subresource of a name, or nil.
func (k *Kind) Subresource(name string) *Subresource {
	all := k.Subresources()
	if i := slices.IndexFunc(all, func(s Subresource) bool { return s.Name == name }); i >= 0 {
		return &all[i]
	}
	return nil
}
