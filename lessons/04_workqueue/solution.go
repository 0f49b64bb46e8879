package main

import (
	"context"
	"fmt"
	"sync"
)

// Queue is what a worker needs of a work queue.
type Queue interface {
	// Add asks for work on a key: once, however often it is called before a
	// worker takes the key.
	Add(key string)
	// Get blocks for the next key, or says that the queue is shut down.
	Get() (key string, shutdown bool)
	// Done gives a key back. Until then no other worker gets it.
	Done(key string)
	// Len is the number of keys that wait.
	Len() int
	// ShutDown makes every Get return, once nothing waits any more.
	ShutDown()
}

// ProcessFunc does the work for one key. After an error it is called again.
type ProcessFunc func(key string) error

// StartWorkers starts n workers, which wg waits for. They end when the queue is
// shut down, or after the key in hand when ctx has ended. A worker that waits in
// Get hears of the shutdown alone.
func StartWorkers(ctx context.Context, q Queue, n int, fn ProcessFunc, wg *sync.WaitGroup) {
	for id := range n {
		wg.Go(func() {
			for ctx.Err() == nil && processNext(q, id, fn) {
			}
		})
	}
}

// processNext handles one key, and returns false when there will be none.
func processNext(q Queue, id int, fn ProcessFunc) bool {
	key, shutdown := q.Get()
	if shutdown {
		return false
	}
	defer q.Done(key) // whatever happens: a key that is not given back is never run again
	if err := fn(key); err != nil {
		fmt.Printf("worker%d 处理 %q 失败: %v，重新入队\n", id, key, err)
		q.Add(key) // before Done: it is queued when the key is given back
	}
	return true
}

// RunWorker runs n workers and blocks until all have ended: when ctx ends, it
// shuts the queue down.
func RunWorker(ctx context.Context, q Queue, n int, fn ProcessFunc) {
	stop := context.AfterFunc(ctx, q.ShutDown) // a blocked Get cannot see ctx
	defer stop()
	var wg sync.WaitGroup
	StartWorkers(ctx, q, n, fn, &wg)
	wg.Wait()
}
