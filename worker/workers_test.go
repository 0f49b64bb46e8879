package worker

import (
	"context"
	"runtime"
	"testing"

	"github.com/gocampus/hark/workqueue"
)

func TestAWorkerLeavesNothingBehind(t *testing.T) {
	q := workqueue.New(workqueue.Options[int]{})
	pool := New(q, func(_ context.Context, item int) (Result, error) {
		if item%2 == 0 {
			runtime.Goexit()
		}
		return Result{}, nil
	}, Options[int]{MaxTries: 1})
	for item := range 10 {
		q.Add(item)
	}
	q.ShutDown()
	for range 2 {
		if err := pool.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(pool.workers) != 0 || pool.active {
			t.Fatalf("%d workers are listed, active %t", len(pool.workers), pool.active)
		}
	}
	if s := pool.Stats(); s.Runs != 10 || s.Goexits != 5 || s.ParkedNow != 5 {
		t.Errorf("%+v; want 10 runs, 5 of them ended by Goexit and parked", s)
	}
}
