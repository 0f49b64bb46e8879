package demo

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// shown knows, for each resource that is on the screen, up to which version its
// changes have been shown. Whoever acts upon a change waits for it here first, so
// that a cause stands above its effects, although each resource has a watch of
// its own. The zero value is ready to use.
type shown struct {
	mu       sync.Mutex
	versions map[schema.GroupVersionResource]uint64
	moved    chan struct{} // closed when a version has moved on
}

// screenPatience bounds the wait for a line: a screen that stands still, or a
// line that came in another order, must not stop the cluster.
const screenPatience = 5 * time.Second

// move says that the changes of a resource up to version are on the screen. The
// first call, with 0, says that the resource is shown at all.
func (s *shown) move(resource schema.GroupVersionResource, version uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.versions == nil {
		s.versions = map[schema.GroupVersionResource]uint64{}
	}
	s.versions[resource] = max(s.versions[resource], version)
	if s.moved != nil {
		close(s.moved)
		s.moved = nil
	}
}

// wait returns when the changes of a resource up to version are on the screen, at
// once for a resource that is not shown, and in any case when ctx ends or after
// screenPatience.
func (s *shown) wait(ctx context.Context, resource schema.GroupVersionResource, version uint64) {
	timer := time.NewTimer(screenPatience)
	defer timer.Stop()
	for {
		moved := s.after(resource, version)
		if moved == nil {
			return
		}
		select {
		case <-moved:
		case <-timer.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// after returns what is closed when there may be more to see than now; nil when
// the version was shown or never will be.
func (s *shown) after(resource schema.GroupVersionResource, version uint64) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now, isShown := s.versions[resource]; !isShown || now >= version {
		return nil
	}
	if s.moved == nil {
		s.moved = make(chan struct{})
	}
	return s.moved
}
