package cluster

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"
)

// testMargin is left of a test's time for saying what took so long.
const testMargin = 10 * time.Second

// Start starts a control plane with default options, which ends with the test.
func Start(t testing.TB) *Cluster {
	t.Helper()
	return StartWith(t, Options{})
}

// StartWith starts a control plane, which ends with the test. What Options.Build says
// of progress goes to the standard error by default: a build can last longer than
// the ten minutes that go test allows by default, and what it compiled until then
// is kept.
func StartWith(t testing.TB, o Options) *Cluster {
	t.Helper()
	if o.Build.Progress == nil {
		o.Build.Progress = os.Stderr
	}
	ctx, cancel := withTestDeadline(t)
	defer cancel()
	c, err := New(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// withTestDeadline ends a little before the test is ended by force.
func withTestDeadline(t testing.TB) (context.Context, context.CancelFunc) {
	limited, ok := t.(interface{ Deadline() (time.Time, bool) })
	if !ok {
		return context.WithCancel(t.Context())
	}
	deadline, ok := limited.Deadline()
	if !ok {
		return context.WithCancel(t.Context())
	}
	return context.WithDeadlineCause(t.Context(), deadline.Add(-testMargin), fmt.Errorf(
		"the test's time is up: allow more by -timeout, or build first with go run %s build",
		"github.com/gocampus/hark/cluster/cmd/hark-cluster"))
}
