package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gocampus/hark/lessons/04_workqueue/answer"
)

// queues are the three that the lesson's worker runs on.
var queues = map[string]func() Queue{
	"own":       func() Queue { return NewMiniQueue() },
	"hark":      func() Queue { return answer.Hark() },
	"client-go": func() Queue { return answer.ClientGo() },
}

func TestWorkersProcessAllItems(t *testing.T) {
	withAllQueues(t, func(t *testing.T, q Queue) {
		const workers, items = 3, 30
		var mu sync.Mutex
		runs, running, most := map[string]int{}, 0, 0
		want := map[string]int{}
		for n := range items {
			key := fmt.Sprintf("default/nginx-%d", n)
			q.Add(key)
			q.Add(key) // once more before there are workers to take it: still one run
			want[key] = 1
		}
		start(t, q, workers, func(key string) error {
			mu.Lock()
			runs[key]++
			running++
			most = max(most, running)
			mu.Unlock()
			time.Sleep(time.Second) // the work
			mu.Lock()
			running--
			mu.Unlock()
			return nil
		})
		pass(time.Minute)
		if diff := cmp.Diff(want, runs); diff != "" {
			t.Errorf("runs of each key (-want +got):\n%s", diff)
		}
		if most != workers {
			t.Errorf("at most %d keys were worked on at once; want %d", most, workers)
		}
	})
	if !t.Failed() {
		t.Log("并发 worker 全部处理完成验证通过")
	}
}

func TestWorkersRetryOnError(t *testing.T) {
	withAllQueues(t, func(t *testing.T, q Queue) {
		counted := &countingQueue{Queue: q}
		attempts := 0
		start(t, counted, 2, func(string) error { // one key: never two calls at once
			attempts++
			if attempts < 3 {
				return errors.New("not yet")
			}
			return nil
		})
		counted.Add("bad")
		synctest.Wait()
		adds, dones := counted.counts()
		if attempts != 3 || adds != 3 || dones != 3 {
			t.Errorf("%d attempts, %d adds, %d dones; want 3 of each", attempts, adds, dones)
		}
		if n := q.Len(); n != 0 {
			t.Errorf("%d keys are queued after the success; want none", n)
		}
	})
	if !t.Failed() {
		t.Log("失败重试验证通过")
	}
}

// TestWorkersTakeTheNextKeyWithoutAPause: work that takes no time takes no time,
// however many keys there are. The clock is a bubble's, which moves only when
// somebody sleeps.
func TestWorkersTakeTheNextKeyWithoutAPause(t *testing.T) {
	withAllQueues(t, func(t *testing.T, q Queue) {
		const items = 100
		begin := time.Now()
		all := make(chan string, items)
		start(t, q, 2, func(key string) error {
			all <- key
			return nil
		})
		for n := range items {
			q.Add(fmt.Sprint(n))
		}
		for range items {
			<-all
		}
		if took := time.Since(begin); took != 0 {
			t.Errorf("%d keys took %v; want no time", items, took)
		}
	})
}

func TestKeyAddedDuringItsRunIsRunOnceMoreAndNeverTwiceAtOnce(t *testing.T) {
	withAllQueues(t, func(t *testing.T, q Queue) {
		var mu sync.Mutex
		runs, running := 0, 0
		start(t, q, 3, func(string) error {
			mu.Lock()
			runs++
			running++
			if running > 1 {
				t.Error("two workers have the key")
			}
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			running--
			mu.Unlock()
			return nil
		})
		q.Add("default/tmp")
		synctest.Wait() // a worker has it
		for range 5 {
			q.Add("default/tmp")
		}
		pass(time.Minute)
		if runs != 2 {
			t.Errorf("%d runs; want the one under way and one more", runs)
		}
	})
}

func TestRunWorkerReturnsWhenTheContextEnds(t *testing.T) {
	withAllQueues(t, func(t *testing.T, q Queue) {
		stop := start(t, q, 2, func(string) error { return nil })
		synctest.Wait() // both workers wait in Get
		stop()          // blocks for ever if one is left there
		q.Add("too late")
		if n := q.Len(); n != 0 {
			t.Errorf("%d keys are queued after the shutdown; want none", n)
		}
	})
}

func TestWorkersFinishTheKeyInHandWhenTheContextEnds(t *testing.T) {
	withAllQueues(t, func(t *testing.T, q Queue) {
		for n := range 10 {
			q.Add(fmt.Sprint(n))
		}
		var mu sync.Mutex
		finished := 0
		stop := start(t, q, 2, func(string) error {
			time.Sleep(time.Second)
			mu.Lock()
			defer mu.Unlock()
			finished++
			return nil
		})
		synctest.Wait() // both workers are at work
		stop()
		if finished != 2 {
			t.Errorf("%d keys were finished; want the two in hand", finished)
		}
	})
}

func TestKeyOfAPanickingRunIsGivenBack(t *testing.T) {
	withAllQueues(t, func(t *testing.T, q Queue) {
		defer q.ShutDown()
		q.Add("default/tmp")
		func() {
			defer func() { _ = recover() }()
			processNext(q, 0, func(string) error { panic("bug") })
		}()
		q.Add("default/tmp")
		if n := q.Len(); n != 1 {
			t.Errorf("%d keys are queued; want the one that was given back and added again", n)
		}
	})
}

func TestAnswersRetryAfterAGrowingPause(t *testing.T) {
	for name, newQueue := range map[string]func() answer.Queue{"hark": answer.Hark, "client-go": answer.ClientGo} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := newQueue()
				var starts []time.Duration // since the first Add; one key: never two calls at once
				begin := time.Now()
				start(t, q, 2, answer.WithBackoff(q, func(string) error {
					starts = append(starts, time.Since(begin))
					if len(starts)%4 == 0 {
						return nil // every fourth run succeeds
					}
					return errors.New("not yet")
				}))
				for range 2 { // the second time shows that the success was a fresh start
					begin = time.Now()
					q.Add("bad")
					pass(time.Second)
				}
				const ms = time.Millisecond
				want := []time.Duration{0, 10 * ms, 30 * ms, 70 * ms, 0, 10 * ms, 30 * ms, 70 * ms}
				if diff := cmp.Diff(want, starts); diff != "" {
					t.Errorf("starts (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// pass lets time pass, and what is due then happen.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// withAllQueues runs a test with each of the queues, in a bubble of its own.
func withAllQueues(t *testing.T, test func(t *testing.T, q Queue)) {
	for name, newQueue := range queues {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, newQueue()) })
		})
	}
}

// start runs workers until stop is called or the test ends, and waits for them.
func start(t *testing.T, q Queue, n int, fn ProcessFunc) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { RunWorker(ctx, q, n, fn) })
	stop = func() {
		cancel()
		running.Wait()
	}
	t.Cleanup(stop)
	return stop
}

// countingQueue counts what passes through.
type countingQueue struct {
	Queue

	mu          sync.Mutex
	adds, dones int
}

func (q *countingQueue) Add(key string) {
	q.mu.Lock()
	q.adds++
	q.mu.Unlock()
	q.Queue.Add(key)
}

func (q *countingQueue) Done(key string) {
	q.mu.Lock()
	q.dones++
	q.mu.Unlock()
	q.Queue.Done(key)
}

func (q *countingQueue) counts() (adds, dones int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.adds, q.dones
}
