package demo

import (
	"context"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gocampus/hark/internal/text"
	"github.com/gocampus/hark/key"
	"github.com/gocampus/hark/worker"
)

// retry shows a key whose work needs something that is not there yet: it fails
// twice, somebody brings what is missing, the third try succeeds.
func (p *play) retry(ctx context.Context, h *helpers) error {
	const missing = "flaky-input"
	object := key.Key{Namespace: namespace, Name: "flaky"}
	p.screen.title(text.DemoRetryTitle, "key", object.String(), "missing", "configmaps/"+missing)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(errPlayed)

	tries := &tries{screen: p.screen, succeeded: make(chan struct{}), failed: make(chan error, 1)}
	tries.afterSecond = func() error { return p.bring(ctx, missing) }
	work := func(ctx context.Context, _ *pipeline, _ key.Key) error {
		_, err := p.api.CoreV1().ConfigMaps(namespace).Get(ctx, missing, metav1.GetOptions{})
		return err
	}
	line, err := p.configMapPipeline(ctx, object.Name, work, worker.Options[key.Key]{Workers: 1, OnEnd: tries.ended})
	if err != nil {
		return err
	}
	h.start(ctx, line.run)
	if err := p.bring(ctx, object.Name); err != nil {
		return err
	}
	if err := p.await(ctx, tries.succeeded); err != nil {
		return err
	}
	select {
	case err := <-tries.failed:
		return err
	default:
		return nil
	}
}

// bring creates a ConfigMap and shows that it does.
func (p *play) bring(ctx context.Context, name string) error {
	p.screen.typed("kubectl create configmap " + name)
	return p.createConfigMap(ctx, name, nil)
}

// tries tells of the runs of one key. Its methods are called by the one worker.
type tries struct {
	screen      *screen
	afterSecond func() error
	last        time.Time // end of the last try
	done        bool
	succeeded   chan struct{} // closed with the first success
	failed      chan error    // of afterSecond; holds one
}

func (t *tries) ended(run worker.Run[key.Key]) {
	if t.done {
		return
	}
	number := strconv.Itoa(run.Tries)
	gap := run.Started.Sub(t.last).Round(100 * time.Microsecond).String()
	switch {
	case run.Err == nil:
		t.screen.stamped(text.DemoTryDone, "try", number, "gap", gap)
		t.done = true
		close(t.succeeded)
	case run.Tries == 1:
		t.screen.stamped(text.DemoTryFailed, "try", number, "error", run.Err.Error())
	default:
		t.screen.stamped(text.DemoTryAgain, "try", number, "gap", gap, "error", run.Err.Error())
	}
	t.last = run.Started.Add(run.Duration)
	if run.Tries == 2 && run.Err != nil {
		if err := t.afterSecond(); err != nil {
			t.failed <- err
		}
	}
}
