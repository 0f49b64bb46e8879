package httpapi

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/gocampus/hark/harktest/internal/feed"
	"github.com/gocampus/hark/harktest/internal/object"
	"github.com/gocampus/hark/harktest/internal/service"
)

// serveFeed answers for a resource whose objects are made as they are sent.
func (h *Handler) serveFeed(w http.ResponseWriter, r *http.Request, info Info, t service.Target, f *feed.Feed) {
	o, err := listOptions(r)
	if err == nil {
		err = feedServes(info, o)
	}
	if err == nil {
		err = h.refuseStreamingList(o)
	}
	if err != nil {
		h.fail(w, r, err)
		return
	}
	if info.Verb == "list" {
		h.listFeed(w, r, t, o, f)
		return
	}
	metainternal.SetListOptionsDefaults(&o, !h.options.NoStreamingLists)
	h.watchFeed(w, r, t, o, f)
}

// feedServes refuses what a feed does not do.
func feedServes(info Info, o service.ListOptions) error {
	switch {
	case info.Verb != "list" && info.Verb != "watch":
		return noMethod()
	case info.Namespace != "" || info.Name != "" || o.LabelSelector != nil && !o.LabelSelector.Empty() || o.FieldSelector != nil && !o.FieldSelector.Empty():
		return service.BadRequest("a feed has no selection")
	}
	return nil
}

// feedMedia agrees on objects as they are.
func feedMedia(m media, err error) (media, error) {
	if err == nil && m.form != asWhole {
		err = notAcceptable([]string{object.MediaJSON, object.MediaProtobuf})
	}
	return m, err
}

// watchFeed sends a feed's objects and then its changes, until the watch ends.
func (h *Handler) watchFeed(w http.ResponseWriter, r *http.Request, t service.Target, o service.ListOptions, f *feed.Feed) {
	m, err := feedMedia(negotiateStream(r, t.Kind))
	if err != nil {
		h.fail(w, r, err)
		return
	}
	initial := o.SendInitialEvents != nil && *o.SendInitialEvents || o.ResourceVersion == "" || o.ResourceVersion == "0"
	s := &feedStream{
		stream: stream{framer: framer{request: r, kind: t.Kind, media: m}, w: w, control: http.NewResponseController(w)},
		feed:   f, bookmarks: o.AllowWatchBookmarks,
	}
	s.begin()
	if !initial {
		version, err := strconv.ParseUint(o.ResourceVersion, 10, 64)
		seen, ok := f.Since(version)
		if err != nil || !ok {
			s.error(statusOf(apierrors.NewResourceExpired("too old resource version: " + o.ResourceVersion)))
			return
		}
		s.sent = seen
	} else if !s.objects(o.SendInitialEvents != nil) {
		return
	}
	clock := newWatchClock(&h.options, o)
	defer clock.stop()
	s.follow(clock, h.watchesEnd())
}

// feedStream is one watch of a feed.
type feedStream struct {
	stream
	feed      *feed.Feed
	bookmarks bool // wanted
	sent      int  // changes
	space     []byte
}

// objects sends the first objects, and the bookmark that ends them where it is
// asked for.
func (s *feedStream) objects(marksEnd bool) bool {
	for n := range s.feed.Objects() {
		s.space = s.feed.AppendObject(s.space[:0], n, s.media.protobuf())
		if !s.send(watch.Added, s.space) {
			return false
		}
	}
	return !marksEnd || !s.bookmarks || s.mark(true)
}

func (s *feedStream) send(t watch.EventType, raw []byte) bool {
	s.buffer = s.appendEncoded(s.buffer, t, raw)
	return s.wrote(nil)
}

func (s *feedStream) mark(end bool) bool {
	frame, err := s.appendBookmark(s.buffer, s.feed.Version(s.sent), end)
	s.buffer = frame
	return s.wrote(err)
}

