package kind

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Registry is the set of served kinds. It is safe for concurrent use.
type Registry struct {
	mu        sync.RWMutex // guards the fields below
	resources map[schema.GroupVersionResource]*Kind
	kinds     map[schema.GroupVersionKind]*Kind
	types     map[reflect.Type]*Kind
	order     []*Kind // in the order in which they were added
	changes   uint64
}

// NewRegistry returns a registry of the built-in kinds.
func NewRegistry() *Registry {
	r := &Registry{
		resources: map[schema.GroupVersionResource]*Kind{},
		kinds:     map[schema.GroupVersionKind]*Kind{},
		types:     map[reflect.Type]*Kind{},
	}
	for _, k := range builtins() {
		if err := r.Add(k); err != nil {
			panic("kind: the table of built-in kinds: " + err.Error())
		}
	}
	return r
}

// Add registers a kind. It fails when its group has another kind under one of
// its names and version.
func (r *Registry) Add(k *Kind) error { return r.Replace(nil, []*Kind{k}) }

// Remove takes a kind out again.
func (r *Registry) Remove(k *Kind) {
	// There is nothing to add that could fail.
	_ = r.Replace([]*Kind{k}, nil)
}

// Replace takes old kinds out and registers next ones, both at once: no reader finds a
// kind missing that is among both. It fails, and changes nothing, when a group
// has another kind under one of the names and version of a next one.
func (r *Registry) Replace(old, next []*Kind) error {
	for _, k := range next {
		if k.GVK.Version == "" || k.GVK.Kind == "" || k.Plural == "" {
			return fmt.Errorf("kind %v: version, kind and plural are required", k.GVK)
		}
		k.Singular = cmp.Or(k.Singular, strings.ToLower(k.GVK.Kind))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := func(other *Kind) bool { return other != nil && !slices.Contains(old, other) }
	for i, k := range next {
		twice := slices.ContainsFunc(next[:i], func(other *Kind) bool { return other.GVK == k.GVK || other.GVR() == k.GVR() })
		if twice || taken(r.resources[k.GVR()]) || taken(r.kinds[k.GVK]) {
			return fmt.Errorf("kind %v is registered already", k.GVK)
		}
	}
	for _, k := range old {
		r.remove(k)
	}
	for _, k := range next {
		r.add(k)
	}
	return nil
}

// add and remove are called with r.mu held for writing.
func (r *Registry) add(k *Kind) {
	k.gone = make(chan struct{})
	r.resources[k.GVR()] = k
	r.kinds[k.GVK] = k
	if k.typ != nil {
		r.types[k.typ] = k
	}
	r.order = append(r.order, k)
	r.changes++
}

func (r *Registry) remove(k *Kind) {
	if r.resources[k.GVR()] != k {
		return
	}
	delete(r.resources, k.GVR())
	delete(r.kinds, k.GVK)
	r.order = slices.DeleteFunc(r.order, func(other *Kind) bool { return other == k })
	r.changes++
	close(k.gone)
}

// ByResource returns the kind of a group, version and plural, or nil.
func (r *Registry) ByResource(gvr schema.GroupVersionResource) *Kind {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.resources[gvr]
}

// ByKind returns the kind of that name, or nil.
func (r *Registry) ByKind(gvk schema.GroupVersionKind) *Kind {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.kinds[gvk]
}

// Of returns the kind of an object: by its Go type, or by what it says of itself.
func (r *Registry) Of(obj runtime.Object) *Kind {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if t := reflect.TypeOf(obj); t != nil && t.Kind() == reflect.Pointer {
		if k := r.types[t.Elem()]; k != nil {
			return k
		}
	}
	return r.kinds[obj.GetObjectKind().GroupVersionKind()]
}

// Lookup returns the kind whose plural, singular, kind or short name is name,
// as kubectl reads "deploy", "deployments.apps" and "deployments.v1.apps"; nil
// when there is none. The first registered one wins.
func (r *Registry) Lookup(name string) *Kind {
	resource, group, qualified := strings.Cut(strings.ToLower(name), ".")
	for _, k := range r.All() {
		if k.Unserved || qualified && group != k.GVK.Group && group != k.GVK.Version+"."+k.GVK.Group {
			continue
		}
		if resource == k.Plural || resource == k.Singular || slices.Contains(k.Short, resource) {
			return k
		}
	}
	return nil
}

// All returns the kinds in the order of registration.
func (r *Registry) All() []*Kind {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.Clone(r.order)
}

// Changes counts the calls that changed the registry.
func (r *Registry) Changes() uint64 {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.changes
}

// Group is the served versions of one API group, the preferred one first.
type Group struct {
	Name     string
	Versions []Version
}

// Version is one version of a group and its kinds.
type Version struct {
	Name  string
	Kinds []*Kind
}

// Groups returns what is served, in the order of discovery.
func (r *Registry) Groups() []Group {
	var groups []Group
	for _, k := range r.All() {
		if k.Unserved {
			continue
		}
		g := slices.IndexFunc(groups, func(g Group) bool { return g.Name == k.GVK.Group })
		if g < 0 {
			g = len(groups)
			groups = append(groups, Group{Name: k.GVK.Group})
		}
		versions := groups[g].Versions
		v := slices.IndexFunc(versions, func(v Version) bool { return v.Name == k.GVK.Version })
		if v < 0 {
			v = len(versions)
			versions = append(versions, Version{Name: k.GVK.Version})
		}
		versions[v].Kinds = append(versions[v].Kinds, k)
		groups[g].Versions = versions
	}
	for _, g := range groups {
		slices.SortStableFunc(g.Versions, func(a, b Version) int { return compareVersions(b.Name, a.Name) })
		for _, v := range g.Versions {
			slices.SortStableFunc(v.Kinds, func(a, b *Kind) int { return cmp.Compare(a.Plural, b.Plural) })
		}
	}
	return groups
}

// SchemeName is how the API's errors call the set of kinds that it knows.
const SchemeName = "pkg/runtime/scheme.go:111"

// New implements runtime.ObjectCreater for the serializers. DeleteOptions exist
// in every group.
func (r *Registry) New(gvk schema.GroupVersionKind) (runtime.Object, error) {
	if gvk.Kind == "DeleteOptions" {
		return &metav1.DeleteOptions{}, nil
	}
	if k := r.ByKind(gvk); k != nil {
		return k.New(), nil
	}
	if t := reviewTypes[gvk]; t != nil {
		return reflect.New(t).Interface().(runtime.Object), nil
	}
	return nil, runtime.NewNotRegisteredErrForKind(SchemeName, gvk)
}

// ObjectKinds implements runtime.ObjectTyper.
func (r *Registry) ObjectKinds(obj runtime.Object) ([]schema.GroupVersionKind, bool, error) {
	if k := r.Of(obj); k != nil {
		return []schema.GroupVersionKind{k.GVK}, false, nil
	}
	if gvk := obj.GetObjectKind().GroupVersionKind(); !gvk.Empty() {
		return []schema.GroupVersionKind{gvk}, false, nil
	}
	return nil, false, runtime.NewNotRegisteredErrForType(SchemeName, reflect.TypeOf(obj))
}

// Recognizes implements runtime.ObjectTyper.
func (r *Registry) Recognizes(gvk schema.GroupVersionKind) bool { return r.ByKind(gvk) != nil }
