package workqueue

import (
	"fmt"
	"runtime"
	"testing"
	"time"
)

func allocs(t *testing.T, name string, want float64, f func()) {
	t.Helper()
	if got := testing.AllocsPerRun(1000, f); got > want {
		t.Errorf("%s: %v allocations; want at most %v", name, got, want)
	}
}

func TestTheSteadyStateAllocatesNothing(t *testing.T) {
	items := make([]string, 3*minShrink)
	for i := range items {
		items[i] = fmt.Sprintf("namespace-%d/name-%d", i%7, i)
	}
	for name, options := range map[string]Options[string]{
		"zero options": {},
		"times":        {Times: true},
		"lanes":        {Lane: func(item string) string { return item[:11] }},
	} {
		q := New(options)
		i := 0
		next := func() string { i++; return items[i%len(items)] }
		run := func() {
			item, _ := q.Get()
			q.Forget(item)
			q.Done(item)
		}
		for range items {
			q.AddWith(next(), AddOptions{Priority: 1})
			run()
		}
		allocs(t, name+": Add, Get, Forget, Done", 0, func() { q.Add(next()); run() })
		allocs(t, name+": AddWith a priority", 0, func() {
			q.AddWith(next(), AddOptions{Priority: 5})
			run()
		})
		allocs(t, name+": AddAfter, taken over by Add", 0, func() {
			item := next()
			q.AddAfter(item, time.Hour)
			q.Add(item)
			run()
		})
		allocs(t, name+": AddRateLimited, cancelled", 0, func() {
			item := next()
			q.AddRateLimited(item)
			q.Cancel(item)
			q.Forget(item)
		})
		delayed := next()
		q.AddAfter(delayed, time.Hour)
		allocs(t, name+": AddAfter of what is delayed", 0, func() { q.AddAfter(delayed, time.Minute) })
		allocs(t, name+": AddRateLimited of what is delayed", 0, func() { q.AddRateLimited(delayed) })
		q.ShutDown()
	}
}

func heapBytes() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestTheMemoryOfABurstIsGivenBack(t *testing.T) {
	const burst = 200_000
	for name, add := range map[string]func(q *Queue[int], item int){
		"Add":      func(q *Queue[int], item int) { q.Add(item) },
		"AddAfter": func(q *Queue[int], item int) { q.AddAfter(item, time.Hour) },
		"AddWith":  func(q *Queue[int], item int) { q.AddWith(item, AddOptions{Priority: item % 100}) },
	} {
		q := New(Options[int]{})
		before := heapBytes()
		for item := range burst {
			add(q, item)
		}
		filled := heapBytes() - before
		for item := range burst {
			q.AddWith(item, AddOptions{When: Replace}) // now
		}
		for range burst {
			item, _ := q.Get()
			q.Done(item)
		}
		if left := heapBytes() - before; left > filled/20 {
			t.Errorf("%s: %d bytes while queued, %d left", name, filled, left)
		}
		if p := &q.core.nodes; p.used != 0 || p.made > minShrink || len(p.pages) > minShrink/pageSize {
			t.Errorf("%s: %d items remembered, room for %d in %d pages; want none and %d", name, p.used, p.made, len(p.pages), minShrink)
		}
		if err := q.core.broken(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLanesAndLevelsThatAreEmptyAreGivenBack(t *testing.T) {
	q := New(Options[int]{Lane: func(item int) string { return fmt.Sprint(item % 1000) }})
	for round := range 3 {
		for item := range 2000 {
			q.AddWith(item, AddOptions{Priority: item % 100 * round})
		}
		for range 2000 {
			item, _ := q.Get()
			q.Done(item)
		}
		if err := q.core.broken(); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if round == 0 && len(q.core.order.spareLevels) != 0 {
			t.Error("a level is kept whose map has grown to 1000 lanes")
		}
	}
}

func TestWhatIsHandedOutDoesNotShareMemoryWithTheQueue(t *testing.T) {
	q := New(Options[string]{})
	q.AddWith("a", AddOptions{Reason: "true"})
	d, err := q.GetWith(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	d.Reasons[0] = "false"
	q.Snapshot().Processing[0].Reasons[0] = "false"
	if got := q.Snapshot().Processing[0].Reasons[0]; got != "true" {
		t.Errorf("a caller changed the queue's reason to %q", got)
	}
}

func TestAnItemThatDoesNotEqualItselfIsRefused(t *testing.T) {
	reported := 0
	q := New(Options[float64]{OnMisuse: func(float64) { reported++ }})
	nan := 0.0
	nan /= nan
	q.Add(nan)
	q.AddAfter(nan, time.Hour)
	q.AddRateLimited(nan)
	if s := q.Stats(); q.core.nodes.used != 0 || s.Misused != 3 || reported != 3 {
		t.Fatalf("%d nodes, %d misuses, %d reported; want 0, 3, 3", q.core.nodes.used, s.Misused, reported)
	}
}

// TestAPanicOfTheItemsHashLeavesTheQueueUsable: an interface may hold what no
// map takes.
func TestAPanicOfTheItemsHashLeavesTheQueueUsable(t *testing.T) {
	q := New(Options[any]{})
	for name, call := range map[string]func(item any){
		"Add":            q.Add,
		"AddAfter":       func(item any) { q.AddAfter(item, time.Hour) },
		"AddRateLimited": q.AddRateLimited,
		"Done":           q.Done,
		"Forget":         q.Forget,
		"NumRequeues":    func(item any) { q.NumRequeues(item) },
		"Cancel":         func(item any) { q.Cancel(item) },
		"RecordError":    func(item any) { q.RecordError(item, ErrShutDown) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s of a slice did not panic", name)
				}
			}()
			call([]int{1})
		}()
	}
	q.Add("a")
	if item, _ := q.Get(); item != "a" {
		t.Fatalf("Get = %v; want a", item)
	}
	q.Done("a")
}
