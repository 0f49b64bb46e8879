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

// Applies tells whether objects of a kind are redacted: the core group's Secret.
func Applies(group, kind string) bool { return group == "" && kind == "Secret" }

// Secret masks secret in place: every value of data and stringData, and every
// annotation that holds a copy of them (kubectl's last-applied-configuration
// and its likes). Names of keys stay.
func Secret(secret map[string]any) { mask(secret, nil) }

// Pair masks two versions of one Secret in place, such that a comparison of
// them still shows which values differ, but nothing of the values.
func Pair(old, new map[string]any) {
	mask(new, old)
	mask(old, nil)
}

// mask hides the values of secret, marking those that differ from older's.
func mask(secret, older map[string]any) {
	leaks := valuesOf(secret)
	for _, name := range [...]string{"data", "stringData"} {
		if _, ok := secret[name]; ok {
			secret[name] = maskField(secret[name], older[name])
		}
	}
	metadata, _ := secret["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	olderMetadata, _ := older["metadata"].(map[string]any)
	olderAnnotations, _ := olderMetadata["annotations"].(map[string]any)
	for name, value := range annotations {
		if copiesSecret(name, value, leaks) {
			before, had := olderAnnotations[name]
			annotations[name] = maskValue(value, before, had)
		}
	}
}

// maskField hides the values of data or stringData. What should be a map and
// is not is hidden whole.
func maskField(field, older any) any {
	values, ok := field.(map[string]any)
	if !ok {
		return maskValue(field, older, older != nil)
	}
	before, _ := older.(map[string]any)
	for name, value := range values {
		old, had := before[name]
		values[name] = maskValue(value, old, had)
	}
	return values
}

func maskValue(value, older any, had bool) any {
	if value == nil {
		return nil
	}
	if had && !reflect.DeepEqual(value, older) {
		return MaskChanged
	}
	return Mask
}

// shortestLeak is the length from which a value is looked for in annotations: a
// shorter one ("yes", "1") would be found in any text.
const shortestLeak = 6

// valuesOf returns the secret's values, as they are written and decoded.
func valuesOf(secret map[string]any) []string {
	var out []string
	keep := func(value string) {
		if len(value) >= shortestLeak && value != Mask && value != MaskChanged {
			out = append(out, value)
		}
	}
	for _, name := range [...]string{"data", "stringData"} {
		values, _ := secret[name].(map[string]any)
		for _, value := range values {
			written, _ := value.(string)
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
	if strings.Contains(name, "last-applied") || written == Mask || written == MaskChanged {
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
