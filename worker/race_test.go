package worker_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocampus/hark/worker"
	"github.com/gocampus/hark/workqueue"
)

// TestEveryChangeIsRunInTheEndWhateverRunsDo: runs fail, panic, exit, ask for
// later and are parked at random; after each change of an item some run of it
// has succeeded with that change, and no two runs of an item overlap.
func TestEveryChangeIsRunInTheEndWhateverRunsDo(t *testing.T) {
	const items, changes = 40, 4000
	q := workqueue.New(workqueue.Options[int]{Backoff: workqueue.Backoff{Base: time.Microsecond, Max: 50 * time.Microsecond}})
	var changed, done [items]atomic.Int64
	var running [items]atomic.Bool
	var overlaps atomic.Int64
	fn := func(_ context.Context, item int) (worker.Result, error) {
		if running[item].Swap(true) {
			overlaps.Add(1)
		}
		defer running[item].Store(false)
		seen := changed[item].Load()
		switch rand.IntN(8) {
		case 0:
			return worker.Result{}, errors.New("no")
		case 1:
			panic("no")
		case 2:
			runtime.Goexit()
		case 3:
			return worker.Result{}, worker.Permanent(errors.New("never"))
		case 4:
			done[item].Store(seen)
			return worker.Result{RequeueAfter: time.Microsecond}, nil
		}
		done[item].Store(seen)
		return worker.Result{}, nil
	}
	pool := worker.New(q, fn, worker.Options[int]{Workers: 6, Timeout: time.Hour})
	ctx, stop := context.WithCancel(t.Context())
	var producers, pools sync.WaitGroup
	pools.Go(func() {
		if err := pool.Run(ctx); err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	for range 3 {
		producers.Go(func() {
			for range changes / 3 {
				item := rand.IntN(items)
				changed[item].Add(1)
				q.Add(item)
			}
		})
	}
	producers.Wait()
	for settled := false; !settled; runtime.Gosched() {
		for _, p := range pool.Parked() {
			pool.Requeue(p.Item)
		}
		settled = true
		for item := range items {
			settled = settled && changed[item].Load() == done[item].Load()
		}
	}
	stop()
	pools.Wait()
	q.ShutDown()
	if n := overlaps.Load(); n != 0 {
		t.Errorf("%d times an item ran twice at once", n)
	}
	if s := pool.Stats(); q.Stats().Misused != 0 || s.Runs != s.Succeeded+s.Requeued+s.Retried+s.Parked+s.Interrupted || len(s.Running) != 0 {
		t.Errorf("%+v, misused %d", s, q.Stats().Misused)
	}
}
