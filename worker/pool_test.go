package worker_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/gocampus/hark/worker"
	"github.com/gocampus/hark/workqueue"
)

// countingQueue counts what the chapter's queue counts.
type countingQueue struct {
	*workqueue.Queue[string]
	mu          sync.Mutex
	adds, dones int
}

func newCountingQueue() *countingQueue {
	return &countingQueue{Queue: workqueue.New(workqueue.Options[string]{})}
}

func (q *countingQueue) count(n *int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	*n++
}

func (q *countingQueue) Add(item string)            { q.count(&q.adds); q.Queue.Add(item) }
func (q *countingQueue) AddRateLimited(item string) { q.count(&q.adds); q.Queue.AddRateLimited(item) }
func (q *countingQueue) Done(item string)           { q.count(&q.dones); q.Queue.Done(item) }

func TestWorkersProcessAllItems(t *testing.T) {
	q := newCountingQueue()
	var mu sync.Mutex
	processed := map[string]int{}
	pool := worker.New(q, func(_ context.Context, item string) (worker.Result, error) {
		mu.Lock()
		defer mu.Unlock()
		processed[item]++
		return worker.Result{}, nil
	}, worker.Options[string]{Workers: 3})
	for i := range 20 {
		q.Add(fmt.Sprintf("default/nginx-%d", i))
	}
	q.ShutDown()
	if err := pool.Run(t.Context()); err != nil {
		t.Fatalf("Run: %v", err)
	}
	if len(processed) != 20 || q.dones != 20 {
		t.Fatalf("%d items processed, %d dones; want 20 and 20", len(processed), q.dones)
	}
	for item, times := range processed {
		if times != 1 {
			t.Errorf("%s was processed %d times; want 1", item, times)
		}
	}
}

func TestWorkersRetryOnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newCountingQueue()
		attempts := 0
		pool := worker.New(q, func(context.Context, string) (worker.Result, error) {
			if attempts++; attempts < 3 {
				return worker.Result{}, errors.New("not yet")
			}
			q.ShutDown()
			return worker.Result{}, nil
		}, worker.Options[string]{})
		q.Add("bad")
		if err := pool.Run(t.Context()); err != nil {
			t.Fatalf("Run: %v", err)
		}
		if attempts != 3 || q.adds != 1+2 || q.dones != 3 {
			t.Fatalf("attempts = %d, adds = %d, dones = %d; want 3, 3, 3", attempts, q.adds, q.dones)
		}
		if got := q.NumRequeues("bad"); got != 0 {
			t.Fatalf("NumRequeues after success = %d; want 0", got)
		}
	})
}
