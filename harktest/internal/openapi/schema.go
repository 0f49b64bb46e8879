package openapi

import (
	"reflect"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Schema is a schema in decoded JSON.
type Schema = map[string]any

// Schemas collects the schemas of types and of all that they refer to.
type Schemas map[string]Schema

const refPrefix = "#/components/schemas/"

// leaves are the types whose JSON is not what their fields say.
var leaves = map[reflect.Type]Schema{
	reflect.TypeFor[metav1.Time]():          {"type": "string", "format": "date-time"},
	reflect.TypeFor[metav1.MicroTime]():     {"type": "string", "format": "date-time"},
	reflect.TypeFor[metav1.Duration]():      {"type": "string"},
	reflect.TypeFor[time.Duration]():        {"type": "integer", "format": "int64"},
	reflect.TypeFor[metav1.FieldsV1]():      {"type": "object"},
	reflect.TypeFor[runtime.RawExtension](): {"type": "object"},
	reflect.TypeFor[resource.Quantity]():    {"oneOf": []any{Schema{"type": "string"}, Schema{"type": "number"}}},
	reflect.TypeFor[intstr.IntOrString]():   {"format": "int-or-string", "oneOf": []any{Schema{"type": "integer"}, Schema{"type": "string"}}},
}

// Add describes a struct type and what it refers to, and returns the name of
// its schema.
func (all Schemas) Add(t reflect.Type) string {
	name := modelName(t)
	if all[name] != nil {
		return name
	}
	schema := Schema{"type": "object"}
	all[name] = schema // before its fields, which may refer to it
	docs := docsOf(t)
	if doc := docs[""]; doc != "" {
		schema["description"] = doc
	}
	if leaf, ok := leaves[t]; ok {
		for key, value := range leaf {
			schema[key] = value
		}
		if leaf["type"] == nil {
			delete(schema, "type")
		}
		return name
	}
	properties, required := Schema{}, []any{}
	all.addFields(t, docs, properties, &required)
	if len(properties) > 0 {
		schema["properties"] = properties
	}
	if len(required) > 0 {
		schema["required"] = required
	}
	return name
}

func (all Schemas) addFields(t reflect.Type, docs map[string]string, properties Schema, required *[]any) {
	for i := range t.NumField() {
		field := t.Field(i)
		tag, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if !field.IsExported() || tag == "-" {
			continue
		}
		if tag == "" && field.Anonymous {
			all.addFields(field.Type, docsOf(field.Type), properties, required)
			continue
		}
		if tag == "" {
			tag = field.Name
		}
		properties[tag] = all.property(field, docs[tag])
		if !strings.Contains(options, "omit") && field.Type.Kind() != reflect.Pointer {
			*required = append(*required, tag)
		}
	}
}

// property describes a field: its type, its documentation and how it is patched.
func (all Schemas) property(field reflect.StructField, doc string) Schema {
	schema := all.of(field.Type)
	if _, isRef := schema["$ref"]; isRef {
		schema = Schema{"allOf": []any{schema}}
	}
	if doc != "" {
		schema["description"] = doc
	}
	if strategy := field.Tag.Get("patchStrategy"); strategy != "" {
		schema["x-kubernetes-patch-strategy"] = strategy
	}
	if mergeKey := field.Tag.Get("patchMergeKey"); mergeKey != "" {
		schema["x-kubernetes-patch-merge-key"] = mergeKey
	}
	return schema
}

func (all Schemas) of(t reflect.Type) Schema {
	switch t.Kind() {
	case reflect.Pointer:
		return all.of(t.Elem())
	case reflect.Struct:
		return Schema{"$ref": refPrefix + all.Add(t)}
	case reflect.Map:
		return Schema{"type": "object", "additionalProperties": all.of(t.Elem())}
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return Schema{"type": "string", "format": "byte"}
		}
		return Schema{"type": "array", "items": all.of(t.Elem())}
	case reflect.String:
		return Schema{"type": "string"}
	case reflect.Bool:
		return Schema{"type": "boolean"}
	case reflect.Int32:
		return Schema{"type": "integer", "format": "int32"}
	case reflect.Int, reflect.Int64:
		return Schema{"type": "integer", "format": "int64"}
	case reflect.Float32, reflect.Float64:
		return Schema{"type": "number", "format": "double"}
	}
	return Schema{} // anything
}

// docsOf returns the documentation that a generated type carries: of its fields
// by their JSON names, and of itself by "".
func docsOf(t reflect.Type) map[string]string {
	documented, ok := reflect.Zero(t).Interface().(interface{ SwaggerDoc() map[string]string })
	if !ok {
		return nil
	}
	return documented.SwaggerDoc()
}

// modelName returns the name that the API gives a type:
// "io.k8s.api.core.v1.Pod" for k8s.io/api/core/v1.Pod.
func modelName(t reflect.Type) string {
	domain, path, _ := strings.Cut(t.PkgPath(), "/")
	parts := strings.Split(domain, ".")
	for i, j := 0, len(parts)-1; i < j; i, j = i+1, j-1 {
		parts[i], parts[j] = parts[j], parts[i]
	}
	name := strings.Join(parts, ".")
	if path != "" {
		name += "." + strings.ReplaceAll(path, "/", ".")
	}
	return name + "." + t.Name()
}
