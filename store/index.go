package store

import (
	"fmt"
	"maps"
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
	sets   map[string]*set
}

// set is the records that an index has under one value.
type set struct {
	index   *index
	value   string // its own, so that no version's bytes are kept alive by an index
	members map[*record]struct{}
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

// add puts r under a value.
func (x *index) add(r *record, value string) *set {
	under, ok := x.sets[value]
	if !ok {
		value = strings.Clone(value)
		under = &set{index: x, value: value, members: map[*record]struct{}{}}
		x.sets[value] = under
	}
	under.members[r] = struct{}{}
	return under
}

func (s *set) remove(r *record) {
	delete(s.members, r)
	if len(s.members) == 0 {
		delete(s.index.sets, s.value)
	}
}

// shrink makes the maps anew, without the room that past content took.
func (x *index) shrink() {
	sets := make(map[string]*set, len(x.sets))
	for value, under := range x.sets {
		smaller := make(map[*record]struct{}, len(under.members))
		maps.Copy(smaller, under.members)
		under.members, sets[value] = smaller, under
	}
	x.sets = sets
}

// unchanged reports whether r is under just the values of the object at hand,
// which are by index.
func (r *record) unchanged(indexes []*index, values [][]string) bool {
	rest := r.under
	for i, x := range indexes {
		for _, value := range values[i] {
			if len(rest) == 0 || rest[0].index != x || rest[0].value != value {
				return false
			}
			rest = rest[1:]
		}
	}
	return len(rest) == 0
}

// move puts r under other values.
func (r *record) move(indexes []*index, values [][]string) {
	for _, under := range r.under {
		under.remove(r)
	}
	n := 0
	for _, ofIndex := range values {
		n += len(ofIndex)
	}
	r.under = nil
	if n > 0 {
		r.under = make([]*set, 0, n)
	}
	for i, x := range indexes {
		for _, value := range values[i] {
			r.under = append(r.under, x.add(r, value))
		}
	}
}
