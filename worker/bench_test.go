package worker_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	clientgo "k8s.io/client-go/util/workqueue"

	"github.com/gocampus/hark/worker"
	"github.com/gocampus/hark/workqueue"
)

// BenchmarkRun is the cost of the run of one item, from Add to Done, of a burst
// of 1,000 items on two workers: this package on this module's queue against the
// loop that every controller writes over client-go's.
func BenchmarkRun(b *testing.B) {
	items := make([]string, 1000)
	for i := range items {
		items[i] = fmt.Sprintf("default/name-%d", i)
	}
	var done sync.WaitGroup
	burst := func(b *testing.B, add func(string)) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			if i%len(items) == 0 {
				done.Wait()
				done.Add(len(items))
				for _, item := range items {
					add(item)
				}
			}
		}
		done.Wait()
	}
	for name, timeout := range map[string]time.Duration{"hark": 0, "hark-timeout": time.Hour} {
		b.Run(name, func(b *testing.B) {
			q := workqueue.New(workqueue.Options[string]{})
			pool := worker.New(q, func(context.Context, string) (worker.Result, error) {
				done.Done()
				return worker.Result{}, nil
			}, worker.Options[string]{Timeout: timeout})
			var running sync.WaitGroup
			running.Go(func() { _ = pool.Run(b.Context()) })
			burst(b, q.Add)
			q.ShutDown()
			running.Wait()
		})
	}
	b.Run("clientgo", func(b *testing.B) {
		q := clientgo.NewTypedRateLimitingQueue(clientgo.DefaultTypedControllerRateLimiter[string]())
		var workers sync.WaitGroup
		for range 2 {
			workers.Go(func() {
				for {
					item, shutdown := q.Get()
					if shutdown {
						return
					}
					done.Done()
					q.Forget(item)
					q.Done(item)
				}
			})
		}
		burst(b, q.Add)
		q.ShutDown()
		workers.Wait()
	})
}
