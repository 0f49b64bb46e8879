package service

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/gocampus/hark/key"
)

// definitionStatus is the status of a CustomResourceDefinition.
type definitionStatus struct {
	AcceptedNames  definitionNames       `json:"acceptedNames"`
	StoredVersions []string              `json:"storedVersions"`
	Conditions     []definitionCondition `json:"conditions"`
}

type definitionCondition struct {
	Type               string `json:"type"`
	Status             string `json:"status"`
	LastTransitionTime string `json:"lastTransitionTime"`
	Reason             string `json:"reason"`
	Message            string `json:"message"`
}

// The types of a definition's conditions.
const (
	conditionNamesAccepted = "NamesAccepted"
	conditionEstablished   = "Established"
	conditionTerminating   = "Terminating"
)

// is tells whether a condition is true.
func (s *definitionStatus) is(condition string) bool {
	return slices.ContainsFunc(s.Conditions, func(c definitionCondition) bool { return c.Type == condition && c.Status == "True" })
}

// set sets a condition; the time of its last transition is now unless its status is as before.
func (s *definitionStatus) set(c definitionCondition) {
	c.LastTransitionTime = time.Now().UTC().Format(time.RFC3339)
	i := slices.IndexFunc(s.Conditions, func(old definitionCondition) bool { return old.Type == c.Type })
	if i < 0 {
		s.Conditions = append(s.Conditions, c)
		return
	}
	if old := s.Conditions[i]; old.Status == c.Status {
		c.LastTransitionTime = old.LastTransitionTime
	}
	s.Conditions[i] = c
}

// writeStatus puts names and conditions of a status into the object that it is of.
func writeStatus(u *unstructured.Unstructured, s definitionStatus) error {
	var conditions []any
	for _, c := range s.Conditions {
		fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&c)
		if err != nil {
			return err
		}
		conditions = append(conditions, fields)
	}
	if err := unstructured.SetNestedSlice(u.Object, conditions, "status", "conditions"); err != nil {
		return err
	}
	return unstructured.SetNestedMap(u.Object, s.AcceptedNames.fields(), "status", "acceptedNames")
}

// takenNames are the names of a group that others have.
type takenNames struct{ resources, kinds map[string]bool }

// takenNames returns the names of a group that definitions other than one, or kinds
// without a definition, have. s.publishing is held.
func (s *Service) takenNames(group, except string) takenNames {
	t := takenNames{map[string]bool{}, map[string]bool{}}
	for record := range s.store.Newest(crdStorage).All("", key.Key{}) {
		if d, err := readDefinition(record.Value.Object()); err == nil && d.Spec.Group == group && d.Metadata.Name != except {
			t.add(d.Status.AcceptedNames)
		}
	}
	for _, k := range s.kinds.All() {
		if k.Definition == "" && k.GVK.Group == group {
			t.add(definitionNames{Plural: k.Plural, Singular: k.Singular, ShortNames: k.Short, Kind: k.GVK.Kind, ListKind: k.GVK.Kind + "List"})
		}
	}
	return t
}

func (t takenNames) add(n definitionNames) {
	for _, name := range append([]string{n.Plural, n.Singular}, n.ShortNames...) {
		t.resources[name] = true
	}
	t.kinds[n.Kind], t.kinds[n.ListKind] = true, true
}

// acceptNames decides which of its names a definition gets: those that nobody else in its
// group has. It is served once it has got them all; later it may have to wait for
// another name and is served under those that it has.
func (d *definition) acceptNames(taken takenNames) {
	want, names := d.Spec.Names, d.Status.AcceptedNames
	accepted := definitionCondition{Type: conditionNamesAccepted, Status: "True", Reason: "NoConflicts", Message: "no conflicts found"}
	take := func(reason, wanted string, has *string, taken map[string]bool) {
		if wanted != *has && taken[wanted] {
			accepted.Status, accepted.Reason, accepted.Message = "False", reason, fmt.Sprintf("%q is already in use", wanted)
			return
		}
		*has = wanted
	}
	take("PluralConflict", want.Plural, &names.Plural, taken.resources)
	take("SingularConflict", want.Singular, &names.Singular, taken.resources)
	var conflicts []string
	for _, short := range want.ShortNames {
		if !slices.Contains(names.ShortNames, short) && taken.resources[short] {
			conflicts = append(conflicts, fmt.Sprintf("%q is already in use", short))
		}
	}
	switch len(conflicts) {
	case 0:
		names.ShortNames = want.ShortNames
	case 1:
		accepted.Status, accepted.Reason, accepted.Message = "False", "ShortNamesConflict", conflicts[0]
	default:
		accepted.Status, accepted.Reason, accepted.Message = "False", "ShortNamesConflict", "["+strings.Join(conflicts, ", ")+"]"
	}
	take("KindConflict", want.Kind, &names.Kind, taken.kinds)
	take("ListKindConflict", want.ListKind, &names.ListKind, taken.kinds)
	names.Categories = want.Categories
	d.Status.AcceptedNames = names
	d.Status.set(accepted)
	d.establish(accepted.Status == "True")
}

// establish sets whether a definition is served: once it was, it stays so.
func (d *definition) establish(accepted bool) {
	switch {
	case d.Status.is(conditionEstablished):
	case accepted:
		d.Status.set(definitionCondition{Type: conditionEstablished, Status: "True", Reason: "InitialNamesAccepted", Message: "the initial names have been accepted"})
	default:
		d.Status.set(definitionCondition{Type: conditionEstablished, Status: "False", Reason: "NotAccepted", Message: "not all names are accepted"})
	}
}
