package worker_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/gocampus/hark/worker"
	"github.com/gocampus/hark/workqueue"
)

// A key that fails is retried with backoff until it succeeds; one that fails for
// good is parked, where it can be seen and requeued.
func Example() {
	queue := workqueue.New(workqueue.Options[string]{})
	tries := 0
	reconcile := func(_ context.Context, key string) (worker.Result, error) {
		switch {
		case key == "default/broken":
			return worker.Result{}, worker.Permanent(errors.New("the spec is invalid"))
		case key == "default/web" && tries < 2:
			tries++
			return worker.Result{}, errors.New("not yet")
		}
		if key == "default/web" {
			queue.ShutDown() // the example is over
		}
		return worker.Result{}, nil
	}
	pool := worker.New(queue, reconcile, worker.Options[string]{Workers: 1})
	queue.Add("default/db")
	queue.Add("default/broken")
	queue.Add("default/web")
	if err := pool.Run(context.Background()); err != nil {
		fmt.Println(err)
	}
	stats := pool.Stats()
	fmt.Println("runs:", stats.Runs, "succeeded:", stats.Succeeded, "retried:", stats.Retried)
	for _, parked := range pool.Parked() {
		fmt.Printf("parked: %s: %v\n", parked.Item, parked.Err)
	}
	// Output:
	// runs: 5 succeeded: 2 retried: 2
	// parked: default/broken: the spec is invalid
}
