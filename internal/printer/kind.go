package printer

import (
	"strings"

	"github.com/gocampus/hark/internal/text"
)

// kindColumn is the column of a text line that names the kind.
type kindColumn struct {
	shown  bool
	labels map[Kind]string
	width  int
}

// newKindColumn lays the column out. Two kinds of one name, such as the Event of
// two groups, are told apart by their group.
func newKindColumn(o Options) kindColumn {
	c := kindColumn{shown: o.ShowKind, labels: make(map[Kind]string, len(o.Kinds))}
	sameName := make(map[string]int, len(o.Kinds))
	for _, kind := range o.Kinds {
		sameName[kind.Kind]++
	}
	for _, kind := range o.Kinds {
		label := kind.Kind
		if sameName[label] > 1 && kind.Group != "" {
			label += "." + kind.Group
		}
		c.labels[kind] = label
		c.width = max(c.width, text.Width(label))
	}
	return c
}

// append appends the column for an object of the kind. A kind that was not
// known when the column was laid out is written as it is.
func (c kindColumn) append(dst []byte, kind Kind) []byte {
	if !c.shown {
		return dst
	}
	label, known := c.labels[kind]
	if !known {
		label = kind.Kind
	}
	return append(append(dst, text.Pad(label, c.width)...), ' ')
}

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
