package cli

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// target is one thing to watch, as it was typed: all objects of a type, or the
// one of that name.
type target struct{ kind, name string }

// noResource is kubectl's sentence for no arguments at all.
type noResource struct{}

// Error implements error.
func (noResource) Error() string { return "Required resource not specified." }

// parseTargets reads TYPE[,TYPE…] [NAME…] or TYPE/NAME….
func parseTargets(args []string) ([]target, error) {
	if len(args) == 0 {
		return nil, noResource{}
	}
	slashed := 0
	for _, arg := range args {
		if strings.Contains(arg, "/") {
			slashed++
		}
	}
	switch slashed {
	case 0:
		return typesAndNames(args[0], args[1:])
	case len(args):
		return slashedTargets(args)
	}
	return nil, errors.New("there is no need to specify a resource type as a separate argument when passing arguments in resource/name form (e.g. 'pod/tmp' instead of 'pod pod/tmp')")
}

func typesAndNames(list string, names []string) ([]target, error) {
	var out []target
	for kind := range strings.SplitSeq(list, ",") {
		if kind == "" {
			return nil, fmt.Errorf("arguments must consist of a resource type or several joined by a comma, got %q", list)
		}
		if len(names) == 0 {
			out = append(out, target{kind: kind})
		}
		for _, name := range names {
			switch {
			case name == "":
				return nil, errors.New("name may not be empty")
			case strings.Contains(name, ","):
				return nil, fmt.Errorf("a name has no comma, names are separated by spaces: %q", name)
			}
			out = append(out, target{kind, name})
		}
	}
	return unique(out), nil
}

func slashedTargets(args []string) ([]target, error) {
	var out []target
	for _, arg := range args {
		kind, name, _ := strings.Cut(arg, "/")
		switch {
		case kind == "" || name == "" || strings.ContainsAny(name, "/,"):
			return nil, fmt.Errorf("arguments in resource/name form must have a single resource and name, got %q", arg)
		case strings.Contains(kind, ","):
			return nil, fmt.Errorf("arguments in resource/name form may not have more than one resource, got %q", arg)
		}
		out = append(out, target{kind, name})
	}
	return unique(out), nil
}

// unique keeps the first of equal targets.
func unique(targets []target) []target {
	var out []target
	for _, t := range targets {
		if !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}

// groupOf is the group that a type is written with, "example.com" for
// widgets.example.com and for widgets.v1.example.com, or "".
func groupOf(kind string) string {
	_, group, _ := strings.Cut(kind, ".")
	if version, rest, both := strings.Cut(group, "."); both && isVersion(version) {
		return rest
	}
	return group
}

var isVersion = regexp.MustCompile(`^v[1-9][0-9]*((alpha|beta)[1-9][0-9]*)?$`).MatchString

// fullForm tells whether a type is written with the group of a custom resource,
// such as widgets.example.com: then its author knows it and may mean one to come.
// A group without a dot is built in (apps): all its types are there from the
// beginning.
func fullForm(kind string) bool { return strings.Contains(groupOf(kind), ".") }

// neverComes tells whether no server can ever have a type: "pods.v1" names a
// version where a group belongs, and "all" is kubectl's word for several types.
func neverComes(kind string) bool { return kind == categoryAll || isVersion(groupOf(kind)) }

const categoryAll = "all"
