package conformance

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// normalizer makes equal what must differ between two servers. It first sees all
// of a transcript, to rank its versions, and then rewrites it.
type normalizer struct {
	names    *strings.Replacer // of namespaces and groups made for the play
	versions []uint64          // of objects, ascending and each once
	uids     map[string]string
}

var (
	uidText    = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	timeText   = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)
	versionIn  = regexp.MustCompile(`resource version: \d+( \(\d+\))?|, current: \d+`)
	digits     = regexp.MustCompile(`\d+`)
	versionOf  = regexp.MustCompile(`(the ResourceVersion in (?:the precondition|record) )\(\d+\)`)
	elapsed    = regexp.MustCompile(`^(\d+[smhd])+$`)
	age        = regexp.MustCompile(`(?m)(\s)(?:\d+[smhd])+(\s|$)`)
	columns    = regexp.MustCompile(` {2,}`)
	lineEnd    = regexp.MustCompile(`(?m) +$`)
	versionKey = regexp.MustCompile(`(resourceVersion: ")\d+`)
	goType     = regexp.MustCompile(`(into Go value of type )(?:struct \{.*\}|[\w.\[\]*]+(?: \{\})?)`)
	dumped     = regexp.MustCompile(`(\\?"resourceVersion\\?":\\?")\d+`)
	retryTime  = regexp.MustCompile(`retry after [0-9.]+s`)
)

// normalize rewrites a transcript; replace holds pairs of a name and what stands
// for it.
func (t *transcript) normalize(replace []string) {
	n := &normalizer{names: strings.NewReplacer(replace...), uids: map[string]string{}}
	for _, a := range t.answers {
		for _, doc := range a.docs {
			n.collect(doc)
		}
	}
	slices.Sort(n.versions)
	n.versions = slices.Compact(n.versions)
	for i := range t.answers {
		a := &t.answers[i]
		for j, doc := range a.docs {
			a.docs[j] = n.value(doc, "", "")
		}
		a.text = n.printed(a.text)
		for j, h := range a.headers {
			a.headers[j] = n.text(h)
		}
	}
}

// collect notes the versions of the objects within a document.
func (n *normalizer) collect(at any) {
	switch x := at.(type) {
	case []any:
		for _, item := range x {
			n.collect(item)
		}
	case map[string]any:
		meta, _ := x["metadata"].(map[string]any)
		if v, ok := version(meta["resourceVersion"]); ok && !isMark(x) {
			n.versions = append(n.versions, v)
		}
		for _, value := range x {
			n.collect(value)
		}
	}
}

// isMark reports whether an object's version is a moment of the server's history
// and not an object's: those of lists and bookmarks, which another client's
// writes move on.
func isMark(object map[string]any) bool {
	meta, _ := object["metadata"].(map[string]any)
	return meta["uid"] == nil
}

func version(v any) (uint64, bool) {
	s, _ := v.(string)
	n, err := strconv.ParseUint(s, 10, 64)
	return n, err == nil && n > 0
}

// value rewrites a value; key is its field and parent the field of the object
// that holds it.
func (n *normalizer) value(at any, key, parent string) any {
	switch x := at.(type) {
	case []any:
		if key == "managedFields" {
			slices.SortStableFunc(x, byManager)
		}
		for i, item := range x {
			x[i] = n.value(item, key, parent)
		}
	case map[string]any:
		return n.object(x, key)
	case string:
		return n.field(x, key)
	}
	return at
}

func (n *normalizer) object(x map[string]any, parent string) any {
	mark := isMark(x)
	prefix, _ := x["generateName"].(string)
	for _, key := range slices.Sorted(maps.Keys(x)) { // sorted: uids are numbered as they appear
		value := x[key]
		name, _ := value.(string)
		switch {
		case uidText.MatchString(key): // as in managedFields
			delete(x, key)
			x[n.text(key)] = n.value(value, "", parent)
		case key == "metadata":
			x[key] = n.metadata(value, mark)
		case key == "name" && prefix != "" && name != prefix && strings.HasPrefix(name, prefix):
			x[key] = n.text(prefix) + "RANDOM"
		default:
			x[key] = n.value(value, key, parent)
		}
	}
	return x
}

// metadata rewrites the metadata of an object, or of a list if it is a mark.
func (n *normalizer) metadata(value any, mark bool) any {
	meta, ok := value.(map[string]any)
	if !ok {
		return value
	}
	if v, ok := version(meta["resourceVersion"]); ok {
		i, found := slices.BinarySearch(n.versions, v)
		switch {
		case !mark:
			meta["resourceVersion"] = fmt.Sprintf("v%d", i+1)
		case found:
			meta["resourceVersion"] = fmt.Sprintf("v%d or later", i+1)
		default:
			meta["resourceVersion"] = fmt.Sprintf("v%d or later", i)
		}
	}
	return n.object(meta, "metadata")
}

func (n *normalizer) field(text, key string) string {
	switch {
	case key == "continue" && text != "":
		return "TOKEN"
	case key == "cells" && elapsed.MatchString(text):
		return "AGE"
	}
	return n.text(text)
}

// text rewrites a text within a document.
func (n *normalizer) text(s string) string {
	s = n.names.Replace(s)
	s = timeText.ReplaceAllString(s, "TIME")
	s = versionIn.ReplaceAllStringFunc(s, func(said string) string { return digits.ReplaceAllString(said, "VERSION") })
	s = goType.ReplaceAllString(s, "${1}TYPE")
	s = dumped.ReplaceAllString(s, "${1}VERSION")
	s = versionOf.ReplaceAllString(s, "${1}(VERSION)")
	return uidText.ReplaceAllStringFunc(s, func(uid string) string {
		if n.uids[uid] == "" {
			n.uids[uid] = fmt.Sprintf("uid-%d", len(n.uids)+1)
		}
		return n.uids[uid]
	})
}

// printed rewrites what a command prints: the width of a column follows from what
// stands in it.
func (n *normalizer) printed(s string) string {
	s = n.text(s)
	s = versionKey.ReplaceAllString(s, "${1}VERSION")
	s = age.ReplaceAllString(s, "${1}AGE${2}")
	s = lineEnd.ReplaceAllString(s, "")
	s = retryTime.ReplaceAllString(s, "retry after TIME")
	return columns.ReplaceAllString(s, "  ")
}

// byManager orders entries of managedFields, which the server orders by time.
func byManager(a, b any) int {
	x, _ := a.(map[string]any)
	y, _ := b.(map[string]any)
	for _, key := range []string{"manager", "operation", "apiVersion", "subresource"} {
		if c := cmp.Compare(fmt.Sprint(x[key]), fmt.Sprint(y[key])); c != 0 {
			return c
		}
	}
	return 0
}
