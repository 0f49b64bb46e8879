package httpapi

import (
	"net/http"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"github.com/gocampus/hark/harktest/internal/fault"
	"github.com/gocampus/hark/harktest/internal/feed"
	"github.com/gocampus/hark/harktest/internal/kind"
	"github.com/gocampus/hark/harktest/internal/service"
)

// Options of a Handler.
type Options struct {
	// BookmarkInterval between bookmarks on a quiet watch. It must be positive.
	BookmarkInterval time.Duration
	// WatchTimeout ends a watch that asked for no timeout. It must be positive.
	WatchTimeout time.Duration
	// WatchLag is how many events a watch may leave unread; 0 is no other bound
	// than the history.
	WatchLag int
	// NoCompression leaves large lists uncompressed whatever clients accept.
	NoCompression bool
	// NoStreamingLists refuses sendInitialEvents, as servers before 1.32 did.
	NoStreamingLists bool
	// Version is the answer to /version.
	Version version.Info
	// Faults to carry out.
	Faults *fault.Set
	// Feeds answer for their resources instead of the service. Nil means none.
	Feeds *feed.Set
	// Record is called when a request arrives. What it returns is called with the
	// status code when the answer begins, and with ended when it is over; the code
	// is 0 when there was none. All calls are made by the goroutine that serves the request.
	Record func(r *http.Request, info Info) func(code int, ended bool)
}

// Handler serves the API. It is safe for concurrent use.
type Handler struct {
	service *service.Service
	options Options

	discovery discoveryCache

	mu      sync.Mutex // guards closing
	closing chan struct{}
}

// New returns a handler over a service.
func New(s *service.Service, o Options) *Handler {
	return &Handler{service: s, options: o, closing: make(chan struct{})}
}

// CloseWatches ends all open watches, as a server does at their timeout.
func (h *Handler) CloseWatches() {
	h.mu.Lock()
	closing := h.closing
	h.closing = make(chan struct{})
	h.mu.Unlock()
	close(closing)
}

// watchesEnd returns the channel that is closed when the watches of now are to end.
func (h *Handler) watchesEnd() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.closing
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	info := readInfo(r, r.URL.Query())
	recorder := &recorder{ResponseWriter: w, note: func(int, bool) {}}
	if h.options.Record != nil {
		recorder.note = h.options.Record(r, info)
	}
	defer func() { recorder.note(recorder.code, true) }()
	h.faulty(recorder, r, info)
}

// recorder notes the status code of an answer.
type recorder struct {
	http.ResponseWriter
	code int
	note func(code int, ended bool)
}

// WriteHeader implements http.ResponseWriter.
func (w *recorder) WriteHeader(code int) {
	w.code = code
	w.note(code, false)
	w.ResponseWriter.WriteHeader(code)
}

// Write implements http.ResponseWriter.
func (w *recorder) Write(data []byte) (int, error) {
	if w.code == 0 {
		w.WriteHeader(http.StatusOK)
	}
	return w.ResponseWriter.Write(data)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// serve answers a request that no fault has answered.
func (h *Handler) serve(w http.ResponseWriter, r *http.Request, info Info, effects []effect) {
	if !info.Resourceful() {
		h.serveOther(w, r)
		return
	}
	k := h.service.Served(info.GVR())
	if k == nil || k.Unserved {
		h.unknown(w, r, info)
		return
	}
	t := service.Target{Kind: k, Namespace: info.Namespace, Name: info.Name, Subresource: info.Subresource}
	if !fits(k, info) {
		h.fail(w, r, noRoute())
		return
	}
	if k.Storage() == "endpoints" {
		w.Header().Add("Warning", `299 - "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"`)
	}
	if !hasMethod(k, info) {
		h.fail(w, r, noMethod())
		return
	}
	if h.options.Feeds != nil {
		if f := h.options.Feeds.Get(info.GVR()); f != nil {
			h.serveFeed(w, r, info, t, f)
			return
		}
	}
	if info.Subresource != "" {
		h.serveSubresource(w, r, info, t)
		return
	}
	h.serveMain(w, r, info, t, effects)
}

// fits tells whether the path has the form that the kind's scope asks for.
func fits(k *kind.Kind, info Info) bool {
	if !k.Namespaced {
		return info.Namespace == ""
	}
	return info.Namespace != "" || info.Name == ""
}

// hasMethod tells whether a path of its form, of one object or of many, takes the
// request's method.
func hasMethod(k *kind.Kind, info Info) bool {
	switch info.Verb {
	case "create":
		return (info.Name == "") == (info.Subresource == "") && (info.Namespace != "" || !k.Namespaced)
	case "update", "patch":
		return info.Name != ""
	case "deletecollection":
		return info.Namespace != "" || !k.Namespaced
	case "get", "list", "watch", "delete":
		return true
	}
	return false
}

// noRoute is the API's answer to a path below a known group and version that
// nothing is served at.
func noRoute() error {
	return apierrors.NewGenericServerResponse(http.StatusNotFound, "", schema.GroupResource{}, "", "404 page not found", 0, false)
}

func noMethod() error {
	return apierrors.NewGenericServerResponse(http.StatusMethodNotAllowed, "", schema.GroupResource{}, "", "405 method not allowed", 0, false)
}

// unknown answers for a resource that is not served: with a Status where its
// group and version are, in plain text where they are not.
func (h *Handler) unknown(w http.ResponseWriter, r *http.Request, info Info) {
	known := slices.ContainsFunc(h.service.Kinds().All(), func(k *kind.Kind) bool {
		return !k.Custom && k.GVK.Group == info.Group
	})
	if known {
		h.fail(w, r, noRoute())
		return
	}
	http.Error(w, "404 page not found", http.StatusNotFound)
}

func (h *Handler) serveMain(w http.ResponseWriter, r *http.Request, info Info, t service.Target, effects []effect) {
	if !t.Kind.Serves(info.Verb) {
		h.fail(w, r, noMethod())
		return
	}
	switch info.Verb {
	case "get":
		h.get(w, r, t)
	case "list":
		h.list(w, r, t)
	case "watch":
		h.watch(w, r, t, effects)
	case "create":
		h.create(w, r, t)
	case "update":
		h.update(w, r, t)
	case "patch":
		h.patch(w, r, t)
	case "delete":
		h.delete(w, r, t)
	case "deletecollection":
		h.deleteCollection(w, r, t)
	}
}
