package kube

import (
	"context"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

// Kind is one kind of object as a server serves it: the name in URLs, the name
// in objects, and how it is read. Kinds are comparable.
type Kind struct {
	GVR schema.GroupVersionResource
	GVK schema.GroupVersionKind
	// Singular is the resource's name for one object: "pod".
	Singular string
	// Namespaced is false for a cluster-scoped kind.
	Namespaced bool
	// Protobuf tells that the server has the kind in protobuf and that its Go
	// type is known, which is so for built-in kinds.
	Protobuf bool
	// Watchable tells that the kind can be listed and watched. A kind such as
	// tokenreviews can only be created.
	Watchable bool
}

// String returns the resource as kubectl names it: "pods", "deployments.apps".
func (k Kind) String() string { return k.GVR.GroupResource().String() }

// NoKindError is returned by Resolve and KindOf when the server does not have
// the kind. Its text is kubectl's.
type NoKindError struct {
	// Resource, Group and Version that were asked for; Group and Version may be "".
	Resource, Group, Version string
	// Err names the API groups that did not answer and may have the kind; nil
	// when all did.
	Err error
}

// Error implements error.
func (e *NoKindError) Error() string {
	text := fmt.Sprintf("the server doesn't have a resource type %q", e.Resource)
	switch {
	case e.Group != "" && e.Version != "":
		text += fmt.Sprintf(" in group %q and version %q", e.Group, e.Version)
	case e.Group != "":
		text += fmt.Sprintf(" in group %q", e.Group)
	case e.Version != "":
		text += fmt.Sprintf(" in version %q", e.Version)
	}
	if e.Err != nil {
		text += "; " + e.Err.Error()
	}
	return text
}

// Unwrap returns Err.
func (e *NoKindError) Unwrap() error { return e.Err }

// Resolve returns the kind that a command-line argument names. It takes what
// kubectl takes: a plural, singular, short or kind name, alone or with group, or
// with version and group: "pods", "po", "Pod", "deployments.apps",
// "deployments.v1.apps", "widgets.example.com".
//
// What the server serves is asked once and kept. A name that is not found there
// makes it ask again (a CRD may be new), at most once in RediscoverInterval. An
// API group that does not answer does not stand in the way of others.
//
// Errors: *NoKindError, a *watch.Error when discovery failed, or the cause of
// ctx when it ended.
func (c *Client) Resolve(ctx context.Context, arg string) (Kind, error) {
	return c.catalog.find(ctx, func(e *edition) (Kind, error) {
		if kind, ok := e.resolve(ctx, arg); ok {
			return kind, nil
		}
		// kubectl words it so, reading "a.b" as resource and group.
		resource := schema.ParseGroupResource(arg)
		return Kind{}, &NoKindError{Resource: resource.Resource, Group: resource.Group, Err: e.silent()}
	})
}

// KindOf returns the kind of the Go type T, a generated API type such as
// appsv1.Deployment, in the version that the type is of. The type must be in the
// client's scheme. Errors are those of Resolve, and one for a type that is not
// in the scheme.
func KindOf[T any](ctx context.Context, c *Client) (Kind, error) {
	gvk, err := kindOfType[T](c.scheme)
	if err != nil {
		return Kind{}, err
	}
	return c.resolveGVK(ctx, gvk)
}

func (c *Client) resolveGVK(ctx context.Context, gvk schema.GroupVersionKind) (Kind, error) {
	return c.catalog.find(ctx, func(e *edition) (Kind, error) {
		if kind, ok := e.mapped(e.mapper.RESTMappingWithContext(ctx, gvk.GroupKind(), gvk.Version)); ok {
			return kind, nil
		}
		return Kind{}, &NoKindError{Resource: gvk.Kind, Group: gvk.Group, Version: gvk.Version, Err: e.silent()}
	})
}

// kindOfType looks up T, or what T points to.
func kindOfType[T any](s *runtime.Scheme) (schema.GroupVersionKind, error) {
	t := reflect.TypeFor[T]()
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	object, ok := reflect.New(t).Interface().(runtime.Object)
	if !ok {
		return schema.GroupVersionKind{}, fmt.Errorf("kube: %s is not the Go type of an API object", t)
	}
	kinds, _, err := s.ObjectKinds(object)
	if err != nil {
		return schema.GroupVersionKind{}, fmt.Errorf("kube: the kind of %s is not known: %w", t, err)
	}
	return kinds[0], nil
}

// hasProtobuf reports whether an object of this kind can be decoded from
// protobuf, which takes the generated Go type.
func hasProtobuf(gvk schema.GroupVersionKind) bool {
	object, err := scheme.Scheme.New(gvk)
	if err != nil {
		return false
	}
	_, ok := object.(protobufDecoder)
	return ok
}

// resolve finds arg the way kubectl does: as a resource with version and group,
// as a resource with group, as a kind.
func (e *edition) resolve(ctx context.Context, arg string) (Kind, bool) {
	full, plain := schema.ParseResourceArg(arg)
	var gvk schema.GroupVersionKind
	if full != nil {
		gvk, _ = e.mapper.KindForWithContext(ctx, e.expand(*full))
	}
	if gvk.Empty() {
		gvk, _ = e.mapper.KindForWithContext(ctx, e.expand(plain.WithVersion("")))
	}
	if gvk.Empty() {
		return e.resolveKind(ctx, arg)
	}
	return e.mapped(e.mapper.RESTMappingWithContext(ctx, gvk.GroupKind(), gvk.Version))
}

// resolveKind reads arg as Kind.group or Kind.version.group.
func (e *edition) resolveKind(ctx context.Context, arg string) (Kind, bool) {
	full, plain := schema.ParseKindArg(arg)
	if full != nil {
		if kind, ok := e.mapped(e.mapper.RESTMappingWithContext(ctx, full.GroupKind(), full.Version)); ok {
			return kind, true
		}
	}
	return e.mapped(e.mapper.RESTMappingWithContext(ctx, plain))
}

func (e *edition) mapped(mapping *meta.RESTMapping, err error) (Kind, bool) {
	if err != nil {
		return Kind{}, false
	}
	return e.kind(mapping)
}
