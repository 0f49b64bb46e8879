package harktest

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gocampus/hark/harktest/internal/feed"
)

// Feed is the content of one resource that the server does not hold but asks for,
// object by object, each time that it is sent: a million objects for a test of
// load cost it no memory. It is listed and watched as a whole; reads of one object,
// selections, writes and faults of events are not for a feed.
type Feed struct {
	// Resource is one that the server has. Required.
	Resource schema.GroupVersionResource
	// Version is that of the first state. The objects of it have versions up to
	// it, and the n-th change, counted from 0, makes Version+1+n.
	Version uint64
	// Objects is how many there are in the first state. A list shows that state,
	// a watch with initial events begins with it.
	Objects int
	// Object appends the n-th object of the first state to dst, encoded: in
	// protobuf as a bare message, in JSON as a whole document on one line. It is
	// called by several goroutines at a time and must give the same bytes for the
	// same n. Required.
	Object func(dst []byte, n int, protobuf bool) []byte
	// Change appends, likewise, what the n-th change makes of its object. Required
	// for Release.
	Change func(dst []byte, n int, protobuf bool) []byte
}

// Feeding is a feed that is being served. It is safe for concurrent use.
type Feeding struct{ feed *feed.Feed }

// Serve lets a feed answer for its resource from now on, in place of what the
// server holds of it and of an earlier feed, whose watches end.
func (s *Server) Serve(f Feed) (*Feeding, error) {
	if s.kinds.ByResource(f.Resource) == nil {
		return nil, fmt.Errorf("harktest: feed: the server has no %s", f.Resource)
	}
	if f.Object == nil {
		return nil, errors.New("harktest: feed: Object is required")
	}
	served := feed.New(f.Version, f.Objects, f.Object, f.Change)
	s.feeds.Put(f.Resource, served)
	return &Feeding{served}, nil
}

// Release lets changes happen, so that there are n since the feed began; they are
// sent as fast as the watches take them. Fewer than there are change nothing.
func (f *Feeding) Release(n int) { f.feed.Release(n) }
