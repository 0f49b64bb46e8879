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
	dst = appendStatus(dst, event)
	if p.options.Explain {
		dst = append(dst, " ("...)
		dst = append(dst, p.describe(event)...)
		dst = append(dst, ')')
	}
	dst = append(dst, '\n')
	for _, change := range changes {
		dst = AppendChange(dst, change)
	}
	return dst
}

// appendStatus writes " phase=Running", and " deleting" for an object that is
// marked for deletion.
func appendStatus(dst []byte, event Event) []byte {
	if event.Object != nil && tellsStatus(event) {
		if said := status.Of(event.Kind.Group, event.Kind.Kind, event.Object); said != "" {
			dst = append(dst, ' ')
			dst = append(dst, text.Truncate(text.Printable(said), statusCells)...)
		}
	}
	if dying(event) {
		dst = append(dst, " deleting"...)
	}
	return dst
}

// statusCells bounds the status on a line: the message of an Event can be long.
const statusCells = 240

// tellsStatus tells whether a line has the status of the object. A modification
// has it. What is added has none, in the form of the chapter: a new object has
// nothing to tell yet. But the states of what existed already are news, except
// for pods, whose line is the chapter's; and an Event is nothing but its message.
func tellsStatus(event Event) bool {
	switch event.Type {
	case watch.EventModified:
		return true
	case watch.EventAdded:
		switch event.Kind.Group + "/" + event.Kind.Kind {
		case "/Event", "events.k8s.io/Event":
			return true
		case "/Pod":
			return false
		}
		return event.Cause == watch.CauseInitial
	}
	return false
}

// dying tells whether an object is marked for deletion and not gone yet.
func dying(event Event) bool { return event.Deleting && event.Type != watch.EventDeleted }

// describe says in a sentence what event means. A change is described in the
// words of the chapter; what existed already is not called new.
func (p *Printer) describe(event Event) string {
	sentence := watch.DescribeEvent(event.Type, event.Kind.Kind, string(p.options.Lang))
	if event.Type == watch.EventAdded && event.Cause == watch.CauseInitial {
		sentence = p.options.Lang.Say(text.ExistedAlready, "kind", event.Kind.Kind)
	}
	if dying(event) {
		sentence += p.options.Lang.Say(text.BeingDeleted)
	}
	return sentence
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

// AppendChange writes one indented line for people. The sign says what happened to the
// field: ~ changed, + came, - went.
func AppendChange(dst []byte, change diff.Change) []byte {
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
