package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// transcript is what a server answered to the steps of a scenario.
type transcript struct {
	answers []answer
}

// answer is what came back for one step.
type answer struct {
	step    string   // what was asked
	line    int      // of the step in its file
	status  string   // "200", or how a command exited
	headers []string // those that are compared
	docs    []any    // the body as JSON documents; several for a watch
	text    string   // the body if it is not JSON
}

// parseDocs reads a body of one or more JSON documents, one after the other.
func parseDocs(body []byte) ([]any, error) {
	var docs []any
	decoder := json.NewDecoder(bytes.NewReader(body))
	for {
		var doc any
		switch err := decoder.Decode(&doc); {
		case errors.Is(err, io.EOF):
			return docs, nil
		case err != nil:
			return nil, err
		}
		docs = append(docs, doc)
	}
}

// setBody keeps a body as documents if it is JSON, else as text.
func (a *answer) setBody(body []byte) {
	trimmed := bytes.TrimSpace(body)
	if len(trimmed) > 0 && (trimmed[0] == '{' || trimmed[0] == '[') {
		if docs, err := parseDocs(trimmed); err == nil {
			a.docs = docs
			return
		}
	}
	a.text = string(body)
}

// lines tells the transcript line by line: first the line of the step in its file,
// then one of what came back, where each leaf of a document is a line with its
// path. So a line says the same wherever it stands.
func (t *transcript) lines() []string {
	var all []string
	for _, a := range t.answers {
		for _, line := range a.lines() {
			all = append(all, fmt.Sprintf("%d: %s", a.line, line))
		}
	}
	return all
}

func (a *answer) lines() []string {
	all := []string{a.step, a.status}
	all = append(all, a.headers...)
	for i, doc := range a.docs {
		prefix := ""
		if len(a.docs) > 1 {
			prefix = fmt.Sprintf("[%d]", i)
		}
		all = appendLeaves(all, prefix, doc)
	}
	if a.text != "" {
		all = append(all, strings.Split(strings.TrimRight(a.text, "\n"), "\n")...)
	}
	return all
}

// appendLeaves appends a line for each leaf below a value.
func appendLeaves(lines []string, path string, at any) []string {
	switch x := at.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(x)) {
			lines = appendLeaves(lines, path+"/"+key, x[key])
		}
		if len(x) > 0 {
			return lines
		}
	case []any:
		for i, item := range x {
			lines = appendLeaves(lines, path+"/"+itemName(path, i, item), item)
		}
		if len(x) > 0 {
			return lines
		}
	}
	leaf, err := json.Marshal(at)
	if err != nil {
		panic("conformance: a decoded document does not encode: " + err.Error())
	}
	return append(lines, path+" = "+string(leaf))
}

// itemName is what a path calls an item of a list: its index, or its name in
// discovery, where one that is missing must not make all that follow it differ.
func itemName(path string, i int, item any) string {
	if !strings.HasSuffix(path, "resources") {
		return fmt.Sprint(i)
	}
	fields, _ := item.(map[string]any)
	for _, key := range []string{"resource", "subresource", "name"} {
		if name, ok := fields[key].(string); ok {
			return name
		}
	}
	return fmt.Sprint(i)
}

// field returns the text of a field of the answer's first document.
func (a *answer) field(path []string) (string, error) {
	if len(a.docs) == 0 {
		return "", fmt.Errorf("the answer holds no JSON: %s", a.text)
	}
	at := a.docs[0]
	for _, key := range path {
		switch x := at.(type) {
		case map[string]any:
			at = x[key]
		case []any:
			var i int
			if _, err := fmt.Sscan(key, &i); err != nil || i >= len(x) {
				return "", fmt.Errorf("no item %s in a list of %d", key, len(x))
			}
			at = x[i]
		default:
			at = nil
		}
	}
	if at == nil {
		return "", fmt.Errorf("the answer has no %s: %s", strings.Join(path, "/"), strings.Join(appendLeaves(nil, "", a.docs[0]), "\n"))
	}
	return fmt.Sprint(at), nil
}
