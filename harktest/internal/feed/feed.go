package feed

import (
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Append appends one encoded object to dst: a bare message in protobuf, a whole
// document in JSON.
type Append func(dst []byte, n int, protobuf bool) []byte

// Feed is the state of one resource: its first objects, and how many of its
// changes have happened. It is safe for concurrent use.
type Feed struct {
	version        uint64 // of the first objects
	objects        int
	object, change Append
	gone           chan struct{} // closed when another feed has taken over

	mu      sync.Mutex // guards the fields below
	changes int
	wake    chan struct{} // closed when changes has grown
}

// New returns a feed of some objects, none of which has changed.
func New(version uint64, objects int, object, change Append) *Feed {
	return &Feed{
		version: version, objects: objects, object: object, change: change,
		gone: make(chan struct{}), wake: make(chan struct{}),
	}
}

// Release lets changes happen, so that there are n in all.
func (f *Feed) Release(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n <= f.changes {
		return
	}
	f.changes = n
	close(f.wake)
	f.wake = make(chan struct{})
}

// Changes returns how many changes have happened, and a channel that is closed
// when there are more.
func (f *Feed) Changes() (int, <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.changes, f.wake
}

// Objects is how many objects there were at first.
func (f *Feed) Objects() int { return f.objects }

// Version is the version after so many changes.
func (f *Feed) Version(changes int) uint64 { return f.version + uint64(changes) }

// AppendObject appends the n-th of the first objects.
func (f *Feed) AppendObject(dst []byte, n int, protobuf bool) []byte {
	return f.object(dst, n, protobuf)
}

// AppendChange appends what the n-th change made of its object.
func (f *Feed) AppendChange(dst []byte, n int, protobuf bool) []byte {
	return f.change(dst, n, protobuf)
}

// Since returns how many changes a client has seen that has reached a version,
// and false for a version before the first objects.
func (f *Feed) Since(version uint64) (int, bool) {
	if version < f.version {
		return 0, false
	}
	return int(version - f.version), true
}

// Gone is closed when another feed has taken over.
func (f *Feed) Gone() <-chan struct{} { return f.gone }

// Set is the feeds of a server, by resource. The zero value is empty.
type Set struct {
	mu    sync.Mutex // guards feeds
	feeds map[schema.GroupVersionResource]*Feed
}

// Put makes f the feed of a resource, in place of the one before it.
func (s *Set) Put(resource schema.GroupVersionResource, f *Feed) {
	s.mu.Lock()
	before := s.feeds[resource]
	if s.feeds == nil {
		s.feeds = map[schema.GroupVersionResource]*Feed{}
	}
	s.feeds[resource] = f
	s.mu.Unlock()
	if before != nil {
		close(before.gone)
	}
}

// Get returns the feed of a resource, or nil.
func (s *Set) Get(resource schema.GroupVersionResource) *Feed {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.feeds[resource]
}
