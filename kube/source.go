package kube

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/api/validate/content"

	"github.com/gocampus/hark/watch"
	"github.com/gocampus/hark/wire"
)

// SourceOptions narrow a Source and say how it reads. The zero value reads all
// objects of the kind, in the best encoding, without managedFields.
type SourceOptions struct {
	// Namespace to look at; "" means all. Of no meaning to a cluster-scoped kind.
	Namespace string
	// LabelSelector and FieldSelector in the API's text form; "" selects all.
	// They are checked by the server.
	LabelSelector string
	FieldSelector string
	// KeepManagedFields keeps metadata.managedFields, which are often half of
	// an object; by default they are cut.
	KeepManagedFields bool
	// MaxObject limits the bytes of one object; 0 means wire.DefaultMaxObject.
	MaxObject int
	// Encoding to ask for. 0 asks for protobuf where the kind has it, and goes
	// on with JSON where the server refuses that. wire.JSON and wire.Protobuf
	// ask for that one alone.
	Encoding wire.Encoding
}

// Source lists and watches the objects of one kind as the bytes that the server
// sends. It implements watch.Source: it is safe for concurrent use, opens a
// request for each call and decodes nothing.
type Source struct {
	client    *Client
	kind      Kind
	namespace string
	target    url.URL // without parameters
	options   SourceOptions
	reading   wire.Options
	jsonOnly  atomic.Bool // the server refused protobuf
}

var _ watch.Source = (*Source)(nil)

// Source returns the Source of a kind. It sends nothing.
func (c *Client) Source(kind Kind, o SourceOptions) *Source {
	s := &Source{
		client:  c,
		kind:    kind,
		options: o,
		reading: wire.Options{MaxObject: o.MaxObject, KeepManagedFields: o.KeepManagedFields},
	}
	if kind.Namespaced {
		s.namespace = o.Namespace
	}
	s.target = *c.base
	s.target.Path += resourcePath(kind, s.namespace)
	return s
}

// resourcePath is the path of a kind's collection.
func resourcePath(kind Kind, namespace string) string {
	segments := []string{"", "apis", kind.GVR.Group, kind.GVR.Version}
	if kind.GVR.Group == "" {
		segments = []string{"", "api", kind.GVR.Version}
	}
	if namespace != "" {
		segments = append(segments, "namespaces", namespace)
	}
	return strings.Join(append(segments, kind.GVR.Resource), "/")
}

// String says what is read: pods in namespace "default".
func (s *Source) String() string {
	switch {
	case s.namespace != "":
		return s.kind.String() + " in namespace " + strconv.Quote(s.namespace)
	case s.kind.Namespaced:
		return s.kind.String() + " in all namespaces"
	}
	return s.kind.String()
}

// List opens a list, or one page of it.
func (s *Source) List(ctx context.Context, o watch.ListOptions) (watch.ListStream, error) {
	b, err := s.open(ctx, "list", s.listParameters(o))
	if err != nil {
		return nil, err
	}
	return newListStream(b, s.reading), nil
}

// Watch opens a watch.
func (s *Source) Watch(ctx context.Context, o watch.WatchOptions) (watch.Stream, error) {
	b, err := s.open(ctx, "watch", s.watchParameters(o))
	if err != nil {
		return nil, err
	}
	return newStream(b, s.reading), nil
}

const (
	acceptJSON     = wire.ContentTypeJSON
	acceptProtobuf = wire.ContentTypeProtobuf
	acceptBoth     = wire.ContentTypeProtobuf + "," + wire.ContentTypeJSON
)

// open opens a request in the best encoding that the server has.
func (s *Source) open(ctx context.Context, verb string, parameters url.Values) (*body, error) {
	r := request{verb, s.String()}
	if wrong := content.IsPathSegmentName(s.namespace); len(wrong) > 0 {
		return nil, &watch.Error{
			Kind:    watch.KindInvalid,
			Message: r.String() + ": the namespace " + strings.Join(wrong, ", "),
		}
	}
	target := s.target
	target.RawQuery = parameters.Encode()
	accept := s.accept()
	b, err := s.client.open(ctx, r, &target, accept)
	if accept == acceptBoth && isEncodingRefused(err) {
		s.jsonOnly.Store(true)
		return s.client.open(ctx, r, &target, acceptJSON)
	}
	return b, err
}

func (s *Source) accept() string {
	switch {
	case s.options.Encoding == wire.Protobuf:
		return acceptProtobuf
	case s.options.Encoding == 0 && s.kind.Protobuf && !s.jsonOnly.Load():
		return acceptBoth
	}
	return acceptJSON
}

func isEncodingRefused(err error) bool {
	e, ok := err.(*watch.Error)
	return ok && (e.Code == http.StatusNotAcceptable || e.Code == http.StatusUnsupportedMediaType)
}

// listParameters are the query parameters of a list. A version asks for a state
// not older than it; a continue token carries its version itself and the server
// refuses another one beside it.
func (s *Source) listParameters(o watch.ListOptions) url.Values {
	q := s.selectors()
	if o.Limit > 0 {
		q.Set("limit", strconv.FormatInt(o.Limit, 10))
	}
	switch {
	case o.Continue != "":
		q.Set("continue", o.Continue)
	case o.ResourceVersion != "":
		q.Set("resourceVersion", o.ResourceVersion)
		q.Set("resourceVersionMatch", "NotOlderThan")
	}
	return q
}

// watchParameters are the query parameters of a watch.
func (s *Source) watchParameters(o watch.WatchOptions) url.Values {
	q := s.selectors()
	q.Set("watch", "1")
	q.Set("allowWatchBookmarks", "true")
	if o.ResourceVersion != "" {
		q.Set("resourceVersion", o.ResourceVersion)
	}
	if o.SendInitialEvents {
		q.Set("sendInitialEvents", "true")
		q.Set("resourceVersionMatch", "NotOlderThan")
	}
	if o.Timeout > 0 {
		seconds := (o.Timeout + time.Second - 1) / time.Second // 0 would be the server's choice
		q.Set("timeoutSeconds", strconv.FormatInt(int64(seconds), 10))
	}
	return q
}

func (s *Source) selectors() url.Values {
	q := url.Values{}
	if s.options.LabelSelector != "" {
		q.Set("labelSelector", s.options.LabelSelector)
	}
	if s.options.FieldSelector != "" {
		q.Set("fieldSelector", s.options.FieldSelector)
	}
	return q
}