// follow sends changes as they happen.
func (s *feedStream) follow(clock watchClock, ends <-chan struct{}) {
	for {
		changes, wake := s.feed.Changes()
		for s.sent < changes {
			s.space = s.feed.AppendChange(s.space[:0], s.sent, s.media.protobuf())
			if s.sent++; !s.send(watch.Modified, s.space) {
				return
			}
		}
		if !s.flush() {
			return
		}
		select {
		case <-wake:
			continue
		case <-clock.bookmarks.C:
		case <-clock.farewell.C:
		case <-s.feed.Gone():
			return
		case <-ends:
			return
		case <-clock.deadline.C:
			return
		case <-s.request.Context().Done():
			return
		}
		if s.bookmarks && !s.mark(false) {
			return
		}
	}
}

// listFeed answers with the first objects, or a page of them.
func (h *Handler) listFeed(w http.ResponseWriter, r *http.Request, t service.Target, o service.ListOptions, f *feed.Feed) {
	m, err := feedMedia(negotiateList(r, t.Kind))
	first, last := 0, f.Objects()
	if err == nil && o.Continue != "" {
		if first, err = strconv.Atoi(o.Continue); err != nil || first < 0 || first > last {
			err = service.BadRequest("continue key is not valid")
		}
	}
	if err != nil {
		h.fail(w, r, err)
		return
	}
	meta := metav1.ListMeta{ResourceVersion: strconv.FormatUint(f.Version(0), 10)}
	if o.Limit > 0 && o.Limit < int64(last-first) {
		remaining := int64(last-first) - o.Limit
		last = first + int(o.Limit)
		meta.Continue, meta.RemainingItemCount = strconv.Itoa(last), &remaining
	}
	w.Header().Set("Content-Type", m.contentType())
	w.Header().Set("Cache-Control", "no-cache, private")
	w.WriteHeader(http.StatusOK)
	l := feedList{out: bufio.NewWriterSize(w, writeAbove), feed: f, target: t, meta: meta, first: first, last: last}
	// Whatever fails now is a client that went away.
	if m.protobuf() {
		_ = l.writeProtobuf()
	} else {
		_ = l.writeJSON()
	}
	_ = l.out.Flush()
}

// feedList is one page of a list of a feed.
type feedList struct {
	out         *bufio.Writer
	feed        *feed.Feed
	target      service.Target
	meta        metav1.ListMeta
	first, last int
}

func (l *feedList) writeJSON() error {
	meta, err := json.Marshal(l.meta)
	if err != nil {
		return err
	}
	gvk := listKind(l.target.Kind)
	_, _ = io.WriteString(l.out, `{"kind":"`+gvk.Kind+`","apiVersion":"`+gvk.GroupVersion().String()+`","metadata":`+string(meta)+`,"items":[`)
	var raw []byte
	for n := l.first; n < l.last; n++ {
		if n > l.first {
			_ = l.out.WriteByte(',')
		}
		raw = l.feed.AppendObject(raw[:0], n, false)
		if _, err := l.out.Write(raw); err != nil {
			return err
		}
	}
	_, err = io.WriteString(l.out, "]}\n")
	return err
}

// writeProtobuf makes every object twice: the length of the whole comes first.
func (l *feedList) writeProtobuf() error {
	meta, err := l.meta.Marshal()
	if err != nil {
		return err
	}
	var raw []byte
	size := protowire.SizeTag(1) + protowire.SizeBytes(len(meta))
	for n := l.first; n < l.last; n++ {
		raw = l.feed.AppendObject(raw[:0], n, true)
		size += protowire.SizeTag(2) + protowire.SizeBytes(len(raw))
	}
	prefix := object.Envelope(nil, listKind(l.target.Kind), size)
	prefix = protowire.AppendBytes(protowire.AppendTag(prefix, 1, protowire.BytesType), meta)
	_, _ = l.out.Write(prefix)
	for n := l.first; n < l.last; n++ {
		raw = l.feed.AppendObject(raw[:0], n, true)
		prefix = protowire.AppendVarint(protowire.AppendTag(prefix[:0], 2, protowire.BytesType), uint64(len(raw)))
		_, _ = l.out.Write(prefix)
		if _, err := l.out.Write(raw); err != nil {
			return err
		}
	}
	_, err = io.WriteString(l.out, protobufTail)
	return err
}
