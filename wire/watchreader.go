package wire

import (
	"errors"
	"io"
	"strings"
)

// initialEventsEnd is the annotation of the bookmark that ends the initial
// events of a streaming list.
const initialEventsEnd = "k8s.io/initial-events-end"

// WatchReader reads the events of one watch, in their order. It holds one frame
// in memory at a time. It is for one goroutine.
type WatchReader struct {
	frames frames
	keeper keeper
	frame  frame
	err    error // final
}

// frames finds the frames of a stream.
type frames interface {
	// next reads one frame into f.
	next(f *frame) error
	// release gives back what the stream's buffer holds.
	release(err error)
}

// NewWatchReader returns a reader of the body of a watch, in protobuf or JSON.
// It reads ahead; nobody else may read from r.
func NewWatchReader(r io.Reader, encoding Encoding, o Options) *WatchReader {
	w := &WatchReader{keeper: newKeeper(encoding, o)}
	switch encoding {
	case Protobuf:
		w.frames = &protobufFrames{window: window{r: r}, limit: o.limit()}
	case JSON:
		w.frames = newJSONFrames(r, o.limit())
	default:
		w.err = &Error{What: "unknown " + encoding.String()}
	}
	return w
}

// Next returns the next event. It returns io.EOF when the stream ends between
// two frames and an *Error otherwise. If the error's Object is true one frame
// was bad or over the limit, and the next call goes on after it; all other
// errors are final.
//
// An event of a type that is not known is returned with its Object if that can
// be read. An ERROR always has a Status; if the server's could not be read, its
// Message says so.
func (r *WatchReader) Next() (WatchEvent, error) {
	if r.err != nil {
		return WatchEvent{}, r.err
	}
	var e WatchEvent
	err := r.frames.next(&r.frame)
	if err == nil {
		e, err = r.event(&r.frame)
	}
	if r.keeper.forget(&r.frame); err == nil {
		return e, nil
	}
	if e, ok := errors.AsType[*Error](err); !ok || !e.Object {
		r.err = err
		r.frame = frame{}
		r.frames.release(err)
	}
	return WatchEvent{}, err
}

// event makes an event of a frame.
func (r *WatchReader) event(f *frame) (WatchEvent, error) {
	e := WatchEvent{Type: f.eventType}
	var err error
	switch e.Type {
	case "BOOKMARK":
		err = r.bookmark(f, &e)
	case "ERROR":
		e.Status = r.status(f)
	case "ADDED", "MODIFIED", "DELETED":
		e.Object, err = r.object(f)
	case "":
		err = &Error{Offset: f.began, What: "event has no type", Object: true}
	default:
		e.Object, _ = r.object(f)
	}
	return e, err
}

func (r *WatchReader) object(f *frame) (*Object, error) {
	if f.object == nil {
		return nil, &Error{Offset: f.began, What: f.eventType + " event has no object", Object: true}
	}
	return r.keeper.keep(f)
}

// bookmark reads the version of a bookmark and what it marks.
func (r *WatchReader) bookmark(f *frame, e *WatchEvent) error {
	if f.object == nil {
		return &Error{Offset: f.began, What: "BOOKMARK event has no object", Object: true}
	}
	m := sink{annotation: lookup{name: initialEventsEnd}}
	if err := scan(r.keeper.encoding, f.object, &m); err != nil {
		return moved(err, f.offset)
	}
	e.ResourceVersion = strings.Clone(m.ResourceVersion)
	e.InitialEventsEnd = m.annotation.value == "true"
	return nil
}

// status reads the Status of an ERROR. That the watch failed counts even when it
// cannot be read why.
func (r *WatchReader) status(f *frame) *Status {
	var status Status
	var err error
	switch {
	case f.object == nil:
		err = &Error{Offset: f.began, What: "ERROR event has no object"}
	case r.keeper.encoding == JSON:
		f.kind, err = scanStatusJSON(f.object, &status)
		err = moved(err, f.offset)
	case f.kind == statusKind:
		err = moved(scanStatusProtobuf(message{data: f.object}, &status), f.offset)
	}
	switch {
	case err != nil:
		return &Status{Message: "unreadable status: " + err.Error()}
	case f.kind != statusKind:
		return &Status{Message: "unreadable status: its kind is " + strings.Clone(f.kind)}
	}
	return status.detach()
}
