package sides

import (
	"fmt"
	"strconv"
	"sync"
	"time"

	clientgo "k8s.io/client-go/util/workqueue"

	"github.com/gocampus/hark/key"
	"github.com/gocampus/hark/workqueue"
)

// fullQueue is what the works need of a queue.
type fullQueue interface {
	queue[key.Key]
	AddAfter(key.Key, time.Duration)
	AddRateLimited(key.Key)
	Forget(key.Key)
}

// firstRetry is the first delay of both sides' backoff, client-go's.
const firstRetry = 5 * time.Millisecond

// newQueue returns a queue of one side. Both have a backoff for each item alone:
// client-go's bucket for all items would delay a burst for hours.
func newQueue(side string) (fullQueue, error) {
	switch side {
	case "client-go":
		limiter := clientgo.NewTypedItemExponentialFailureRateLimiter[key.Key](firstRetry, workqueue.DefaultBackoffMax)
		return clientgo.NewTypedRateLimitingQueue(limiter), nil
	case "hark":
		return workqueue.New(workqueue.Options[key.Key]{Backoff: workqueue.Backoff{Base: firstRetry}}), nil
	}
	return nil, fmt.Errorf("sides: %s has no queue", side)
}

// queueWorks are what is done with a queue and keys: one run, of each key once.
var queueWorks = map[string]func(fullQueue, []key.Key){
	"queue-cycle":       cycle,
	"queue-burst":       burst,
	"queue-parallel":    parallel,
	"queue-after":       after,
	"queue-ratelimited": rateLimited,
}

// queueWork measures a work on as many keys as the job has objects; there are
// only so many different ones.
func queueWork(j *Job, work func(fullQueue, []key.Key)) (Result, error) {
	q, err := newQueue(j.Side)
	if err != nil {
		return nil, err
	}
	keys := make([]key.Key, j.Objects)
	for i := range keys {
		keys[i] = key.Key{Namespace: "team-" + strconv.Itoa(i%100), Name: "service-" + strconv.Itoa(i)}
	}
	work(q, keys) // what grows has grown
	stop, err := j.profile(OpCPU)
	if err != nil {
		return nil, err
	}
	start := now()
	for range queueRuns {
		if j.Work == "queue-parallel" { // which shuts its queue down
			if q, err = newQueue(j.Side); err != nil {
				return nil, err
			}
		}
		work(q, keys)
	}
	cpu, wall := start.since()
	n := float64(queueRuns * len(keys))
	return Result{OpCPU: cpu / n, OpWall: wall / n}, stop()
}

// queueRuns is how often a work is done and measured: one run takes a tenth of a second
// or less.
const queueRuns = 5

// cycle adds, gets and ends one key after the other.
func cycle(q fullQueue, keys []key.Key) {
	for _, k := range keys {
		q.Add(k)
		got, _ := q.Get()
		q.Done(got)
	}
}

// burst adds all keys, then gets all.
func burst(q fullQueue, keys []key.Key) {
	for _, k := range keys {
		q.Add(k)
	}
	take(q, len(keys), false)
}

func take(q fullQueue, n int, forget bool) {
	for range n {
		k, _ := q.Get()
		if forget {
			q.Forget(k)
		}
		q.Done(k)
	}
}

// parallel has two producers and four workers, and shuts the queue down.
func parallel(q fullQueue, keys []key.Key) {
	var producers, workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for {
				k, shutdown := q.Get()
				if shutdown {
					return
				}
				q.Done(k)
			}
		})
	}
	half := len(keys) / 2
	for _, part := range [][]key.Key{keys[:half], keys[half:]} {
		producers.Go(func() {
			for _, k := range part {
				q.Add(k)
			}
		})
	}
	producers.Wait()
	q.ShutDown()
	workers.Wait()
}

// after adds all keys with delays of 1 to 50 ms, and gets them as they become due.
func after(q fullQueue, keys []key.Key) {
	for i, k := range keys {
		q.AddAfter(k, time.Duration(1+i*7919%50)*time.Millisecond)
	}
	take(q, len(keys), false)
}

// rateLimited adds all keys after a first failure, and forgets them.
func rateLimited(q fullQueue, keys []key.Key) {
	for _, k := range keys {
		q.AddRateLimited(k)
	}
	take(q, len(keys), true)
}
