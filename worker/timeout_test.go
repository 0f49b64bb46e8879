package worker_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocampus/hark/worker"
)

func TestATimeoutEndsTheContextOfTheRunAndSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cause error
		b := newBench(t, func(ctx context.Context, _ string) (worker.Result, error) {
			<-ctx.Done()
			cause = context.Cause(ctx)
			return worker.Result{}, ctx.Err()
		}, worker.Options[string]{Timeout: time.Minute, MaxTries: 1})
		b.queue.Add("a")
		time.Sleep(time.Hour)
		b.expect(t, "0s a try 1 parked")
		err := b.all()[0].Err
		if !errors.Is(cause, worker.ErrTimeout) || !errors.Is(err, worker.ErrTimeout) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("cause %v, error %v; want ErrTimeout in both", cause, err)
		}
		if !strings.Contains(err.Error(), "1m0s") {
			t.Errorf("%q does not tell the timeout", err)
		}
		if s := b.pool.Stats(); s.Timeouts != 1 || s.Overruns != 0 || b.all()[0].Overrun {
			t.Errorf("%+v; want a timeout and no overrun", s)
		}
		b.mustEnd(t)
	})
}

func TestARunThatEndsInTimeIsNeitherATimeoutNorAnOverrun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(context.Context, string) (worker.Result, error) {
			time.Sleep(time.Second)
			return worker.Result{}, errors.New("no")
		}, worker.Options[string]{Timeout: time.Minute, MaxTries: 1})
		b.queue.Add("a")
		time.Sleep(time.Hour)
		if s := b.pool.Stats(); s.Timeouts != 0 || s.Overruns != 0 || errors.Is(b.all()[0].Err, worker.ErrTimeout) {
			t.Errorf("%+v, %v", s, b.all()[0].Err)
		}
		b.mustEnd(t)
	})
}

func TestARunThatIgnoresItsTimeoutIsReportedAndNeverRunTwiceAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		overruns := make(chan worker.Running[string], 10)
		atOnce := 0
		b := newBench(t, func(context.Context, string) (worker.Result, error) {
			if atOnce++; atOnce > 1 {
				t.Error("two runs at once")
			}
			time.Sleep(time.Hour)
			atOnce--
			return worker.Result{}, nil
		}, worker.Options[string]{
			Timeout: time.Minute, Grace: 10 * time.Second, Workers: 3,
			OnOverrun: func(r worker.Running[string]) { overruns <- r },
		})
		b.queue.Add("stuck")
		time.Sleep(65 * time.Second)
		if len(overruns) != 0 || b.pool.Stats().Overruns != 0 {
			t.Error("reported within the grace time")
		}
		b.queue.Add("stuck") // must wait for the run under way
		time.Sleep(10 * time.Second)
		synctest.Wait()
		s := b.pool.Stats()
		if s.Overruns != 1 || len(s.Running) != 1 || !s.Running[0].Overrun || s.Running[0].Item != "stuck" || !s.Running[0].Started.Equal(b.start) {
			t.Errorf("%+v; want stuck to be reported while it runs", s)
		}
		if r := <-overruns; r.Item != "stuck" || !r.Overrun {
			t.Errorf("OnOverrun got %+v", r)
		}
		time.Sleep(3 * time.Hour)
		b.expect(t, "0s stuck try 1 succeeded", "1h0m0s stuck try 1 succeeded")
		if !b.all()[0].Overrun {
			t.Errorf("%+v; want an overrun", b.all()[0])
		}
		b.mustEnd(t)
	})
}

func TestWithoutATimeoutARunHasNoDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type key struct{}
		ctx, stop := context.WithCancel(context.WithValue(t.Context(), key{}, "value"))
		b := newBench(t, script(succeed), worker.Options[string]{})
		b.mustEnd(t)
		pool := worker.New(b.queue, func(ctx context.Context, _ string) (worker.Result, error) {
			if _, ok := ctx.Deadline(); ok || ctx.Value(key{}) != "value" || ctx.Err() != nil {
				t.Errorf("deadline %t, value %v, %v", ok, ctx.Value(key{}), ctx.Err())
			}
			return worker.Result{}, nil
		}, worker.Options[string]{})
		defer stop()
		if err := pool.Run(ctx); err != nil { // the queue is shut down
			t.Errorf("Run: %v", err)
		}
	})
}

func TestRunWaitsForTheReportOfAnOverrun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reported := false
		b := newBench(t, func(context.Context, string) (worker.Result, error) {
			time.Sleep(2 * time.Minute)
			return worker.Result{}, nil
		}, worker.Options[string]{
			Timeout: time.Minute,
			OnOverrun: func(worker.Running[string]) {
				time.Sleep(time.Hour)
				reported = true
			},
		})
		b.queue.Add("a")
		synctest.Wait()
		b.stop()
		if err := <-b.ended; !reported {
			t.Errorf("Run returned %v while OnOverrun was running", err)
		}
		b.queue.ShutDown()
	})
}
