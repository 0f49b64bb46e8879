package printer

import (
	"encoding/json"
	"strings"

	"github.com/gocampus/hark/internal/diff"
	"github.com/gocampus/hark/internal/status"
	"github.com/gocampus/hark/internal/text"
	"github.com/gocampus/hark/watch"
)

// clock is how a line tells the time: local, to the second.
const clock = "15:04:05"

// verbs are the words of a line for the event types, and their colours. They
// are the same in all languages and equally long, so that keys stand in a column.
var verbs = map[watch.EventType]struct{ word, color string }{
	watch.EventAdded:    {"Added   ", "\x1b[32m"},
	watch.EventModified: {"Modified", "\x1b[33m"},
	watch.EventDeleted:  {"Deleted ", "\x1b[31m"},
}

const plainColor = "\x1b[0m"

// appendText writes [15:04:05] Modified default/tmp phase=Running.
func (p *Printer) appendText(dst []byte, event Event, changes []diff.Change) []byte {
	dst = append(dst, '[')
	dst = event.Time.AppendFormat(dst, clock)
	dst = append(dst, "] "...)
	dst = p.appendVerb(dst, event.Type)
	dst = append(dst, ' ')
	dst = p.kinds.append(dst, event.Kind)
	dst = append(dst, text.Printable(event.Key.String())...)
	if event.Type == watch.EventModified && event.Object != nil {
		if field := status.Of(event.Kind.Group, event.Kind.Kind, event.Object); field.Name != "" {
			dst = append(dst, ' ')
			dst = append(dst, text.Printable(field.String())...)
		}
	}
	if p.options.Explain {
		dst = append(dst, " ("...)
		dst = append(dst, p.describe(event)...)
		dst = append(dst, ')')
	}
	dst = append(dst, '\n')
	for _, change := range changes {
		dst = appendChange(dst, change)
	}
	return dst
}

func (p *Printer) describe(event Event) string {
	return watch.DescribeEvent(event.Type, event.Kind.Kind, string(p.options.Lang))
}

func (p *Printer) appendVerb(dst []byte, t watch.EventType) []byte {
	verb, known := verbs[t]
	switch {
	case !known:
		return append(dst, text.Pad(text.Printable(string(t)), len("Modified"))...)
	case p.options.Color:
		return append(append(append(dst, verb.color...), verb.word...), plainColor...)
	}
	return append(dst, verb.word...)
}

// valueCells bounds one value of a change on a line. A JSON document has the
// whole value.
const valueCells = 120

// appendChange writes one indented line. The sign says what happened to the
// field: ~ changed, + came, - went.
func appendChange(dst []byte, change diff.Change) []byte {
	line := "    ~ "
	switch change.Op {
	case diff.Added:
		line = "    + "
	case diff.Removed:
		line = "    - "
	}
	line += text.Printable(change.Path) + ": "
	switch change.Op {
	case diff.Added:
		line += value(change.New)
	case diff.Removed:
		line += value(change.Old)
	default:
		line += value(change.Old) + " → " + value(change.New)
	}
	return append(append(dst, line...), '\n')
}

// value writes a value as compact JSON on one line, shortened to valueCells.
func value(v any) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return "?" // only what is not JSON fails, and v was decoded from JSON
	}
	return text.Truncate(text.Printable(strings.TrimSuffix(b.String(), "\n")), valueCells)
}
