package openapi

import (
	"maps"

	"github.com/gocampus/hark/harktest/internal/kind"
)

// Document returns the OpenAPI v3 document of one group and version.
func Document(info map[string]any, base string, kinds []*kind.Kind) map[string]any {
	schemas := Schemas{}
	for _, k := range kinds {
		addKind(schemas, k)
	}
	return map[string]any{
		"openapi": "3.0.0", "info": info, "paths": Paths(base, kinds), "components": map[string]any{"schemas": schemas},
	}
}

func addKind(schemas Schemas, k *kind.Kind) {
	var schema Schema
	switch {
	case k.Type() != nil:
		schema = schemas[schemas.Add(k.Type())]
	case k.Schema != nil:
		schema = maps.Clone(k.Schema) // it is shared, and gets one more entry below
		schemas[k.GVK.Group+"."+k.GVK.Version+"."+k.GVK.Kind] = schema
	default:
		schema = Schema{"type": "object", "x-kubernetes-preserve-unknown-fields": true}
		schemas[k.GVK.Group+"."+k.GVK.Version+"."+k.GVK.Kind] = schema
	}
	schema["x-kubernetes-group-version-kind"] = []any{gvkOf(k)}
}

func gvkOf(k *kind.Kind) map[string]any {
	return map[string]any{"group": k.GVK.Group, "version": k.GVK.Version, "kind": k.GVK.Kind}
}

// Paths describes the writes of each kind: that is where kubectl looks for the
// parameter fieldValidation, which tells it that the server validates fields.
func Paths(base string, kinds []*kind.Kind) map[string]any {
	paths := map[string]any{}
	for _, k := range kinds {
		path := base + "/"
		if k.Namespaced {
			path += "namespaces/{namespace}/"
		}
		paths[path+k.Plural] = map[string]any{"post": operation(k, "post")}
		paths[path+k.Plural+"/{name}"] = map[string]any{"get": operation(k, "get"), "patch": operation(k, "patch"), "put": operation(k, "put")}
	}
	return paths
}

func operation(k *kind.Kind, action string) map[string]any {
	parameter := func(name string) map[string]any {
		return map[string]any{"name": name, "in": "query", "schema": Schema{"type": "string", "uniqueItems": true}}
	}
	return map[string]any{
		"parameters":                      []any{parameter("dryRun"), parameter("fieldManager"), parameter("fieldValidation")},
		"responses":                       map[string]any{"200": map[string]any{"description": "OK"}},
		"x-kubernetes-action":             action,
		"x-kubernetes-group-version-kind": gvkOf(k),
	}
}
