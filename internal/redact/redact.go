// Package redact hides what a Secret holds from everything that hark prints.
package redact

import (
	"encoding/base64"
	"reflect"
	"strings"
)

const (
	// Mask stands where a value of a Secret stood. It is valid base64, so that
	// the document still decodes as a Secret.
	Mask = "REDACTED"
	// MaskChanged stands in the newer of two compared versions where the value
	// is not that of the older one. It is valid base64, too.
	MaskChanged = "REDACTED/CHANGED"
)

// isMask tells whether a value was hidden before: by Mask, MaskChanged or a
// Marker.
func isMask(value string) bool {
	return value == Mask || strings.HasPrefix(value, Mask+"/") && len(value) == len(MaskChanged)
}

// Applies tells whether objects of a kind are redacted: the core group's Secret.
func Applies(group, kind string) bool { return group == "" && kind == "Secret" }

// Secret masks secret in place: every value of data and stringData, and every
// annotation that holds a copy of them (kubectl's last-applied-configuration
// and its likes). Names of keys stay.
func Secret(secret map[string]any) { mask(secret, masking(nil)) }

// Pair masks two versions of one Secret in place, such that a comparison of
// them still shows which values differ, but nothing of the values.
func Pair(old, new map[string]any) {
	mask(new, masking(old))
	mask(old, masking(nil))
}

// replacement returns what stands in the place of a value, which is not null:
// that of a field such as data or annotations, under a name.
type replacement func(field, name string, value any) any

// masking replaces by Mask, or by MaskChanged what differs from older's.
func masking(older map[string]any) replacement {
	return func(field, name string, value any) any {
		before, had := valueOf(older, field, name)
		if had && !reflect.DeepEqual(value, before) {
			return MaskChanged
		}
		return Mask
	}
}

// valueOf returns one value that mask would hide; name is "" for a whole field.
func valueOf(object map[string]any, field, name string) (any, bool) {
	if field == "annotations" {
		object, _ = object["metadata"].(map[string]any)
	}
	if name == "" {
		value := object[field]
		return value, value != nil
	}
	values, _ := object[field].(map[string]any)
	value, had := values[name]
	return value, had
}

// mask hides the values of secret.
func mask(secret map[string]any, replace replacement) {
	leaks := valuesOf(secret)
	for _, field := range [...]string{"data", "stringData"} {
		values, ok := secret[field].(map[string]any)
		if !ok && secret[field] != nil {
			secret[field] = replace(field, "", secret[field]) // no map as it should be: hidden whole
			continue
		}
		for name, value := range values {
			if value != nil {
				values[name] = replace(field, name, value)
			}
		}
	}
	maskAnnotations(secret, leaks, replace)
}

// maskAnnotations hides the annotations that may hold a copy of what is hidden.
func maskAnnotations(object map[string]any, leaks []string, replace replacement) {
	metadata, _ := object["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	for name, value := range annotations {
		if value != nil && copiesSecret(name, value, leaks) {
			annotations[name] = replace("annotations", name, value)
		}
	}
}

// shortestLeak is the length from which a value is looked for in annotations: a
// shorter one ("yes", "1") would be found in any text.
const shortestLeak = 6

// valuesOf returns the secret's values, as they are written and decoded.
func valuesOf(secret map[string]any) []string {
	var out []string
	keep := func(value string) {
		if len(value) >= shortestLeak && !isMask(value) {
			out = append(out, value)
		}
	}
	for _, name := range [...]string{"data", "stringData"} {
		values, _ := secret[name].(map[string]any)
		for _, value := range values {
			written, _ := value.(string)
			if isMask(written) {
				continue
			}
			keep(written)
			if decoded, err := base64.StdEncoding.DecodeString(written); err == nil {
				keep(string(decoded))
			}
		}
	}
	return out
}

// copiesSecret tells whether an annotation may hold a copy of the Secret: it
// says so by its name, it holds a document (JSON, or gzip in base64 as some
// tools keep it), or one of the values stands in it.
func copiesSecret(name string, value any, leaks []string) bool {
	written, ok := value.(string)
	if !ok {
		return true // no annotation by the API's rules: better hidden
	}
	if strings.Contains(name, "last-applied") || isMask(written) {
		return true
	}
	document := strings.TrimSpace(written)
	for _, start := range [...]string{"{", "[", "H4sI"} {
		if strings.HasPrefix(document, start) {
			return true
		}
	}
	for _, leak := range leaks {
		if strings.Contains(written, leak) {
			return true
		}
	}
	return false
}
