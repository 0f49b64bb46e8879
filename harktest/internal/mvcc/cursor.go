package mvcc

import "errors"

// ErrOverrun is returned by Poll when a cursor fell behind by more than its allowance.
var ErrOverrun = errors.New("mvcc: the watcher is too slow")

// ErrReset is returned by Poll when the store was renumbered.
var ErrReset = errors.New("mvcc: the store was renumbered")

// Cursor reads the events of one resource in their order. It is for one goroutine.
type Cursor[V Value] struct {
	store    *Store[V]
	resource string
	epoch    uint64
	seq      uint64 // sequence number of the next event
	after    uint64 // events up to this version are passed over
	lag      int
}

// Watch returns a cursor that reads the events after a version. lag is how many
// unread events it may leave behind, 0 for as many as the window holds. A
// version of the future is accepted: the events up to it are passed over. It fails
// with a *CompactedError.
func (s *Store[V]) Watch(resource string, version uint64, lag int) (*Cursor[V], error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if oldest := s.oldest(resource); version < oldest {
		return nil, &CompactedError{Version: version, Oldest: oldest}
	}
	t := s.table(resource)
	return s.cursor(resource, t.first+uint64(t.next(version)), version, lag), nil
}

// WatchNewest returns the newest state and a cursor that reads what comes after it.
func (s *Store[V]) WatchNewest(resource string, lag int) (Snapshot[V], *Cursor[V]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.table(resource)
	return s.newest(resource), s.cursor(resource, t.first+uint64(len(t.window)), s.version, lag)
}

func (s *Store[V]) cursor(resource string, seq, after uint64, lag int) *Cursor[V] {
	if lag <= 0 {
		lag = s.history
	}
	return &Cursor[V]{store: s, resource: resource, epoch: s.epoch, seq: seq, after: after, lag: lag}
}

// Batch is what Poll found.
type Batch[V any] struct {
	Events []Event[V]
	// Version up to which everything has been read, this batch included; 0 as
	// long as the store has not reached the version that the cursor starts after.
	Version uint64
	// Wake is closed when there is something new to read. It is nil when the
	// batch has events: poll again first.
	Wake <-chan struct{}
}

// Poll returns the unread events, at most as many as limit, without blocking.
// It fails with ErrOverrun or ErrReset; the cursor is of no use then.
func (c *Cursor[V]) Poll(limit int) (Batch[V], error) {
	s := c.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.epoch != s.epoch {
		return Batch[V]{}, ErrReset
	}
	t := s.tables[c.resource]
	if end := t.first + uint64(len(t.window)); c.seq < t.first || end-c.seq > uint64(c.lag) {
		return Batch[V]{}, ErrOverrun
	}
	pending := t.window[c.seq-t.first:]
	var batch Batch[V]
	if s.version >= c.after {
		batch.Version = s.version
	}
	if len(pending) > limit {
		pending = pending[:limit]
		batch.Version = pending[limit-1].event.Version()
	}
	c.seq += uint64(len(pending))
	batch.Events = c.visible(pending)
	if len(pending) == 0 {
		if t.wake == nil {
			t.wake = make(chan struct{})
		}
		batch.Wake = t.wake
	}
	return batch, nil
}

// visible copies the events out of the window, which the store goes on changing.
func (c *Cursor[V]) visible(pending []entry[V]) []Event[V] {
	events := make([]Event[V], 0, len(pending))
	for i := range pending {
		if pending[i].event.Version() > c.after {
			events = append(events, pending[i].event)
		}
	}
	return events
}
