package printer

import (
	"bytes"
	"encoding/json"
	"fmt"

	"sigs.k8s.io/yaml"

	"github.com/gocampus/hark/internal/diff"
)

// appendYAML writes the document of appendJSON as YAML, in the same order: the
// converter alone would sort the fields.
func (p *Printer) appendYAML(dst []byte, event Event, changes []diff.Change) ([]byte, error) {
	line, err := p.appendJSON(nil, event, changes)
	if err != nil {
		return dst, err
	}
	out, err := appendOrdered(dst, line, func(dst []byte, name string, value json.RawMessage) ([]byte, error) {
		if name == "changes" {
			return appendYAMLChanges(dst, value)
		}
		return appendYAMLField(dst, name, value)
	})
	if err != nil {
		return dst, fmt.Errorf("printer: %s: %w", event.Key, err)
	}
	return out, nil
}

// appendOrdered calls field for each field of a JSON object, in its order.
func appendOrdered(dst, object []byte, field func([]byte, string, json.RawMessage) ([]byte, error)) ([]byte, error) {
	decoder := json.NewDecoder(bytes.NewReader(object))
	if _, err := decoder.Token(); err != nil { // the opening brace
		return dst, err
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return dst, err
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return dst, err
		}
		if dst, err = field(dst, name.(string), value); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

func appendYAMLField(dst []byte, name string, value json.RawMessage) ([]byte, error) {
	field, err := json.Marshal(map[string]json.RawMessage{name: value})
	if err != nil {
		return dst, err
	}
	written, err := yaml.JSONToYAML(field)
	return append(dst, written...), err
}

// appendYAMLChanges writes each change as an element that begins with its path.
func appendYAMLChanges(dst []byte, value json.RawMessage) ([]byte, error) {
	var changes []json.RawMessage
	if err := json.Unmarshal(value, &changes); err != nil {
		return dst, err
	}
	if len(changes) == 0 {
		return append(dst, "changes: []\n"...), nil
	}
	dst = append(dst, "changes:\n"...)
	for _, change := range changes {
		element, err := appendOrdered(nil, change, appendYAMLField)
		if err != nil {
			return dst, err
		}
		indent := "- "
		for line := range bytes.Lines(element) {
			dst = append(append(dst, indent...), line...)
			indent = "  "
		}
	}
	return dst, nil
}
