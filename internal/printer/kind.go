package printer

import (
	"strings"

	"github.com/gocampus/hark/internal/text"
)

// kindColumn is the column of a text line that names the kind. It is empty as
// long as one kind alone is watched.
type kindColumn map[Kind]string

// newKindColumn lays the column out for the kinds. Two kinds of one name, such
// as the Event of two groups, are told apart by their group.
func newKindColumn(kinds []Kind) kindColumn {
	if len(kinds) < 2 {
		return nil
	}
	sameName := make(map[string]int, len(kinds))
	for _, kind := range kinds {
		sameName[kind.Kind]++
	}
	column := make(kindColumn, len(kinds))
	width := 0
	for _, kind := range kinds {
		label := kind.Kind
		if sameName[kind.Kind] > 1 && kind.Group != "" {
			label += "." + kind.Group
		}
		column[kind] = label
		width = max(width, text.Width(label))
	}
	for kind, label := range column {
		column[kind] = text.Pad(label, width) + " "
	}
	return column
}

func (c kindColumn) append(dst []byte, kind Kind) []byte { return append(dst, c[kind]...) }

// appendName writes what kubectl writes with -o name: pod/tmp, deployment.apps/web.
func appendName(dst []byte, event Event) []byte {
	name := strings.ToLower(event.Kind.Kind)
	if event.Kind.Group != "" {
		name += "." + event.Kind.Group
	}
	dst = append(dst, text.Printable(name)...)
	dst = append(dst, '/')
	dst = append(dst, text.Printable(event.Key.Name)...)
	return append(dst, '\n')
}
