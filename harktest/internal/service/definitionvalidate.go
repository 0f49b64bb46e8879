package service

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateDefinition checks a definition: its names, scope and versions, and that
// there is a schema, but not what is in it.
func validateDefinition(u *unstructured.Unstructured) field.ErrorList {
	d, err := readDefinition(u)
	if err != nil {
		return field.ErrorList{field.InternalError(nil, err)} // it was read before
	}
	return d.validateSpec(field.NewPath("spec"))
}

// validateDefinitionStored checks the versions that objects may be stored as.
func validateDefinitionStored(u *unstructured.Unstructured) field.ErrorList {
	d, err := readDefinition(u)
	if err != nil {
		return nil // validateDefinition tells of the error
	}
	return d.validateStored()
}

// validateDefinitionName checks the name of a new definition, which cannot change later.
func validateDefinitionName(u *unstructured.Unstructured) field.ErrorList {
	d, err := readDefinition(u)
	if err != nil || d.Metadata.Name == d.Spec.Names.Plural+"."+d.Spec.Group {
		return nil // validateDefinition tells of the error
	}
	return field.ErrorList{field.Invalid(field.NewPath("metadata", "name"), d.Metadata.Name, `must be spec.names.plural+"."+spec.group`)}
}

// validateDefinitionChange checks what may not change once objects may be stored.
func validateDefinitionChange(next, old *unstructured.Unstructured) field.ErrorList {
	a, err := readDefinition(next)
	if err != nil {
		return nil // validateDefinition says so
	}
	b, err := readDefinition(old)
	if err != nil {
		return nil // what was loaded may become readable
	}
	var errs field.ErrorList
	spec := field.NewPath("spec")
	if b.Status.is(conditionEstablished) {
		errs = append(errs, validation.ValidateImmutableField(a.Spec.Scope, b.Spec.Scope, spec.Child("scope"))...)
		errs = append(errs, validation.ValidateImmutableField(a.Spec.Names.Kind, b.Spec.Names.Kind, spec.Child("names", "kind"))...)
	}
	errs = append(errs, validation.ValidateImmutableField(a.Spec.Group, b.Spec.Group, spec.Child("group"))...)
	errs = append(errs, validation.ValidateImmutableField(a.Spec.Names.Plural, b.Spec.Names.Plural, spec.Child("names", "plural"))...)
	return append(errs, a.validateStored()...)
}

func (d *definition) validateSpec(path *field.Path) field.ErrorList {
	var errs field.ErrorList
	group := path.Child("group")
	if d.Spec.Group == "" {
		errs = append(errs, field.Required(group, ""))
	} else if wrong := utilvalidation.IsDNS1123Subdomain(d.Spec.Group); len(wrong) > 0 {
		errs = append(errs, field.Invalid(group, d.Spec.Group, strings.Join(wrong, ",")))
	} else if !strings.Contains(d.Spec.Group, ".") {
		errs = append(errs, field.Invalid(group, d.Spec.Group, "should be a domain with at least one dot"))
	}
	errs = append(errs, oneOf(path.Child("scope"), d.Spec.Scope, "Cluster", "Namespaced")...)
	errs = append(errs, d.validateVersions(path.Child("versions"))...)
	names := path.Child("names")
	for _, required := range [][2]string{{"plural", d.Spec.Names.Plural}, {"singular", d.Spec.Names.Singular}, {"kind", d.Spec.Names.Kind}, {"listKind", d.Spec.Names.ListKind}} {
		if required[1] == "" {
			errs = append(errs, field.Required(names.Child(required[0]), ""))
		}
	}
	errs = append(errs, d.Spec.Names.validate(names)...)
	if first := d.Spec.Versions; len(first) == 1 && first[0].Schema.OpenAPIV3Schema != nil && first[0].Schema.OpenAPIV3Schema["type"] == nil {
		// The API keeps the schema of an only version where it had it once.
		errs = append(errs, field.Required(path.Child("validation", "openAPIV3Schema", "type"), "must not be empty at the root"))
	}
	return errs
}

func (d *definition) validateVersions(path *field.Path) field.ErrorList {
	var errs field.ErrorList
	var names []string
	storage, unique := 0, true
	for i, v := range d.Spec.Versions {
		if v.Schema.OpenAPIV3Schema == nil {
			errs = append(errs, field.Required(path.Index(i).Child("schema", "openAPIV3Schema"), ""))
		}
		if v.Storage {
			storage++
		}
		unique = unique && !slices.Contains(names, v.Name)
		names = append(names, v.Name)
	}
	for i, v := range d.Spec.Versions {
		if wrong := utilvalidation.IsDNS1035Label(v.Name); len(wrong) > 0 {
			errs = append(errs, field.Invalid(path.Index(i).Child("name"), v.Name, strings.Join(wrong, ",")))
		}
		if schema := v.Schema.OpenAPIV3Schema; len(d.Spec.Versions) > 1 && schema != nil && schema["type"] == nil {
			errs = append(errs, field.Required(path.Index(i).Child("schema", "openAPIV3Schema", "type"), "must not be empty at the root"))
		}
	}
	if !unique {
		errs = append(errs, field.Invalid(path, names, "must contain unique version names"))
	}
	if storage != 1 {
		if d.Spec.Versions != nil && names == nil {
			names = []string{}
		}
		errs = append(errs, field.Invalid(path, names, "must have exactly one version marked as storage version"))
	}
	return errs
}

func (n *definitionNames) validate(path *field.Path) field.ErrorList {
	var errs field.ErrorList
	label := func(at *field.Path, name, text, before string) {
		if wrong := utilvalidation.IsDNS1035Label(text); len(wrong) > 0 {
			errs = append(errs, field.Invalid(at, name, before+strings.Join(wrong, ",")))
		}
	}
	for _, named := range [][2]string{{"plural", n.Plural}, {"singular", n.Singular}} {
		if named[1] != "" {
			label(path.Child(named[0]), named[1], named[1], "")
		}
	}
	for _, named := range [][2]string{{"kind", n.Kind}, {"listKind", n.ListKind}} {
		if named[1] != "" {
			label(path.Child(named[0]), named[1], strings.ToLower(named[1]), "may have mixed case, but should otherwise match: ")
		}
	}
	for i, short := range n.ShortNames {
		label(path.Child("shortNames").Index(i), short, short, "")
	}
	if n.Kind != "" && n.Kind == n.ListKind {
		errs = append(errs, field.Invalid(path.Child("listKind"), n.ListKind, "kind and listKind may not be the same"))
	}
	for i, category := range n.Categories {
		label(path.Child("categories").Index(i), category, category, "")
	}
	return errs
}

// validateStored checks the versions that objects have been stored as.
func (d *definition) validateStored() field.ErrorList {
	path, stored := field.NewPath("status", "storedVersions"), d.Status.StoredVersions
	if len(stored) == 0 {
		return field.ErrorList{field.Invalid(path, stored, "must have at least one stored version")}
	}
	var errs field.ErrorList
	for i, name := range stored {
		if !slices.ContainsFunc(d.Spec.Versions, func(v definitionVersion) bool { return v.Name == name }) {
			errs = append(errs, field.Invalid(path.Index(i), name, "missing from spec.versions; "+name+" was previously a storage version, and must remain in spec.versions until "+
				"a storage migration ensures no data remains persisted in "+name+" and removes "+name+" from status.storedVersions"))
		}
	}
	return errs
}
