package cases

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/gocampus/hark"
	"github.com/gocampus/hark/harktest"
	"github.com/gocampus/hark/key"
	"github.com/gocampus/hark/kube"
)

// hook is a reconciler that fails for a for ever and writes down what it is run
// for and how many objects it sees then: "b=1 of 3".
type hook struct {
	controller *hark.Controller[corev1.ConfigMap]
	runs       tape
	failures   cell[int]
	fail       func() error
}

func (h *hook) run(_ context.Context, k key.Key, m *corev1.ConfigMap) (hark.Result, error) {
	if k.Name == "a" {
		h.failures.change(func(n *int) { *n++ })
		return hark.Result{}, h.fail()
	}
	n := "gone"
	if m != nil {
		n = m.Data["n"]
	}
	h.runs.add(fmt.Sprintf("%s=%s of %d", k.Name, n, h.controller.Store().Len()))
	return hark.Result{}, nil
}

// firstRuns takes the runs, sorted: the objects that exist when a handler joins
// are handed over in any order.
func (h *hook) firstRuns() []string { return slices.Sorted(slices.Values(h.runs.take())) }

// start runs the hook in a controller.
func (h *hook) start(w *world, set *kube.Informers) (stop func() error) {
	h.controller = hark.New(w.client, hark.Options[corev1.ConfigMap]{
		Namespace: "default", Workers: 1, Logger: quiet, Reconcile: h.run, Informers: set})
	return control(w.t, h.controller)
}

// TestCase45_FailingHookDoesNotBlockOthers, in whatever way it fails.
func TestCase45_FailingHookDoesNotBlockOthers(t *testing.T) {
	ways := map[string]func() error{
		"an error":           func() error { return errors.New("exit status 1") },
		"a permanent error":  func() error { return hark.Permanent(errors.New("exit status 2")) },
		"a panic":            func() error { panic("segmentation fault") },
		"a wrapped deadline": func() error { return fmt.Errorf("hook: %w", context.DeadlineExceeded) },
	}
	playAll(t, bothOf, ways, func(t *testing.T, w *world, fail func() error) {
		w.create("a=1", "b=1", "c=1")
		h := &hook{fail: fail}
		h.start(w, nil)
		settle(time.Minute)
		expect(t, "first runs", h.firstRuns(), "b=1 of 3, c=1 of 3")
		for n := 2; n < 6; n++ {
			w.set(fmt.Sprintf("b=%d", n))
			settle(time.Second)
		}
		expect(t, "runs", h.runs.take(), "b=2 of 3, b=3 of 3, b=4 of 3, b=5 of 3")
		settle(time.Hour)
		if n := h.failures.get(); n < 1 || n > 30 {
			t.Errorf("the failing one was tried %d times in an hour; want a bounded backoff", n)
		}
		s := h.controller.Status()
		if seen := len(s.Parked) + len(s.Queue.Delayed); seen != 1 {
			t.Errorf("%d keys are seen to wait or to be parked; want the failing one", seen)
		}
	})
}

// TestCase45_SnapshotsAreNeverSilentlyEmpty: the monitor is lost and made again,
// while the server fails; a hook runs with all objects, or not at all and there
// is an error.
func TestCase45_SnapshotsAreNeverSilentlyEmpty(t *testing.T) {
	faults := map[string]harktest.Fault{
		"forbidden":     {Code: 403},
		"cut":           {CutAfterBytes: 100},
		"never answers": {Silent: true},
		"slow":          {BytesPerSecond: 2},
		"refused":       {Refuse: true},
	}
	playAll(t, bothOf, faults, func(t *testing.T, w *world, fault harktest.Fault) {
		w.create("b=1", "c=1", "d=1")
		h := &hook{}
		stop := h.start(w, nil)
		settle(time.Second)
		must(t, stop())
		expect(t, "runs", h.firstRuns(), "b=1 of 3, c=1 of 3, d=1 of 3")

		fault.Resource = "configmaps"
		lift := w.Inject(fault)
		stop = h.start(w, nil)
		settle(2 * time.Minute)
		expect(t, "runs of one that has no list", h.runs.take(), "")
		if err := stop(); err == nil || !strings.Contains(err.Error(), "configmaps") {
			t.Errorf("Run = %v; want what was missing", err)
		}
		stop = h.start(w, nil)
		settle(time.Minute)
		lift()
		settle(5 * time.Minute)
		expect(t, "runs once it has", h.firstRuns(), "b=1 of 3, c=1 of 3, d=1 of 3")
		must(t, stop())
	})
}

// A list that is under way, or fails in the middle, takes nothing away from the
// one before.
func TestCase45_SnapshotsStayWholeDuringARelist(t *testing.T) {
	play(t, bothOf, func(t *testing.T, w *world) {
		w.create("b=1", "c=1", "d=1")
		h := &hook{}
		h.start(w, nil)
		settle(time.Second)
		h.runs.take()
		w.gap(true, func() {}, harktest.Fault{Resource: "configmaps", Times: 4, CutAfterBytes: 100},
			harktest.Fault{Resource: "configmaps", BytesPerSecond: 40})
		for range 20 {
			h.controller.Enqueue(key.Key{Namespace: "default", Name: "b"}, 0)
			settle(time.Second)
		}
		runs := h.runs.take()
		if len(runs) != 20 {
			t.Errorf("%d runs; want 20", len(runs))
		}
		for _, run := range runs {
			if run != "b=1 of 3" {
				t.Errorf("a run saw %s; want all 3 objects", run)
			}
		}
	})
}

// Shared informers that are lost with their last user come back whole: the next
// user waits for a list.
func TestCase45_MonitorIsLostAndMadeAgain(t *testing.T) {
	play(t, bothOf, func(t *testing.T, w *world) {
		w.create("b=1", "c=1")
		set, _ := w.shared(kube.InformersOptions{})
		for n := range 3 {
			h := &hook{}
			w.Inject(harktest.Fault{Resource: "configmaps", Times: 1, Delay: 10 * time.Second})
			stop := h.start(w, set)
			settle(5 * time.Second)
			expect(t, "runs before the list", h.runs.take(), "")
			settle(time.Minute)
			must(t, stop())
			expect(t, "runs", h.firstRuns(), fmt.Sprintf("b=%d of 2, c=1 of 2", n+1))
			w.set(fmt.Sprintf("b=%d", n+2))
		}
	})
}
