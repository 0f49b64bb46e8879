package sides

import (
	"sync"
	"time"
)

// queue is what both sides' queues have.
type queue[K comparable] interface {
	Add(K)
	Get() (K, bool)
	Done(K)
	ShutDown()
}

// hands counts the keys that one worker has had in its hands.
type hands[K comparable] struct {
	objects int // initial ones; each is one key
	last    K   // the key of the last change of each part
	synced  *sync.WaitGroup
	changed *sync.WaitGroup

	taken int
}

func (h *hands[K]) take(k K) {
	h.taken++
	switch {
	case h.taken == h.objects:
		h.synced.Done()
	case h.taken > h.objects && k == h.last:
		h.changed.Done()
	}
}

// work is a worker: it reads, or waits, where it is to, and counts.
func work[K comparable](q queue[K], h *hands[K], busy time.Duration, read func(K)) {
	for {
		k, shutdown := q.Get()
		if shutdown {
			return
		}
		if read != nil {
			read(k)
		}
		if busy > 0 && h.taken >= h.objects {
			time.Sleep(busy)
		}
		h.take(k)
		q.Done(k)
	}
}
