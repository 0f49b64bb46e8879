//go:build unix

package workqueue_test

import (
	"cmp"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	clientgo "k8s.io/client-go/util/workqueue"

	"github.com/gocampus/hark/workqueue"
)

// rival is what both queues are.
type rival = clientgo.TypedRateLimitingInterface[string]

// row is one comparison with client-go's queue. run does ops operations on a
// queue; fresh rows get a new queue every time, the others the same one.
type row struct {
	name  string
	ops   int
	fresh bool
	run   func(q rival)
}

var (
	thousand        = itemNames(1000)
	hundredThousand = itemNames(100_000)
)

var rows = []row{
	{"queue-cycle", 100_000, false, func(q rival) { cycle(q, thousand[:500], 200) }},
	{"queue-burst", 100_000, true, func(q rival) {
		for _, item := range hundredThousand {
			q.Add(item)
		}
		for range hundredThousand {
			item, _ := q.Get()
			q.Done(item)
		}
	}},
	{"queue-parallel", 100_000, true, func(q rival) { parallel(q, hundredThousand) }},
	{"queue-after-new", 100_000, true, func(q rival) {
		for _, item := range hundredThousand {
			q.AddAfter(item, time.Hour)
		}
	}},
	{"queue-after-merged", 100_000, false, func(q rival) {
		for range 100 {
			for _, item := range thousand {
				q.AddAfter(item, time.Hour)
			}
		}
	}},
	{"queue-ratelimited-new", 100_000, true, func(q rival) {
		for _, item := range hundredThousand {
			q.AddRateLimited(item)
		}
	}},
	{"queue-ratelimited-merged", 100_000, false, func(q rival) {
		for range 100 {
			for _, item := range thousand {
				q.AddRateLimited(item)
			}
		}
	}},
}

func cycle(q rival, items []string, times int) {
	for range times {
		for _, item := range items {
			q.Add(item)
			item, _ := q.Get()
			q.Done(item)
		}
	}
}

// parallel takes every item once from two producers to four workers.
func parallel(q rival, items []string) {
	var all, done sync.WaitGroup
	done.Add(len(items))
	for range 4 {
		all.Go(func() {
			for {
				item, shutdown := q.Get()
				if shutdown {
					return
				}
				q.Done(item)
				done.Done()
			}
		})
	}
	for half := range slices.Chunk(items, len(items)/2) {
		all.Go(func() {
			for _, item := range half {
				q.Add(item)
			}
		})
	}
	done.Wait()
	q.ShutDown()
	all.Wait()
}

// cost is what operations took, each: processor time, that of the garbage
// collector and of other goroutines included, and allocations.
type cost struct{ nanoseconds, allocs, bytes float64 }

func measure(ops int, run func()) cost {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	began := processorTime()
	run()
	spent := processorTime() - began
	runtime.ReadMemStats(&after)
	return cost{
		nanoseconds: float64(spent) / float64(ops),
		allocs:      float64(after.Mallocs-before.Mallocs) / float64(ops),
		bytes:       float64(after.TotalAlloc-before.TotalAlloc) / float64(ops),
	}
}

// processorTime is what this process has used.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkAgainstClientgo measures both queues, with the defaults of their
// packages, in turns in one process, and reports the medians of an operation's
// cost and how many times client-go's is that of this package ("x").
func BenchmarkAgainstClientgo(b *testing.B) {
	for _, r := range rows {
		b.Run(r.name, func(b *testing.B) {
			makers := map[string]func() rival{
				"hark":     func() rival { return workqueue.New(workqueue.Options[string]{}) },
				"clientgo": newClientgo,
			}
			queues := map[string]rival{"hark": makers["hark"](), "clientgo": makers["clientgo"]()}
			costs := map[string][]cost{}
			for b.Loop() {
				for name, q := range queues {
					if r.fresh {
						q = makers[name]()
					}
					costs[name] = append(costs[name], measure(r.ops, func() { r.run(q) }))
					if r.fresh {
						q.ShutDown()
					}
				}
			}
			for _, q := range queues {
				q.ShutDown()
			}
			hark, client := median(costs["hark"]), median(costs["clientgo"])
			b.ReportMetric(0, "ns/op") // of both together: not shown
			for name, c := range map[string]cost{"hark": hark, "clientgo": client} {
				b.ReportMetric(c.nanoseconds, name+"-ns")
				b.ReportMetric(c.allocs, name+"-allocs")
				b.ReportMetric(c.bytes, name+"-B")
			}
			b.ReportMetric(client.nanoseconds/hark.nanoseconds, "x")
		})
	}
}

func median(costs []cost) cost {
	slices.SortFunc(costs, func(a, b cost) int { return cmp.Compare(a.nanoseconds, b.nanoseconds) })
	return costs[len(costs)/2]
}
