package harktest

import (
	"cmp"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gocampus/hark/harktest/internal/kind"
)

// Kind describes a kind of one's own.
type Kind struct {
	// GroupVersionKind is required, except the group.
	schema.GroupVersionKind
	// Object is a pointer to the Go type, for a kind that is handled typed; it
	// speaks protobuf when the type has a Marshal method. Default nil: the objects
	// are handled as *unstructured.Unstructured.
	Object Object
	// Plural is the resource's name. Default the kind in lower case with an "s".
	Plural string
	// ShortNames and Categories for kubectl. Default none.
	ShortNames []string
	Categories []string
	// ClusterScoped objects have no namespace. Default namespaced.
	ClusterScoped bool
	// NoStatus leaves the status subresource out: the status is a field like others.
	NoStatus bool
	// Scale serves the scale subresource over spec.replicas, status.replicas and
	// status.selector.
	Scale bool
}

// Register adds a kind to the server. It fails when the group and version have
// another kind of that name or plural.
func (s *Server) Register(k Kind) error {
	added := &kind.Kind{
		GVK: k.GroupVersionKind, Plural: cmp.Or(k.Plural, strings.ToLower(k.Kind)+"s"),
		Short: k.ShortNames, Categories: k.Categories, Namespaced: !k.ClusterScoped,
		Status: !k.NoStatus, Generation: true, Custom: true,
	}
	if k.Scale {
		added.Scale = &kind.Scale{Spec: "spec.replicas", Status: "status.replicas", Selector: "status.selector"}
	}
	if k.Object != nil {
		added.SetType(k.Object)
	}
	if err := s.kinds.Add(added); err != nil {
		return fmt.Errorf("harktest: %w", err)
	}
	return nil
}
