package store

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gocampus/hark/wire"
)

// IndexFunc appends to dst the values under which an index keeps the object,
// and returns it; what it returns is the store's from then on. It is called once a version, without any lock, and must be safe
// for concurrent use. It should depend on the object alone. When it fails or panics the object is
// kept but is not in that index, and the failure is counted (Stats).
type IndexFunc func(dst []string, object *wire.Object) ([]string, error)

// NamespaceIndex is the name of the index that Namespace is usually given.
const NamespaceIndex = "namespace"

// Namespace indexes by namespace; cluster-scoped objects have the value "".
func Namespace() IndexFunc {
	return func(dst []string, object *wire.Object) ([]string, error) {
		return append(dst, object.Key().Namespace), nil
	}
}

// Label indexes by the value of one label; objects without it are left out.
func Label(name string) IndexFunc {
	return func(dst []string, object *wire.Object) ([]string, error) {
		if value, ok := object.Label(name); ok {
			dst = append(dst, value)
		}
		return dst, nil
	}
}

// Owner indexes by the UID of the controlling owner; objects without one are
// left out.
func Owner() IndexFunc {
	return func(dst []string, object *wire.Object) ([]string, error) {
		if uid := object.Meta().Owner.UID; uid != "" {
			dst = append(dst, uid)
		}
		return dst, nil
	}
}

// index is one index: value → records.
type index struct {
	name   string
	values IndexFunc
	sets   map[string]map[*record]struct{}
}

// compute calls the user's function, with a panic as an error. The result is
// sorted and without repeats.
func (x *index) compute(dst []string, object *wire.Object) (values []string, err error) {
	defer func() {
		if r := recover(); r != nil {
			values, err = nil, fmt.Errorf("store: index %q panicked at %s: %v", x.name, object.Key(), r)
		}
	}()
	values, err = x.values(dst[:0], object)
	if err != nil {
		return nil, fmt.Errorf("store: index %q at %s: %w", x.name, object.Key(), err)
	}
	slices.Sort(values)
	return slices.Compact(values), nil
}

// add puts r under each value and returns the values as the index holds them:
// own strings, so that no version's bytes are kept alive by an index.
func (x *index) add(r *record, values []string) []string {
	if len(values) == 0 {
		return nil
	}
	held := make([]string, len(values))
	for i, value := range values {
		set, ok := x.sets[value]
		if !ok {
			value = strings.Clone(value)
			set = map[*record]struct{}{}
			x.sets[value] = set
			held[i] = value
		} else {
			held[i] = x.heldName(set, value)
		}
		set[r] = struct{}{}
	}
	return held
}

// heldName returns the index's own string for a value, taken from any record
// that is under it.
func (x *index) heldName(set map[*record]struct{}, value string) string {
	for r := range set {
		for _, values := range r.indexed {
			if i, ok := slices.BinarySearch(values, value); ok {
				return values[i]
			}
		}
		break
	}
	return strings.Clone(value)
}

func (x *index) remove(r *record, values []string) {
	for _, value := range values {
		set := x.sets[value]
		delete(set, r)
		if len(set) == 0 {
			delete(x.sets, value)
		}
	}
}

// shrink makes the maps anew, without the room that past content took.
func (x *index) shrink() {
	sets := make(map[string]map[*record]struct{}, len(x.sets))
	for value, set := range x.sets {
		smaller := make(map[*record]struct{}, len(set))
		for r := range set {
			smaller[r] = struct{}{}
		}
		sets[value] = smaller
	}
	x.sets = sets
}
