package service

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gocampus/hark/harktest/internal/kind"
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
	Status definitionStatus `json:"status"`
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

// prepareDefinition begins the status of a new definition.
func prepareDefinition(obj runtime.Object) error {
	d, err := readDefinition(obj)
	if err != nil {
		return err
	}
	u := obj.(*unstructured.Unstructured)
	u.Object["status"] = map[string]any{}
	return keepStored(u, d)
}

// prepareDefinitionUpdate notes another storage version.
func prepareDefinitionUpdate(obj runtime.Object) error {
	d, err := readDefinition(obj)
	if err != nil {
		return err
	}
	return keepStored(obj.(*unstructured.Unstructured), d)
}

// keepStored adds the storage version to those that objects have ever been stored as.
func keepStored(u *unstructured.Unstructured, d *definition) error {
	stored := d.Status.StoredVersions
	for _, v := range d.Spec.Versions {
		if v.Storage && !slices.Contains(stored, v.Name) {
			stored = append(stored, v.Name)
		}
	}
	if len(stored) == 0 {
		return nil
	}
	if err := unstructured.SetNestedStringSlice(u.Object, stored, "status", "storedVersions"); err != nil {
		return BadRequest("%v", err)
	}
	return nil
}

// fields returns the names as a definition's spec has them.
func (n definitionNames) fields() map[string]any {
	fields := map[string]any{"plural": n.Plural, "kind": n.Kind}
	for name, value := range map[string]string{"singular": n.Singular, "listKind": n.ListKind} {
		if value != "" {
			fields[name] = value
		}
	}
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

// kinds returns the kinds that a definition serves, the storage version first. There
// are none before its names were accepted.
func (d *definition) kinds() []*kind.Kind {
	if !d.Status.is(conditionEstablished) {
		return nil
	}
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
		k.FromHub = renamer(k.GVK) // also of the first: objects may be stored as another version
		if i > 0 {
			k.Hub, k.ToHub = kinds[0], renamer(kinds[0].GVK)
		}
		if v.Served || v.Storage {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

func (d *definition) kind(v definitionVersion) *kind.Kind {
	names := d.Status.AcceptedNames
	k := &kind.Kind{
		GVK:        schema.GroupVersionKind{Group: d.Spec.Group, Version: v.Name, Kind: names.Kind},
		Plural:     names.Plural,
		Singular:   names.Singular,
		Short:      names.ShortNames,
		Categories: names.Categories,
		Namespaced: d.Spec.Scope == "Namespaced",
		Status:     v.Subresources.Status != nil,
		Generation: true,
		Custom:     true,
		Definition: d.Metadata.UID,
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
