package redact

import (
	"errors"
	"fmt"
	"strings"
)

// Path names fields of objects: spec.containers.env.value, data.*,
// metadata.annotations["example.com/token"]. Lists need no step of their own; [*]
// and .* stand for every element and every field. Everything below a field that is
// named is meant.
type Path struct {
	text  string
	steps []string
}

const anyStep = "*"

// String returns the path as it was written.
func (p Path) String() string { return p.text }

// ParsePath reads a path. It refuses fields that tell what an object is: without
// them it is none.
func ParsePath(text string) (Path, error) {
	p := Path{text: text}
	rest := strings.TrimPrefix(text, ".")
	for rest != "" {
		step, after, err := nextStep(rest)
		if err != nil {
			return Path{}, fmt.Errorf("path %q: %w", text, err)
		}
		p.steps = append(p.steps, step)
		rest = after
	}
	if len(p.steps) == 0 {
		return Path{}, fmt.Errorf("path %q: it names no field", text)
	}
	if p.identifies() {
		return Path{}, fmt.Errorf("path %q: it tells which object it is and cannot be redacted", text)
	}
	return p, nil
}

// identifies tells whether the path covers what an object is known by.
func (p Path) identifies() bool {
	switch p.steps[0] {
	case anyStep, "apiVersion", "kind":
		return true
	case "metadata":
	default:
		return false
	}
	if len(p.steps) == 1 {
		return true
	}
	switch p.steps[1] {
	case anyStep, "name", "namespace", "uid", "resourceVersion", "generation",
		"creationTimestamp", "deletionTimestamp", "ownerReferences":
		return true
	}
	return false
}

// nextStep takes the first step off a path: a name, or a name or * in brackets,
// and the dot behind it.
func nextStep(path string) (step, rest string, err error) {
	if strings.HasPrefix(path, "[") {
		step, rest, err = bracketed(path[1:])
	} else {
		end := strings.IndexAny(path, ".[")
		if end < 0 {
			end = len(path)
		}
		step, rest = path[:end], path[end:]
	}
	switch {
	case err != nil:
		return "", "", err
	case step == "":
		return "", "", errors.New("a name is missing")
	case strings.HasPrefix(rest, "."):
		if rest = rest[1:]; rest == "" {
			return "", "", errors.New("a name is missing at the end")
		}
	case rest != "" && rest[0] != '[':
		return "", "", fmt.Errorf("a dot is missing before %q", rest)
	}
	return step, rest, nil
}

// bracketed reads "name"] or *].
func bracketed(path string) (step, rest string, err error) {
	if after, ok := strings.CutPrefix(path, "*]"); ok {
		return anyStep, after, nil
	}
	if path != "" && (path[0] == '"' || path[0] == '\'') {
		quote := path[:1]
		if name, after, ok := strings.Cut(path[1:], quote+"]"); ok {
			return name, after, nil
		}
	}
	return "", "", errors.New(`in brackets there may be * or a name in quotes: [*], ["example.com/token"]`)
}
