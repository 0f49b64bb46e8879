package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gocampus/hark/informer"
	"github.com/gocampus/hark/internal/redact"
	"github.com/gocampus/hark/key"
	"github.com/gocampus/hark/kube"
	"github.com/gocampus/hark/watch"
	"github.com/gocampus/hark/wire"
)

// Tap is one stream of a recording. Its methods are safe for concurrent use; the
// events of one object must come one after the other.
type Tap struct {
	recorder *Recorder
	stream   Stream
	index    int

	// Guarded by recorder.mu.
	state  map[key.Key]*wire.Object // what is true now, for the next part; nil without rotation
	waits  <-chan struct{}          // closed when all that existed was told; nil when that is recorded
	synced bool
	// announced tells that it is of Options.Streams and nobody has taken it yet.
	announced bool
}

// Handlers is what registers handlers: an *informer.Informer or a *kube.Shared.
type Handlers interface {
	Handle(func(informer.Event), informer.HandlerOptions) (*informer.Registration, error)
}

// waiting is how many events of an informer may wait for a Recorder that was
// attached before changes of one object are merged, which the recording tells.
const waiting = 1 << 14

// Attach records what an informer tells, from what exists now on: all that a
// program has to do beside running the Recorder. kind and o are those of the
// informer's source. The error is that of Handle.
func (r *Recorder) Attach(i Handlers, kind kube.Kind, o kube.SourceOptions) (*informer.Registration, error) {
	t := r.Tap(kind, o)
	known := make(chan struct{}) // registration is set
	var registration *informer.Registration
	first := sync.OnceFunc(func() {
		<-known
		t.Await(registration.Synced())
	})
	registration, err := i.Handle(func(e informer.Event) {
		first()
		t.Record(time.Now(), e)
	}, informer.HandlerOptions{Name: "record", Every: waiting})
	if err != nil {
		return nil, err
	}
	close(known)
	first()
	return registration, nil
}

// Await tells what is closed when all that existed was told, such as
// informer.Registration.Synced; else say it yourself with Synced.
func (t *Tap) Await(synced <-chan struct{}) {
	t.recorder.mu.Lock()
	defer t.recorder.mu.Unlock()
	t.waits = synced
}

// Synced records that all that existed has been told.
func (t *Tap) Synced() {
	t.recorder.mu.Lock()
	defer t.recorder.mu.Unlock()
	t.noteSynced(time.Now())
}

func (t *Tap) noteSynced(at time.Time) {
	if t.synced {
		return
	}
	t.synced, t.waits = true, nil
	t.recorder.append(&line{Record: syncedLine, Time: at, Stream: &t.index})
}

// noteSynced records of streams that are quiet that all has been told.
func (r *Recorder) noteSynced() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range r.taps {
		t.checkSynced(time.Now())
	}
}

// checkSynced records that all that existed was told, once that is so. The caller
// holds the recorder's mu.
func (t *Tap) checkSynced(at time.Time) {
	if t.waits == nil {
		return
	}
	select {
	case <-t.waits:
		t.noteSynced(at)
	default:
	}
}

// Record records what a handler was told at a time. A replay of what is known
// (watch.CauseResync) is none of it.
func (t *Tap) Record(at time.Time, e informer.Event) {
	if e.Cause == watch.CauseResync {
		return
	}
	r := t.recorder
	select {
	case <-r.failed:
		return
	default:
	}
	l := t.line(eventLine, e.Key, e.Object())
	l.Time, l.Type, l.Cause = at, string(e.Type), e.Cause.String()
	l.FinalStateUnknown, l.Merged = e.FinalStateUnknown, e.Merged
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failure != nil {
		return
	}
	t.checkSynced(at)
	r.stats.Events++
	t.remember(e)
	r.append(l)
}

// remember keeps what the next part begins with. The caller holds recorder.mu.
func (t *Tap) remember(e informer.Event) {
	if t.recorder.options.MaxSize <= 0 {
		return
	}
	if t.state == nil {
		t.state = map[key.Key]*wire.Object{}
	}
	if e.Type == watch.EventDeleted {
		delete(t.state, e.Key)
	} else {
		t.state[e.Key] = e.New
	}
}

// line returns the line for an object, nil where none is known.
func (t *Tap) line(record string, k key.Key, object *wire.Object) *line {
	l := &line{Record: record, Stream: &t.index, Namespace: k.Namespace, Name: k.Name}
	if object == nil {
		return l
	}
	l.ResourceVersion = object.ResourceVersion()
	document, err := t.recorder.document(t.stream.Kind, object)
	if err != nil {
		l.Error = err.Error()
		document = bare(t.stream.Kind, object)
	}
	l.Object = document
	return l
}

// document returns an object as it is recorded.
func (r *Recorder) document(kind kube.Kind, object *wire.Object) ([]byte, error) {
	document, err := kind.JSON(object)
	if err != nil {
		return nil, err
	}
	secret := redact.Applies(kind.GVK.Group, kind.GVK.Kind)
	if secret || len(r.paths) > 0 {
		if document, err = r.redacted(document, secret); err != nil {
			return nil, fmt.Errorf("redact %s: %w", object, err)
		}
	}
	if len(document) > wire.DefaultMaxObject {
		return nil, fmt.Errorf("%s is %d bytes long, more than the limit of %d", object, len(document), wire.DefaultMaxObject)
	}
	return document, nil
}

// redacted hides what is to be hidden. What has nothing of it stays as it is.
func (r *Recorder) redacted(document []byte, secret bool) ([]byte, error) {
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.UseNumber() // numbers stay as they are
	var decoded map[string]any
	if err := decoder.Decode(&decoded); err != nil {
		return nil, errors.New("it is not a JSON object") // whose text the error might show
	}
	if secret {
		r.marker.Secret(decoded)
	}
	if !r.marker.Paths(decoded, r.paths) && !secret {
		return document, nil
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(decoded)
	return bytes.TrimSuffix(out.Bytes(), []byte{'\n'}), err
}

// bare is an object of which nothing is known but what identifies it.
func bare(kind kube.Kind, object *wire.Object) []byte {
	type metadata struct {
		Namespace       string `json:"namespace,omitempty"`
		Name            string `json:"name"`
		UID             string `json:"uid,omitempty"`
		ResourceVersion string `json:"resourceVersion,omitempty"`
	}
	// Strings always encode.
	document, _ := json.Marshal(struct {
		APIVersion string   `json:"apiVersion"`
		Kind       string   `json:"kind"`
		Metadata   metadata `json:"metadata"`
	}{
		kind.GVK.GroupVersion().String(), kind.GVK.Kind,
		metadata{object.Key().Namespace, object.Key().Name, object.UID(), object.ResourceVersion()},
	})
	return document
}
