package diff

import (
	"reflect"
	"slices"
	"strconv"
)

// mergeKeys are the fields that identify an element of a list in the APIs of
// Kubernetes (the x-kubernetes-list-map-keys and patchMergeKey of its schemas),
// most telling first. A field counts only where every element has it and no two
// of a list share its value.
var mergeKeys = [...]string{
	"name", "type", "uid", "key", "containerPort", "port", "mountPath",
	"devicePath", "ip", "topologyKey", "resourceName",
}

func (c *comparison) lists(path string, old, new []any) {
	if !ofObjects(old) || !ofObjects(new) {
		// A list of plain values (arguments, finalizers) is read as a whole.
		if !reflect.DeepEqual(old, new) {
			c.changed(path, old, new)
		}
		return
	}
	if name, ok := mergeKey(old, new); ok {
		c.keyed(path, name, old, new)
		return
	}
	for i := range max(len(old), len(new)) {
		before, inOld := at(old, i)
		after, inNew := at(new, i)
		c.either(path+"["+strconv.Itoa(i)+"]", before, inOld, after, inNew)
	}
}

// keyed compares two lists whose elements are identified by the field name:
// first what became of the old elements, then the new ones, then the order.
func (c *comparison) keyed(path, name string, old, new []any) {
	before, after := byKey(old, name), byKey(new, name)
	var keptOld, keptNew []any
	for _, id := range ids(old, name) {
		element, kept := after[id]
		c.either(path+selector(name, id), before[id], true, element, kept)
		if kept {
			keptOld = append(keptOld, id)
		}
	}
	for _, id := range ids(new, name) {
		if _, kept := before[id]; kept {
			keptNew = append(keptNew, id)
			continue
		}
		c.either(path+selector(name, id), nil, false, after[id], true)
	}
	if !slices.Equal(keptOld, keptNew) {
		c.changed(path+"[*]."+name, ids(old, name), ids(new, name))
	}
}

// ofObjects tells whether every element is an object; an empty list passes.
func ofObjects(list []any) bool {
	for _, element := range list {
		if _, ok := element.(map[string]any); !ok {
			return false
		}
	}
	return true
}

// mergeKey returns the first field that identifies the elements of both lists.
func mergeKey(old, new []any) (string, bool) {
	for _, name := range mergeKeys {
		if identifies(name, old) && identifies(name, new) {
			return name, true
		}
	}
	return "", false
}

func identifies(name string, list []any) bool {
	seen := make(map[any]bool, len(list))
	for _, element := range list {
		switch id := element.(map[string]any)[name].(type) {
		case string, int64, float64:
			if seen[id] {
				return false
			}
			seen[id] = true
		default:
			return false
		}
	}
	return true
}

// ids returns the identifying values of a list, in its order.
func ids(list []any, name string) []any {
	out := make([]any, len(list))
	for i, element := range list {
		out[i] = element.(map[string]any)[name]
	}
	return out
}

func byKey(list []any, name string) map[any]any {
	out := make(map[any]any, len(list))
	for _, element := range list {
		out[element.(map[string]any)[name]] = element
	}
	return out
}

func at(list []any, i int) (any, bool) {
	if i >= len(list) {
		return nil, false
	}
	return list[i], true
}
