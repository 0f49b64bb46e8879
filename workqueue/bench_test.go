package workqueue_test

import (
	"fmt"
	"testing"
	"time"

	clientgo "k8s.io/client-go/util/workqueue"

	"github.com/gocampus/hark/workqueue"
)

// engine makes one of the queues that are compared. Both are the defaults of
// their package.
type engine struct {
	name string
	make func() clientgo.TypedRateLimitingInterface[string]
}

var engines = []engine{
	{"hark", func() clientgo.TypedRateLimitingInterface[string] { return workqueue.New(workqueue.Options[string]{}) }},
	{"hark-times", func() clientgo.TypedRateLimitingInterface[string] {
		return workqueue.New(workqueue.Options[string]{Times: true})
	}},
	{"clientgo", newClientgo},
}

func newClientgo() clientgo.TypedRateLimitingInterface[string] {
	return clientgo.NewTypedRateLimitingQueue(clientgo.DefaultTypedControllerRateLimiter[string]())
}

func itemNames(n int) []string {
	items := make([]string, n)
	for i := range items {
		items[i] = fmt.Sprintf("namespace-%d/name-%d", i%17, i)
	}
	return items
}

func benchmark(b *testing.B, run func(b *testing.B, q clientgo.TypedRateLimitingInterface[string])) {
	for _, e := range engines {
		b.Run(e.name, func(b *testing.B) {
			b.ReportAllocs()
			q := e.make()
			defer q.ShutDown()
			run(b, q)
		})
	}
}

// BenchmarkCycle: one item after the other, out of 500.
func BenchmarkCycle(b *testing.B) {
	items := itemNames(500)
	benchmark(b, func(b *testing.B, q clientgo.TypedRateLimitingInterface[string]) {
		i := 0
		for b.Loop() {
			if i++; i == len(items) {
				i = 0
			}
			q.Add(items[i])
			item, _ := q.Get()
			q.Done(item)
		}
	})
}

// BenchmarkBurst: 10,000 items are added, each three times, then handled.
func BenchmarkBurst(b *testing.B) {
	items := itemNames(10_000)
	benchmark(b, func(b *testing.B, q clientgo.TypedRateLimitingInterface[string]) {
		for b.Loop() {
			for range 3 {
				for _, item := range items {
					q.Add(item)
				}
			}
			for range items {
				item, _ := q.Get()
				q.Done(item)
			}
		}
	})
}

// BenchmarkParallel: 1,000 items go round and round through eight goroutines.
func BenchmarkParallel(b *testing.B) {
	items := itemNames(1000)
	benchmark(b, func(b *testing.B, q clientgo.TypedRateLimitingInterface[string]) {
		for _, item := range items {
			q.Add(item)
		}
		b.SetParallelism(4)
		b.ResetTimer()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				item, _ := q.Get()
				q.Done(item)
				q.Add(item)
			}
		})
	})
}

// BenchmarkAddAfter: 1,000 items that are not due yet.
func BenchmarkAddAfter(b *testing.B) {
	items := itemNames(1000)
	benchmark(b, func(b *testing.B, q clientgo.TypedRateLimitingInterface[string]) {
		for i := 0; b.Loop(); i++ {
			q.AddAfter(items[i%len(items)], time.Hour)
		}
	})
}

// BenchmarkAddRateLimited: 1,000 items that keep failing.
func BenchmarkAddRateLimited(b *testing.B) {
	items := itemNames(1000)
	benchmark(b, func(b *testing.B, q clientgo.TypedRateLimitingInterface[string]) {
		for i := 0; b.Loop(); i++ {
			q.AddRateLimited(items[i%len(items)])
		}
	})
}

// BenchmarkLongest: of one and a half million items in and out, the Add and the Done that took longest.
func BenchmarkLongest(b *testing.B) {
	items := itemNames(1_500_000)
	benchmark(b, func(b *testing.B, q clientgo.TypedRateLimitingInterface[string]) {
		var add, done time.Duration
		for b.Loop() {
			for _, item := range items {
				start := time.Now()
				q.Add(item)
				add = max(add, time.Since(start))
			}
			for range items {
				item, _ := q.Get()
				start := time.Now()
				q.Done(item)
				done = max(done, time.Since(start))
			}
		}
		b.ReportMetric(float64(add.Microseconds())/1000, "ms/longest-Add")
		b.ReportMetric(float64(done.Microseconds())/1000, "ms/longest-Done")
	})
}
