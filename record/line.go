package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gocampus/hark/key"
	"github.com/gocampus/hark/watch"
	"github.com/gocampus/hark/wire"
)

// The kinds of line. Others are skipped: they may be added under the same schema.
const (
	headerLine  = "header"
	newStream   = "stream"
	eventLine   = "event"
	stateLine   = "state"  // an event of a part before, told again
	syncedLine  = "synced" // of a stream: what existed is complete
	endLine     = "end"    // the recording was ended in good order
	rotatedLine = "next"   // it goes on in the next part
)

// line is one line of a recording.
type line struct {
	Schema string    `json:"schema"`
	Record string    `json:"record"`
	Time   time.Time `json:"time"`

	// Of a header.
	ID       string       `json:"id,omitempty"`
	Part     int          `json:"part,omitempty"`
	Server   string       `json:"server,omitempty"`
	Redacted []string     `json:"redacted,omitempty"`
	Streams  []streamLine `json:"streams,omitempty"`

	// Of a new stream; the others name their stream by its index.
	New    *streamLine `json:"new,omitempty"`
	Stream *int        `json:"stream,omitempty"`

	// Of an event.
	Type              string          `json:"type,omitempty"`
	Cause             string          `json:"cause,omitempty"`
	Namespace         string          `json:"namespace,omitempty"`
	Name              string          `json:"name,omitempty"`
	ResourceVersion   string          `json:"resourceVersion,omitempty"`
	FinalStateUnknown bool            `json:"finalStateUnknown,omitempty"`
	Merged            int             `json:"merged,omitempty"`
	Error             string          `json:"error,omitempty"`
	Object            json.RawMessage `json:"object,omitempty"`
}

// appendTo appends the line and its line feed.
func (l *line) appendTo(dst []byte) ([]byte, error) {
	l.Schema = Schema
	buffer := bytes.NewBuffer(dst)
	encoder := json.NewEncoder(buffer)
	encoder.SetEscapeHTML(false) // objects stay as they are
	if err := encoder.Encode(l); err != nil {
		return dst, err
	}
	return buffer.Bytes(), nil
}

// parseLine reads one line, without its line feed.
func parseLine(raw []byte) (*line, error) {
	var l line
	if err := json.Unmarshal(raw, &l); err != nil {
		return nil, err
	}
	switch {
	case l.Schema == Schema:
		return &l, nil
	case strings.HasPrefix(l.Schema, "hark.record/"):
		return nil, fmt.Errorf("the schema is %s, which only a newer version can read; this one reads %s", l.Schema, Schema)
	}
	return nil, errNotRecording
}

var errNotRecording = errors.New("it is not a recording of hark")

// event returns what a line of an event says. It needs to know the number of streams.
func (l *line) event(streams int) (Event, error) {
	e := Event{
		Time: l.Time, Type: watch.EventType(l.Type), Key: key.Key{Namespace: l.Namespace, Name: l.Name},
		FinalStateUnknown: l.FinalStateUnknown, Merged: l.Merged, Err: l.Error,
	}
	switch {
	case l.Stream == nil || *l.Stream < 0 || *l.Stream >= streams:
		return Event{}, errors.New("the event is of a stream that is not there")
	case e.Type != watch.EventAdded && e.Type != watch.EventModified && e.Type != watch.EventDeleted:
		return Event{}, fmt.Errorf("there is no event type %q", l.Type)
	case e.Key.Name == "":
		return Event{}, errors.New("the event has no name")
	}
	e.Stream = *l.Stream
	var err error
	if e.Cause, err = causeOf(l.Cause); err != nil {
		return Event{}, err
	}
	if l.Object == nil || bytes.Equal(l.Object, []byte("null")) {
		if e.Type != watch.EventDeleted {
			return Event{}, errors.New("the event has no object")
		}
		return e, nil
	}
	e.Object, err = wire.NewObject(wire.JSON, l.Object)
	switch {
	case err != nil:
		return Event{}, err
	case e.Object.Key() != e.Key:
		return Event{}, fmt.Errorf("the event is of %s and its object is %s", e.Key, e.Object.Key())
	}
	return e, nil
}

// causeOf reads what Cause.String writes.
func causeOf(text string) (watch.Cause, error) {
	for _, cause := range [...]watch.Cause{watch.CauseInitial, watch.CauseWatch, watch.CauseRelist} {
		if cause.String() == text {
			return cause, nil
		}
	}
	return 0, fmt.Errorf("there is no cause %q", text)
}
