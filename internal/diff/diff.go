// Package diff says which fields differ between two versions of an object.
//
// It works on decoded JSON (maps, slices, strings, numbers, booleans, nil) and
// knows what a Kubernetes object is: elements of a list are matched by their
// name, type or another field that identifies them, so that a container which
// moves or a condition in front of another is not a change of everything.
package diff

import (
	"maps"
	"reflect"
	"slices"
)

// Change is one field that differs.
type Change struct {
	// Path of the field, such as spec.containers[name=web].image or
	// metadata.labels["app.kubernetes.io/name"].
	Path string
	// Op says which of Old and New exist.
	Op Op
	// Old and New are the values; they alias the trees that were compared.
	Old, New any
}

// Op is what happened to a field.
type Op uint8

const (
	// Changed: the field is in both versions.
	Changed Op = iota
	// Added: the field is in the new version only.
	Added
	// Removed: the field is in the old version only.
	Removed
)

// unsaid are fields that every write changes and that say nothing to a person.
var unsaid = map[string]bool{
	"metadata.managedFields":   true,
	"metadata.resourceVersion": true,
}

// Compare returns what changed from old to new, ordered by path segments. It
// leaves metadata.managedFields and metadata.resourceVersion out. A field that
// appears or goes with everything below it is one change.
func Compare(old, new map[string]any) []Change {
	var c comparison
	c.objects("", old, new)
	return c.changes
}

// comparison collects changes on a walk through two trees.
type comparison struct{ changes []Change }

func (c *comparison) values(path string, old, new any) {
	switch old := old.(type) {
	case map[string]any:
		if new, ok := new.(map[string]any); ok {
			c.objects(path, old, new)
			return
		}
	case []any:
		if new, ok := new.([]any); ok {
			c.lists(path, old, new)
			return
		}
	}
	if !reflect.DeepEqual(old, new) {
		c.changed(path, old, new)
	}
}

func (c *comparison) objects(path string, old, new map[string]any) {
	names := slices.Collect(maps.Keys(old))
	for name := range new {
		if _, both := old[name]; !both {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		at := field(path, name)
		if unsaid[at] {
			continue
		}
		before, inOld := old[name]
		after, inNew := new[name]
		c.either(at, before, inOld, after, inNew)
	}
}

// either compares a field that is in one of the versions or in both.
func (c *comparison) either(path string, old any, inOld bool, new any, inNew bool) {
	switch {
	case !inOld:
		c.changes = append(c.changes, Change{Path: path, Op: Added, New: new})
	case !inNew:
		c.changes = append(c.changes, Change{Path: path, Op: Removed, Old: old})
	default:
		c.values(path, old, new)
	}
}

func (c *comparison) changed(path string, old, new any) {
	c.changes = append(c.changes, Change{Path: path, Op: Changed, Old: old, New: new})
}
