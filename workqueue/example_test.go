package workqueue_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gocampus/hark/workqueue"
)

func Example() {
	q := workqueue.New(workqueue.Options[string]{})
	q.Add("default/web")
	q.Add("default/db")
	q.Add("default/web") // is queued already

	fmt.Println("queued:", q.Len())
	for range 2 {
		key, _ := q.Get()
		fmt.Println("working on", key)
		q.Forget(key) // it went well; AddRateLimited if not
		q.Done(key)   // in any case
	}
	q.ShutDown()
	_, shutdown := q.Get()
	fmt.Println("shutdown:", shutdown)
	// Output:
	// queued: 2
	// working on default/web
	// working on default/db
	// shutdown: true
}

// A key can be postponed, be given a priority, and tell why it was queued.
func ExampleQueue_AddWith() {
	q := workqueue.New(workqueue.Options[string]{})
	q.AddWith("default/web", workqueue.AddOptions{Reason: "spec changed"})
	q.AddWith("default/web", workqueue.AddOptions{Reason: "a pod is gone"})
	q.AddWith("default/db", workqueue.AddOptions{Priority: 1, Reason: "asked for by a user"})
	q.AddWith("default/cache", workqueue.AddOptions{After: time.Hour})
	q.AddWith("default/cache", workqueue.AddOptions{After: 2 * time.Hour, When: workqueue.Replace})

	for range 2 {
		d, _ := q.GetWith(context.Background())
		fmt.Println(d.Item, d.Reasons)
		q.Done(d.Item)
	}
	fmt.Println("delayed:", q.Stats().Delayed)
	q.ShutDown()
	// Output:
	// default/db [asked for by a user]
	// default/web [spec changed a pod is gone]
	// delayed: 1
}

// What a queue holds can be looked at.
func ExampleQueue_Snapshot() {
	q := workqueue.New(workqueue.Options[string]{})
	q.Add("default/web")
	key, _ := q.Get()
	q.RecordError(key, errors.New("the image is missing"))
	q.AddRateLimited(key)
	q.Done(key)

	for _, entry := range q.Snapshot().Delayed {
		fmt.Printf("%s failed %d time: %s\n", entry.Item, entry.Failures, entry.LastError)
	}
	q.ShutDown()
	// Output:
	// default/web failed 1 time: the image is missing
}
