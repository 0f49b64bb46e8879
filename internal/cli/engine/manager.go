package engine

import "reflect"

// written is one entry of managedFields: who wrote under which name.
type written struct {
	manager, operation, subresource, version string
}

// writers are the field managers by which an object came from one state to the
// next, as far as managedFields tell; nil when they do not.
//
// Each entry has the time of its manager's last write, to the second
// (https://kubernetes.io/docs/reference/using-api/server-side-apply/). A write
// within the second of the one before may leave every entry as it was: then it was
// one of those with the newest time, and that is not certain.
func writers(old, new map[string]any) (names []string, certain bool) {
	before, after := managed(old), managed(new)
	var changed, newest []string
	latest := ""
	for id, entry := range after {
		at, _ := entry["time"].(string)
		known, had := before[id]
		if !had || at != known["time"] || grown(known, entry) {
			changed = append(changed, id.manager)
		}
		switch { // RFC 3339 in UTC: the order of texts is that of times
		case at > latest:
			latest, newest = at, []string{id.manager}
		case at == latest:
			newest = append(newest, id.manager)
		}
	}
	if len(changed) > 0 {
		return changed, true
	}
	return newest, false
}

// grown tells whether an entry has fields that it had not: one that only loses
// fields may have lost them to another manager.
func grown(old, new map[string]any) bool {
	return !within(new["fieldsV1"], old["fieldsV1"])
}

// within tells whether each field of part is one of whole.
func within(part, whole any) bool {
	fields, ok := part.(map[string]any)
	if !ok {
		return reflect.DeepEqual(part, whole)
	}
	all, _ := whole.(map[string]any)
	for name, below := range fields {
		other, ok := all[name]
		if !ok || !within(below, other) {
			return false
		}
	}
	return true
}

// managed are the entries of managedFields.
func managed(object map[string]any) map[written]map[string]any {
	metadata, _ := object["metadata"].(map[string]any)
	list, _ := metadata["managedFields"].([]any)
	entries := make(map[written]map[string]any, len(list))
	for _, item := range list {
		entry, _ := item.(map[string]any)
		text := func(name string) string { s, _ := entry[name].(string); return s }
		entries[written{text("manager"), text("operation"), text("subresource"), text("apiVersion")}] = entry
	}
	return entries
}

// verdict is what managedFields say of a change.
type verdict uint8

const (
	unknown verdict = iota
	foreign
	own
)

// judge tells whose change it was. named says that the program is known to write
// under the name; otherwise another name proves nothing.
func judge(old, new map[string]any, manager string, named bool) verdict {
	if new == nil {
		return unknown // managedFields do not tell who deleted it
	}
	names, certain := writers(old, new)
	mine := 0
	for _, name := range names {
		if name == manager {
			mine++
		}
	}
	switch {
	case mine > 0 && mine == len(names):
		return own
	case len(names) == 0, !named, mine > 0 && !certain:
		return unknown
	}
	return foreign
}
