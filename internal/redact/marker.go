package redact

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"
)

// Marker hides values behind marks that tell whether a field changed from one
// version of an object to another, and nothing else: REDACTED/ and seven
// characters, which is valid base64, too. The marks of equal values differ from
// field to field and from object to object, and none can be guessed from a value:
// they depend on a key that goes with the Marker. It is safe for concurrent use.
type Marker struct{ key [32]byte }

// NewMarker returns a Marker with a key of its own.
func NewMarker() *Marker {
	m := &Marker{}
	_, _ = rand.Read(m.key[:]) // never fails, by its documentation
	return m
}

// Secret hides in place what redact.Secret hides.
func (m *Marker) Secret(secret map[string]any) {
	mask(secret, m.replacement(secret))
}

// replacement returns the marks of one object.
func (m *Marker) replacement(object map[string]any) replacement {
	metadata, _ := object["metadata"].(map[string]any)
	uid := fmt.Sprint(metadata["uid"])
	return func(field, name string, value any) any {
		if text, ok := value.(string); ok && isMask(text) {
			return text
		}
		return m.mark(uid, field+"/"+name, value)
	}
}

// mark returns the mark of a value at a place of an object.
func (m *Marker) mark(uid, place string, value any) string {
	hash := hmac.New(sha256.New, m.key[:])
	// The values are decoded JSON, which always encodes.
	content, _ := json.Marshal([]any{uid, place, value})
	_, _ = hash.Write(content) // never fails
	mark := base64.StdEncoding.EncodeToString(hash.Sum(nil))
	return Mask + "/" + mark[:len(MaskChanged)-len(Mask)-1]
}

// Paths hides in place what the paths name, and annotations that may hold a copy
// of it. It reports whether anything was there to hide.
func (m *Marker) Paths(object map[string]any, paths []Path) bool {
	h := hiding{mark: m.replacement(object)}
	for _, path := range paths {
		h.walk(object, path.steps, "")
	}
	if h.found {
		maskAnnotations(object, h.leaks, h.mark)
	}
	return h.found
}

// hiding is one walk through an object.
type hiding struct {
	mark  replacement
	found bool
	leaks []string // what annotations must not hold
}

// walk follows the steps from value on and returns what takes its place.
func (h *hiding) walk(value any, steps []string, place string) any {
	switch value := value.(type) {
	case map[string]any:
		for name, below := range value {
			switch {
			case len(steps) == 0:
				value[name] = h.walk(below, nil, place+"/"+name)
			case steps[0] == name || steps[0] == anyStep:
				value[name] = h.walk(below, steps[1:], place+"/"+name)
			}
		}
		return value
	case []any: // each element; a step of its own for that is optional
		rest := steps
		if len(steps) > 0 && steps[0] == anyStep {
			rest = steps[1:]
		}
		for i, below := range value {
			value[i] = h.walk(below, rest, fmt.Sprint(place, "/", i))
		}
		return value
	}
	if len(steps) > 0 || value == nil {
		return value
	}
	return h.leaf(value, place)
}

// leaf hides one value. What is no string, or is a time, becomes null: a text in its
// place would keep the object from being decoded.
func (h *hiding) leaf(value any, place string) any {
	h.found = true
	text, ok := value.(string)
	if !ok {
		return nil
	}
	if len(text) >= shortestLeak {
		h.leaks = append(h.leaks, text)
	}
	if _, err := time.Parse(time.RFC3339, text); err == nil {
		return nil
	}
	return h.mark("path", place, value)
}
