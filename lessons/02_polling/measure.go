package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gocampus/hark/harktest"
	"github.com/gocampus/hark/key"
)

const (
	namespace = "default"
	idlePods  = 300 // to which nothing happens
	// pace is the time between two changes. It does not divide the period, lest
	// the poller always looks at the same moment of a life.
	pace = 700 * time.Millisecond
)

// figures are what one way of observing costs and yields.
type figures struct {
	Delay  time.Duration // from a change to its notice, the mean of those noticed
	Bytes  int64         // received
	Missed int           // changes never noticed
}

// measure lets pods change for a while, and observes that in both ways.
func measure(ctx context.Context, server *harktest.Server, period, duration time.Duration) (changes int, polled, watched figures, err error) {
	if err := server.Preload(idle()...); err != nil {
		return 0, figures{}, figures{}, err
	}
	poller, err1 := newObserver(ctx, server.Config())
	listener, err2 := newObserver(ctx, server.Config())
	if err := errors.Join(err1, err2); err != nil {
		return 0, figures{}, figures{}, err
	}
	defer poller.close()
	defer listener.close()

	observing, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { err1 = poller.poll(observing, period) })
	running.Go(func() { err2 = listener.listen(observing) })
	made, err := play(ctx, server, duration)
	if err == nil {
		err = sleep(ctx, period) // the poller asks once more
	}
	stop()
	running.Wait()
	return len(made), poller.figures(made), listener.figures(made), errors.Join(err, err1, err2)
}

// play makes jobs one after the other, and returns when each change was made, by
// its name.
func play(ctx context.Context, server *harktest.Server, duration time.Duration) (map[string]time.Time, error) {
	made := map[string]time.Time{}
	for end := time.Now().Add(duration); time.Now().Before(end); {
		if err := playJob(ctx, server, pod(fmt.Sprintf("job-%d", len(made))), made); err != nil {
			return made, err
		}
	}
	return made, nil
}

// playJob is the life of one pod: it comes, runs, fails for a moment, runs
// again, and goes.
func playJob(ctx context.Context, server *harktest.Server, job *corev1.Pod, made map[string]time.Time) error {
	k := key.Key{Namespace: namespace, Name: job.Name}
	become := func(phase corev1.PodPhase) error {
		return server.ChangeStatus(ctx, job, func() { job.Status.Phase = phase })
	}
	steps := []func() error{
		func() error { return server.Create(ctx, job) },
		func() error { return become(corev1.PodRunning) },
		func() error { return become(corev1.PodFailed) },
		func() error { return become(corev1.PodRunning) },
		func() error { return server.Delete(ctx, job) },
	}
	for n, step := range steps {
		if err := sleep(ctx, pace); err != nil {
			return err
		}
		at := time.Now()
		if err := step(); err != nil {
			return err
		}
		name := version(k, job.ResourceVersion)
		if n == len(steps)-1 {
			name = gone(k)
		}
		made[name] = at
	}
	return nil
}

// figures compares what was noticed with what was made.
func (o *observer) figures(made map[string]time.Time) figures {
	o.mu.Lock()
	defer o.mu.Unlock()
	f := figures{Bytes: o.bytes.Load()}
	var total time.Duration
	for change, at := range made {
		if noticed, ok := o.when[change]; ok {
			total += noticed.Sub(at)
		} else {
			f.Missed++
		}
	}
	if n := len(made) - f.Missed; n > 0 {
		f.Delay = total / time.Duration(n)
	}
	return f
}

func idle() []harktest.Object {
	pods := make([]harktest.Object, idlePods)
	for n := range pods {
		pods[n] = pod(fmt.Sprintf("idle-%d", n))
	}
	return pods
}

func pod(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "nginx", Image: "nginx:1.27"}}},
	}
}

// sleep waits for d, or until ctx has ended and returns its cause.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}
