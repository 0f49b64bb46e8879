package informer

import (
	"context"
	"time"

	"github.com/gocampus/hark/delta"
	"github.com/gocampus/hark/key"
	"github.com/gocampus/hark/watch"
)

// replay pushes the cache to this handler at every resync, until ctx ends or
// the registration is closed.
func (r *Registration) replay(ctx context.Context) {
	ticker := time.NewTicker(r.options.Resync)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			r.resync()
		case <-r.closing:
			return
		case <-ctx.Done():
			return
		}
	}
}

// resyncBatch is how many keys are replayed while the informer's lock is held.
const resyncBatch = 256

// resync replays the cache. Each object is read and pushed under the lock that
// changes are told under, so that a replay never overtakes or undoes a change.
func (r *Registration) resync() {
	var keys []key.Key
	for _, object := range r.informer.apply.writer.AllTold() {
		keys = append(keys, object.Key())
	}
	for len(keys) > 0 {
		n := min(len(keys), resyncBatch)
		r.resyncKeys(keys[:n])
		keys = keys[n:]
	}
}

func (r *Registration) resyncKeys(keys []key.Key) {
	i := r.informer
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, k := range keys {
		if object := i.apply.writer.Told(k); object != nil {
			r.courier.queue.Push(delta.Change{Key: k, Old: object, New: object, Cause: watch.CauseResync})
		}
	}
}
