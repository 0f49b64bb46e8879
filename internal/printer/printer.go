// Package printer writes events for people and for programs: text lines, JSON
// lines, YAML documents, names.
//
// A Printer turns one event into bytes and does nothing else: no I/O, no clock.
// Objects of kind Secret are redacted on the way, in every format.
package printer

import (
	"fmt"
	"slices"
	"time"

	"github.com/gocampus/hark/internal/diff"
	"github.com/gocampus/hark/internal/redact"
	"github.com/gocampus/hark/internal/text"
	"github.com/gocampus/hark/key"
	"github.com/gocampus/hark/watch"
)

// Schema names the documents that JSON and YAML write. A field may be added
// under the same name; one that goes or changes its meaning makes a new one.
const Schema = "hark.event/v1"

// Format is how events are written.
type Format string

// The formats, as the -o flag names them.
const (
	Text Format = "text"
	JSON Format = "json"
	YAML Format = "yaml"
	Name Format = "name"
)

// Formats are all formats, in the order in which help lists them.
func Formats() []Format { return []Format{Text, JSON, YAML, Name} }

// ParseFormat reads the value of an -o flag.
func ParseFormat(value string) (Format, error) {
	if slices.Contains(Formats(), Format(value)) {
		return Format(value), nil
	}
	return "", fmt.Errorf("unable to match a printer suitable for the output format %q, allowed formats are: text,json,yaml,name", value)
}

// Kind says what the object of an event is. The wire does not always tell:
// items of a list carry no kind.
type Kind struct{ Group, Version, Kind string }

// APIVersion returns group/version, or the version alone for the core group.
func (k Kind) APIVersion() string {
	if k.Group == "" {
		return k.Version
	}
	return k.Group + "/" + k.Version
}

// Event is what happened to one object.
type Event struct {
	// Time when the change was seen.
	Time time.Time
	Type watch.EventType
	// Cause of the event: it existed already, the watch or a list told.
	Cause watch.Cause
	Kind  Kind
	Key   key.Key
	// ResourceVersion of the newest state that is known.
	ResourceVersion string
	// Object and Old are the decoded states; they are needed only where Needs
	// says so, and the Printer may change them.
	Object, Old map[string]any
	// Deleting tells that the object is marked for deletion and still there: its
	// metadata.deletionTimestamp is set.
	Deleting bool
	// Err says why Object could not be decoded.
	Err error
	// Merged counts further changes that this event stands for: they came
	// faster than they could be printed.
	Merged int
}

// Options of a Printer. The zero value writes plain English text.
type Options struct {
	// Format; Text when empty.
	Format Format
	// Lang of descriptions; English when empty.
	Lang text.Lang
	// Diff adds the changed fields to a modification.
	Diff bool
	// Explain adds one sentence that says what the event means.
	Explain bool
	// Color marks event types in text. The type is written in any case.
	Color bool
	// ShowKind names the kind of each object in text.
	ShowKind bool
	// Kinds that are watched, as far as they are known: their names make a column.
	Kinds []Kind
}

// Printer writes events one after another. It is for one goroutine.
type Printer struct {
	options Options
	kinds   kindColumn
	written int // events so far: YAML puts a separator between documents
}

// New returns a Printer.
func New(options Options) *Printer {
	if options.Format == "" {
		options.Format = Text
	}
	if options.Lang == "" {
		options.Lang = text.English
	}
	return &Printer{options: options, kinds: newKindColumn(options)}
}

// ShowKinds lays the column of the kinds out anew, for the events from now on; see
// Options.
func (p *Printer) ShowKinds(show bool, kinds []Kind) {
	p.options.ShowKind, p.options.Kinds = show, kinds
	p.kinds = newKindColumn(p.options)
}

// Needs tells which decoded states Append reads for an event, so that nothing
// else is decoded. Of the event, type, cause and kind count.
func (p *Printer) Needs(event Event) (object, old bool) {
	old = event.Type == watch.EventModified && p.options.Diff
	switch p.options.Format {
	case JSON, YAML:
		return true, old
	case Text:
		return tellsStatus(event), old
	}
	return false, false
}

// Append appends event as it is to be printed, with its line ends.
func (p *Printer) Append(dst []byte, event Event) ([]byte, error) {
	first := p.written == 0
	p.written++
	if p.options.Format == Name {
		return appendName(dst, event), nil
	}
	changes := p.changes(event)
	switch p.options.Format {
	case JSON:
		return p.appendJSON(dst, event, changes)
	case YAML:
		if !first {
			dst = append(dst, "---\n"...)
		}
		return p.appendYAML(dst, event, changes)
	}
	return p.appendText(dst, event, changes), nil
}

// changes completes and redacts the states of event, and compares them where
// that was asked for.
func (p *Printer) changes(event Event) []diff.Change {
	complete(event.Object, event.Kind)
	complete(event.Old, event.Kind)
	secret := redact.Applies(event.Kind.Group, event.Kind.Kind)
	var changes []diff.Change
	if p.options.Diff && event.Type == watch.EventModified && event.Object != nil && event.Old != nil {
		if secret {
			redact.Pair(event.Old, event.Object)
		}
		changes = diff.Compare(event.Old, event.Object)
	}
	if secret && event.Object != nil {
		redact.Secret(event.Object)
	}
	return changes
}

// complete writes the apiVersion and kind that an item of a list lacks.
func complete(object map[string]any, kind Kind) {
	if object == nil {
		return
	}
	if object["apiVersion"] == nil {
		object["apiVersion"] = kind.APIVersion()
	}
	if object["kind"] == nil {
		object["kind"] = kind.Kind
	}
}
