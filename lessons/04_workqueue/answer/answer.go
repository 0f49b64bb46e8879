// Package answer puts production queues in the place of the lesson's own.
//
// Both satisfy the lesson's Queue as they are. What the lesson's worker does not
// know is how they retry, after a pause that grows: WithBackoff adds that.
package answer

import (
	"fmt"
	"time"

	clientgo "k8s.io/client-go/util/workqueue"

	"github.com/gocampus/hark/workqueue"
)

// Queue is the lesson's Queue, and what production queues have for retries.
type Queue interface {
	Add(key string)
	Get() (key string, shutdown bool)
	Done(key string)
	Len() int
	ShutDown()

	// AddRateLimited counts a failure of the key and adds it after a pause,
	// which doubles with each failure.
	AddRateLimited(key string)
	// Forget sets the count back.
	Forget(key string)
}

// Hark returns a queue of package workqueue: retries after 10 ms, 20 ms, 40 ms
// and so on, at most 1000 s.
func Hark() Queue {
	return workqueue.New(workqueue.Options[string]{})
}

// ClientGo returns client-go's queue with the same pauses. Its default limiter
// begins at 5 ms and has, beside that, one bucket of ten retries a second which
// all keys share.
func ClientGo() Queue {
	limiter := clientgo.NewTypedItemExponentialFailureRateLimiter[string](10*time.Millisecond, 1000*time.Second)
	return clientgo.NewTypedRateLimitingQueue(limiter)
}

// WithBackoff makes a function for the lesson's worker that arranges its own
// retries: the worker, which would add a failed key at once, sees a success.
func WithBackoff(q Queue, process func(key string) error) func(key string) error {
	return func(key string) error {
		if err := process(key); err != nil {
			fmt.Printf("处理 %q 失败: %v，退避后重新入队\n", key, err)
			q.AddRateLimited(key)
			return nil
		}
		q.Forget(key) // or its next failure, perhaps next week, would wait as long as the last
		return nil
	}
}
