package printer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/gocampus/hark/internal/diff"
)

// document is an event for programs. The order of its fields is the order in
// which they are written.
type document struct {
	Schema          string         `json:"schema"`
	Time            string         `json:"time"` // RFC 3339 with nanoseconds, in UTC
	Type            string         `json:"type"`
	Cause           string         `json:"cause"`
	Description     string         `json:"description,omitempty"` // with --explain
	APIVersion      string         `json:"apiVersion"`
	Kind            string         `json:"kind"`
	Namespace       string         `json:"namespace,omitempty"`
	Name            string         `json:"name"`
	ResourceVersion string         `json:"resourceVersion"`
	Object          map[string]any `json:"object"` // null when it cannot be decoded
	Error           string         `json:"error,omitempty"`
	Merged          int            `json:"merged,omitempty"`
	Changes         *[]diff.Change `json:"changes,omitempty"` // with --diff, for MODIFIED
}

func (p *Printer) document(event Event, changes []diff.Change) document {
	d := document{
		Schema:          Schema,
		Time:            event.Time.UTC().Format(time.RFC3339Nano),
		Type:            string(event.Type),
		Cause:           event.Cause.String(),
		APIVersion:      event.Kind.APIVersion(),
		Kind:            event.Kind.Kind,
		Namespace:       event.Key.Namespace,
		Name:            event.Key.Name,
		ResourceVersion: event.ResourceVersion,
		Object:          event.Object,
		Merged:          event.Merged,
	}
	if p.options.Explain {
		d.Description = p.describe(event)
	}
	if event.Err != nil {
		d.Error = event.Err.Error()
	}
	if p.options.Diff && event.Old != nil && event.Object != nil {
		if changes == nil {
			changes = []diff.Change{}
		}
		d.Changes = &changes
	}
	return d
}

// appendJSON writes one line.
func (p *Printer) appendJSON(dst []byte, event Event, changes []diff.Change) ([]byte, error) {
	buffer := bytes.NewBuffer(dst)
	encoder := json.NewEncoder(buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(p.document(event, changes)); err != nil {
		return dst, fmt.Errorf("printer: %s: %w", event.Key, err)
	}
	return buffer.Bytes(), nil
}
