package service

import (
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/gocampus/hark/harktest/internal/kind"
	"github.com/gocampus/hark/harktest/internal/object"
	"github.com/gocampus/hark/key"
)

// crdStorage is where CustomResourceDefinitions are stored.
const crdStorage = "customresourcedefinitions.apiextensions.k8s.io"

// definition is the part of a CustomResourceDefinition that is needed to serve
// its kind.
type definition struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		Group string          `json:"group"`
		Names definitionNames `json:"names"`
		Scope string          `json:"scope"`

		Versions []definitionVersion `json:"versions"`
	} `json:"spec"`
}

type definitionNames struct {
	Plural     string   `json:"plural"`
	Singular   string   `json:"singular"`
	Kind       string   `json:"kind"`
	ListKind   string   `json:"listKind"`
	ShortNames []string `json:"shortNames"`
	Categories []string `json:"categories"`
}

type definitionVersion struct {
	Name    string `json:"name"`
	Served  bool   `json:"served"`
	Storage bool   `json:"storage"`
	Schema  struct {
		OpenAPIV3Schema map[string]any `json:"openAPIV3Schema"`
	} `json:"schema"`
	Subresources struct {
		Status *struct{} `json:"status"`
		Scale  *struct {
			SpecReplicasPath   string `json:"specReplicasPath"`
			StatusReplicasPath string `json:"statusReplicasPath"`
			LabelSelectorPath  string `json:"labelSelectorPath"`
		} `json:"scale"`
	} `json:"subresources"`
	AdditionalPrinterColumns []struct {
		Name        string `json:"name"`
		Type        string `json:"type"`
		Format      string `json:"format"`
		Description string `json:"description"`
		JSONPath    string `json:"jsonPath"`
		Priority    int32  `json:"priority"`
	} `json:"additionalPrinterColumns"`
	SelectableFields []struct {
		JSONPath string `json:"jsonPath"`
	} `json:"selectableFields"`
}

func readDefinition(obj runtime.Object) (*definition, error) {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return nil, fmt.Errorf("service: a definition of type %T", obj)
	}
	var d definition
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &d); err != nil {
		return nil, BadRequest("CustomResourceDefinition in version \"v1\" cannot be handled as a CustomResourceDefinition: %v", err)
	}
	return &d, nil
}

// defaultDefinition fills in what a definition may leave out.
func defaultDefinition(u *unstructured.Unstructured) {
	d, err := readDefinition(u)
	if err != nil {
		return // prepareDefinition says what is wrong
	}
	setDefault(&d.Spec.Names.Singular, strings.ToLower(d.Spec.Names.Kind))
	setDefault(&d.Spec.Names.ListKind, d.Spec.Names.Kind+"List")
	spec, ok := u.Object["spec"].(map[string]any)
	if !ok {
		return
	}
	spec["names"] = d.Spec.Names.fields()
	if spec["conversion"] == nil {
		spec["conversion"] = map[string]any{"strategy": "None"}
	}
}

// prepareDefinition gives a definition the status that a server gives it: its
// names are accepted at once.
func prepareDefinition(obj runtime.Object) error {
	d, err := readDefinition(obj)
	if err != nil {
		return err
	}
	if errs := d.validate(); len(errs) > 0 {
		return apierrors.NewInvalid(definitionKind, d.Metadata.Name, errs)
	}
	u := obj.(*unstructured.Unstructured)
	return unstructured.SetNestedMap(u.Object, d.acceptedStatus(), "status")
}

func (n definitionNames) fields() map[string]any {
	fields := map[string]any{"plural": n.Plural, "singular": n.Singular, "kind": n.Kind, "listKind": n.ListKind}
	for name, values := range map[string][]string{"shortNames": n.ShortNames, "categories": n.Categories} {
		if len(values) > 0 {
			list := make([]any, len(values))
			for i, value := range values {
				list[i] = value
			}
			fields[name] = list
		}
	}
	return fields
}

