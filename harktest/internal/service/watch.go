package service

import (
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	internalvalidation "k8s.io/apimachinery/pkg/apis/meta/internalversion/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/gocampus/hark/harktest/internal/mvcc"
	"github.com/gocampus/hark/harktest/internal/object"
	"github.com/gocampus/hark/key"
)

// Event is what a watch delivers.
type Event struct {
	Type    watch.EventType
	Version *object.Version
}

// Watch reads the changes of the objects that it selects. It is for one goroutine.
type Watch struct {
	selection selection
	cursor    *mvcc.Cursor[*object.Version]
	// initial are the objects to be sent first.
	initial []*Record
	// marksEnd tells that a bookmark must end the initial events.
	marksEnd bool
	// at is the version that the initial events show.
	at uint64
}

// Watch opens a watch as the options ask. lag bounds how many unread events the
// watch may leave behind, 0 for as many as are kept. A version that is too old is
// answered by an error of code 410, which a server sends as an event.
func (s *Service) Watch(t Target, o ListOptions, lag int) (*Watch, error) {
	if errs := internalvalidation.ValidateListOptions(&o, true); len(errs) > 0 {
		return nil, apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: "ListOptions"}, "", errs)
	}
	sel, err := newSelection(t, o)
	if err != nil {
		return nil, err
	}
	version, err := parseVersion(o.ResourceVersion)
	if err != nil {
		return nil, err
	}
	w := &Watch{selection: sel}
	streaming := o.SendInitialEvents != nil && *o.SendInitialEvents
	switch {
	case streaming:
		w.marksEnd = o.AllowWatchBookmarks
		return w, w.startWithState(s, t, version, lag)
	case o.SendInitialEvents == nil && version == 0:
		return w, w.startWithState(s, t, 0, lag)
	case version == 0:
		_, w.cursor = s.store.WatchNewest(t.Kind.Storage(), lag)
		return w, nil
	}
	if w.cursor, err = s.store.Watch(t.Kind.Storage(), version, lag); err != nil {
		return nil, versionError(err)
	}
	return w, nil
}

func (w *Watch) startWithState(s *Service, t Target, version uint64, lag int) error {
	snapshot, cursor := s.store.WatchNewest(t.Kind.Storage(), lag)
	if version > snapshot.Version {
		return tooLarge(version, snapshot.Version)
	}
	for record := range snapshot.All(w.selection.namespace, key.Key{}) {
		if w.selection.matches(record) {
			w.initial = append(w.initial, record)
		}
	}
	w.cursor, w.at = cursor, snapshot.Version
	return nil
}

// Initial returns the objects to be sent first, the version that they show, and
// whether a bookmark must end them.
func (w *Watch) Initial() (records []*Record, version uint64, marksEnd bool) {
	return w.initial, w.at, w.marksEnd
}

// Batch is a number of events and what is known after them.
type Batch struct {
	Events []Event
	// Version up to which the watch has seen everything.
	Version uint64
	// Wake is closed at the next change; nil when there may be more to read now.
	Wake <-chan struct{}
}

// pollLimit bounds the events of one batch.
const pollLimit = 512

// Poll returns the next events without blocking. An error means that the watch
// was too slow or that the store was renumbered: it must be closed.
func (w *Watch) Poll() (Batch, error) {
	w.initial = nil
	read, err := w.cursor.Poll(pollLimit)
	if err != nil {
		return Batch{}, err
	}
	batch := Batch{Version: read.Version, Wake: read.Wake, Events: make([]Event, 0, len(read.Events))}
	for i := range read.Events {
		if event, ok := w.selection.see(&read.Events[i]); ok {
			batch.Events = append(batch.Events, event)
		}
	}
	return batch, nil
}

// see turns a change into what a watch with a selection sees of it: an object
// that begins to match is added, one that ceases to match is deleted.
func (sel *selection) see(e *mvcc.Event[*object.Version]) (Event, bool) {
	if sel.namespace != "" && e.Current.Key.Namespace != sel.namespace {
		return Event{}, false
	}
	before := e.Prev != nil && (sel.empty() || sel.matches(e.Prev))
	after := e.Type != mvcc.Deleted && (sel.empty() || sel.matches(e.Current))
	switch {
	case before && after:
		return Event{watch.Modified, e.Current.Value}, true
	case after:
		return Event{watch.Added, e.Current.Value}, true
	case before && e.Type == mvcc.Deleted:
		return Event{watch.Deleted, e.Current.Value}, true
	case before:
		version := strconv.FormatUint(e.Version(), 10)
		return Event{watch.Deleted, e.Prev.Value.Restamped(version)}, true
	}
	return Event{}, false
}
