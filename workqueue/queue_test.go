package workqueue_test

import (
	"testing"

	clientgo "k8s.io/client-go/util/workqueue"

	"github.com/gocampus/hark/workqueue"
)

// The method set of client-go, without importing it.
var _ clientgo.TypedRateLimitingInterface[string] = (*workqueue.Queue[string])(nil)

func TestAnItemIsDeliveredOnceHoweverOftenItIsAdded(t *testing.T) {
	q := workqueue.New(workqueue.Options[string]{})
	q.Add("a")
	q.Add("b")
	q.Add("a")
	if got := q.Len(); got != 2 {
		t.Fatalf("Len = %d; want 2", got)
	}
	for _, want := range []string{"a", "b"} {
		got, shutdown := q.Get()
		if got != want || shutdown {
			t.Fatalf("Get = %q, %t; want %q", got, shutdown, want)
		}
		q.Done(got)
	}
	q.ShutDown()
	if got, shutdown := q.Get(); !shutdown {
		t.Fatalf("Get after ShutDown = %q, %t; want shutdown", got, shutdown)
	}
}