func (d *definition) acceptedStatus() map[string]any {
	now := time.Now().UTC().Format(time.RFC3339)
	condition := func(kind, reason, message string) any {
		return map[string]any{"type": kind, "status": "True", "reason": reason, "message": message, "lastTransitionTime": now}
	}
	stored := []any{}
	for _, v := range d.Spec.Versions {
		if v.Storage {
			stored = append(stored, v.Name)
		}
	}
	return map[string]any{
		"acceptedNames":  d.Spec.Names.fields(),
		"storedVersions": stored,
		"conditions": []any{
			condition("NamesAccepted", "NoConflicts", "no conflicts found"),
			condition("Established", "InitialNamesAccepted", "the initial names have been accepted"),
		},
	}
}

func (d *definition) validate() field.ErrorList {
	var errs field.ErrorList
	spec := field.NewPath("spec")
	if want := d.Spec.Names.Plural + "." + d.Spec.Group; d.Metadata.Name != want {
		errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), d.Metadata.Name, `must be spec.names.plural+"."+spec.group`))
	}
	if d.Spec.Group == "" {
		errs = append(errs, field.Required(spec.Child("group"), ""))
	}
	if d.Spec.Names.Kind == "" {
		errs = append(errs, field.Required(spec.Child("names", "kind"), ""))
	}
	if d.Spec.Scope != "Namespaced" && d.Spec.Scope != "Cluster" {
		errs = append(errs, field.NotSupported(spec.Child("scope"), d.Spec.Scope, []string{"Cluster", "Namespaced"}))
	}
	storage := 0
	for _, v := range d.Spec.Versions {
		if v.Storage {
			storage++
		}
	}
	if storage != 1 {
		names := make([]string, len(d.Spec.Versions))
		for i, v := range d.Spec.Versions {
			names[i] = v.Name
		}
		errs = append(errs, field.Invalid(spec.Child("versions"), names, "must have exactly one version marked as storage version"))
	}
	if storage == 0 {
		errs = append(errs, field.Invalid(field.NewPath("status", "storedVersions"), []string(nil), "must have at least one stored version"))
	}
	return errs
}

