package httpapi

import (
	"errors"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/gocampus/hark/harktest/internal/kind"
	"github.com/gocampus/hark/harktest/internal/service"
)

func (h *Handler) watch(w http.ResponseWriter, r *http.Request, t service.Target, effects []effect) {
	o, err := listOptions(r)
	if err == nil {
		err = h.refuseStreamingList(o)
	}
	metainternal.SetListOptionsDefaults(&o, !h.options.NoStreamingLists)
	if err != nil {
		h.fail(w, r, err)
		return
	}
	m, err := negotiateStream(r, t.Kind)
	if err != nil {
		h.fail(w, r, err)
		return
	}
	if t.Name != "" { // the old form of a path, /watch/…/NAME
		o.FieldSelector = fields.OneTermEqualSelector("metadata.name", t.Name)
	}
	if readAhead(r) != nil { // no watch has a body, but a client may send one
		return
	}
	changes, err := h.service.Watch(t, o, h.options.WatchLag)
	if err != nil && !inStream(err) {
		h.fail(w, r, err)
		return
	}
	s := &stream{
		framer: framer{request: r, kind: t.Kind, media: m}, w: w, control: http.NewResponseController(w), effects: newEventEffects(effects),
	}
	s.begin()
	if err != nil {
		s.error(statusOf(err))
		return
	}
	h.follow(r, t.Kind, changes, o, s)
}

// inStream tells whether a watch's error is sent as an event: those that have to
// do with the version are.
func inStream(err error) bool { return apierrors.IsResourceExpired(err) || apierrors.IsTimeout(err) }

// refuseStreamingList answers as a server without the feature does.
func (h *Handler) refuseStreamingList(o metainternal.ListOptions) error {
	if !h.options.NoStreamingLists || o.SendInitialEvents == nil {
		return nil
	}
	return apierrors.NewInvalid(metav1.SchemeGroupVersion.WithKind("ListOptions").GroupKind(), "", field.ErrorList{
		field.Forbidden(field.NewPath("sendInitialEvents"), "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled"),
	})
}

// follow sends the events of a watch until it ends.
func (h *Handler) follow(r *http.Request, k *kind.Kind, changes *service.Watch, o metainternal.ListOptions, s *stream) {
	ends := h.watchesEnd()
	clock := newWatchClock(&h.options, o)
	defer clock.stop()
	if !s.interrupted() || !s.initial(changes) {
		return
	}
	bookmark, last := false, false
	for {
		batch, err := changes.Poll()
		if err != nil || isClosed(ends) || !s.events(batch.Events) {
			return
		}
		if batch.Wake == nil {
			continue
		}
		// A watch from the future is silent until the server gets there.
		if bookmark && o.AllowWatchBookmarks && batch.Version > 0 && !s.bookmark(batch.Version) {
			return
		}
		if !s.flush() || last {
			return
		}
		bookmark = false
		select {
		case <-batch.Wake:
		case <-clock.bookmarks.C:
			bookmark = true
		case <-clock.farewell.C:
			bookmark = true
		case <-k.Gone():
			last = true // what happened before is sent yet
		case <-ends:
			return
		case <-clock.deadline.C:
			return
		case <-r.Context().Done():
			return
		}
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// watchClock says when a watch sends bookmarks and when it ends.
type watchClock struct {
	bookmarks *time.Ticker
	farewell  *time.Timer // the last bookmark, shortly before the end
	deadline  *time.Timer
}

// bookmarkLead is how long before its timeout a watch sends a last bookmark.
const bookmarkLead = 2 * time.Second

func newWatchClock(options *Options, o metainternal.ListOptions) watchClock {
	timeout := options.WatchTimeout
	if o.TimeoutSeconds != nil && *o.TimeoutSeconds > 0 {
		timeout = time.Duration(*o.TimeoutSeconds) * time.Second
	}
	c := watchClock{
		bookmarks: time.NewTicker(options.BookmarkInterval),
		farewell:  time.NewTimer(timeout - bookmarkLead),
		deadline:  time.NewTimer(timeout),
	}
	if timeout <= bookmarkLead {
		c.farewell.Stop()
	}
	return c
}

func (c watchClock) stop() {
	c.bookmarks.Stop()
	c.farewell.Stop()
	c.deadline.Stop()
}

// stream writes the events of one watch. Its methods return false when the
// watch is over.
type stream struct {
	framer
	w       http.ResponseWriter
	control *http.ResponseController
	effects eventEffects
	buffer  []byte
	seen    int // events come by, for faults that begin after some
}

// writeAbove is how many bytes are gathered before they are written.
const writeAbove = 64 << 10

func (s *stream) begin() {
	s.w.Header().Set("Content-Type", s.media.streamType())
	s.w.Header().Set("Cache-Control", "no-cache, private")
	s.w.WriteHeader(http.StatusOK)
	_ = s.control.Flush()
}

func (s *stream) initial(changes *service.Watch) bool {
	records, version, marksEnd := changes.Initial()
	if !s.effects.noInitial {
		for _, record := range records {
			if !s.event(service.Event{Type: watch.Added, Version: record.Value}) {
				return false
			}
		}
	}
	if !marksEnd || s.effects.noInitialEnd || s.effects.noBookmarks {
		return true
	}
	frame, err := s.appendBookmark(s.buffer, version, true)
	s.buffer = frame
	return s.wrote(err)
}

func (s *stream) events(events []service.Event) bool {
	for _, e := range events {
		if !s.event(e) {
			return false
		}
	}
	return true
}

// event writes one event, as the faults make it.
func (s *stream) event(e service.Event) bool {
	for _, copied := range s.effects.expand(s.seen, e) {
		start := len(s.buffer)
		frame, err := s.appendEvent(s.buffer, copied.Type, copied.Version)
		if err != nil {
			return s.wrote(err)
		}
		s.buffer = frame
		s.spoil(start)
		if !s.wrote(nil) {
			return false
		}
	}
	s.seen++
	return s.interrupted()
}

func (s *stream) bookmark(version uint64) bool {
	if s.effects.noBookmarks {
		return true
	}
	frame, err := s.appendBookmark(s.buffer, version, false)
	s.buffer = frame
	return s.wrote(err)
}

func (s *stream) error(status *metav1.Status) {
	frame, err := s.appendError(s.buffer, status)
	s.buffer = frame
	if s.wrote(err) {
		s.flush()
	}
}

// wrote writes what has gathered once it is much. An object that does not
// encode ends the watch with an error event.
func (s *stream) wrote(err error) bool {
	if err != nil {
		if frame, failed := s.appendError(s.buffer, statusOf(err)); failed == nil {
			s.buffer = frame
		}
		s.flush()
		return false
	}
	if len(s.buffer) < writeAbove {
		return true
	}
	return s.write()
}

func (s *stream) write() bool {
	if len(s.buffer) == 0 {
		return true
	}
	_, err := s.w.Write(s.buffer)
	s.buffer = s.buffer[:0]
	return err == nil
}

func (s *stream) flush() bool {
	if len(s.buffer) == 0 {
		return true
	}
	if !s.write() {
		return false
	}
	err := s.control.Flush()
	return err == nil || errors.Is(err, http.ErrNotSupported)
}