// kinds returns the kinds that a definition serves, the storage version first.
func (d *definition) kinds() []*kind.Kind {
	versions := slices.Clone(d.Spec.Versions)
	slices.SortStableFunc(versions, func(a, b definitionVersion) int {
		if a.Storage == b.Storage {
			return 0
		} else if a.Storage {
			return -1
		}
		return 1
	})
	var kinds []*kind.Kind
	for i, v := range versions {
		k := d.kind(v)
		if i > 0 {
			k.Hub = kinds[0]
			k.ToHub, k.FromHub = renamer(kinds[0].GVK), renamer(k.GVK)
		}
		if v.Served || v.Storage {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

func (d *definition) kind(v definitionVersion) *kind.Kind {
	k := &kind.Kind{
		GVK:        schema.GroupVersionKind{Group: d.Spec.Group, Version: v.Name, Kind: d.Spec.Names.Kind},
		Plural:     d.Spec.Names.Plural,
		Singular:   d.Spec.Names.Singular,
		Short:      d.Spec.Names.ShortNames,
		Categories: d.Spec.Names.Categories,
		Namespaced: d.Spec.Scope == "Namespaced",
		Status:     v.Subresources.Status != nil,
		Generation: true,
		Custom:     true,
		Unserved:   !v.Served,
		Schema:     runtime.DeepCopyJSON(v.Schema.OpenAPIV3Schema),
	}
	if scale := v.Subresources.Scale; scale != nil {
		trim := func(path string) string { return strings.TrimPrefix(path, ".") }
		k.Scale = &kind.Scale{Spec: trim(scale.SpecReplicasPath), Status: trim(scale.StatusReplicasPath), Selector: trim(scale.LabelSelectorPath)}
	}
	for _, c := range v.AdditionalPrinterColumns {
		k.Columns = append(k.Columns, kind.Column{Name: c.Name, Type: c.Type, Format: c.Format, Description: c.Description, JSONPath: c.JSONPath, Priority: c.Priority})
	}
	for _, f := range v.SelectableFields {
		k.SelectableFields = append(k.SelectableFields, strings.TrimPrefix(f.JSONPath, "."))
	}
	return k
}

// renamer converts between the versions of a custom resource as the strategy
// None does: by changing the apiVersion.
func renamer(gvk schema.GroupVersionKind) func(runtime.Object) (runtime.Object, error) {
	return func(obj runtime.Object) (runtime.Object, error) {
		u, ok := obj.(*unstructured.Unstructured)
		if !ok {
			return nil, fmt.Errorf("service: a custom resource of type %T", obj)
		}
		out := u.DeepCopy()
		out.SetGroupVersionKind(gvk)
		return out, nil
	}
}

// beforeStore checks what a new or changed definition means for the kinds that
// are served already.
func (s *Service) beforeStore(t Target, version *object.Version, update bool) error {
	if t.Kind.Storage() != crdStorage || update {
		return nil
	}
	d, err := readDefinition(version.Object())
	if err != nil {
		return err
	}
	for _, k := range d.kinds() {
		if other := s.kinds.ByResource(k.GVR()); other != nil {
			return apierrors.NewForbidden(t.Kind.Resource(), t.Name, fmt.Errorf("%s is served already", k.GVR()))
		}
	}
	return nil
}

// publish is held while a new definition is stored and its kinds come to be
// served: who hears of it by a watch finds them. The caller calls what it returns.
func (s *Service) publish(t Target) (done func()) {
	if t.Kind.Storage() != crdStorage {
		return func() {}
	}
	s.publishing.Lock()
	return s.publishing.Unlock
}

// Served returns the kind that is served under a group, version and plural, or nil.
func (s *Service) Served(gvr schema.GroupVersionResource) *kind.Kind {
	if k := s.kinds.ByResource(gvr); k != nil {
		return k
	}
	s.publishing.RLock() // perhaps it is about to be
	defer s.publishing.RUnlock()
	return s.kinds.ByResource(gvr)
}

// afterStore makes the server serve what a definition defines, or no longer.
func (s *Service) afterStore(version *object.Version) {
	if version.Kind().Storage() == crdStorage {
		s.define(version.Meta().GetName())
	}
}

// served is what is served of one definition.
type served struct {
	uid        types.UID
	generation int64
	kinds      []*kind.Kind
}

// define brings the registry in line with the newest state of a definition.
func (s *Service) define(name string) {
	s.defining.Lock()
	defer s.defining.Unlock()
	old, next := s.defined[name], served{}
	if record := s.store.Get(crdStorage, key.Key{Name: name}); record != nil {
		d, err := readDefinition(record.Value.Object())
		if err != nil {
			return // a later update made it unreadable: what it was goes on being served
		}
		next = served{record.Value.Meta().GetUID(), record.Value.Meta().GetGeneration(), d.kinds()}
	}
	if old.uid == next.uid && old.generation == next.generation {
		return // only its status changed
	}
	if old.uid != next.uid {
		s.purge(old.kinds)
	}
	for _, k := range old.kinds {
		s.kinds.Remove(k)
	}
	s.defined[name] = next
	for _, k := range next.kinds {
		// A kind of the same name that was registered meanwhile stays.
		_ = s.kinds.Add(k)
	}
}

// purge deletes the objects of kinds that are no longer served, as the finalizer
// of a definition does.
func (s *Service) purge(kinds []*kind.Kind) {
	if len(kinds) == 0 {
		return
	}
	t := Target{Kind: kinds[0]}
	for record := range s.store.Newest(t.Kind.Storage()).All("", key.Key{}) {
		t.Namespace, t.Name = record.Key.Namespace, record.Key.Name
		// Somebody else may have deleted it meanwhile, which is as good.
		_, _ = s.remove(t, record, record.Value, false)
	}
}
