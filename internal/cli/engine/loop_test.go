package engine

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocampus/hark/internal/cli/hook"
	"github.com/gocampus/hark/workqueue"
)

// by is a managedFields list whose last writer is a manager.
func by(manager, at string) map[string]any {
	return map[string]any{"managedFields": []any{
		map[string]any{"manager": "kubectl", "operation": "Update", "time": "1999-01-01T00:00:00Z", "fieldsV1": map[string]any{"f:spec": map[string]any{}}},
		map[string]any{"manager": manager, "operation": "Apply", "time": at, "fieldsV1": map[string]any{"f:status": map[string]any{}}},
	}}
}

func TestJudgeTellsWhoseAChangeIs(t *testing.T) {
	object := func(entries ...map[string]any) map[string]any {
		var list []any
		for _, e := range entries {
			list = append(list, e)
		}
		return map[string]any{"metadata": map[string]any{"managedFields": list}}
	}
	entry := func(manager, at string, fields ...string) map[string]any {
		owned := map[string]any{}
		for _, f := range fields {
			owned["f:"+f] = map[string]any{}
		}
		return map[string]any{"manager": manager, "operation": "Update", "time": at, "fieldsV1": owned}
	}
	const early, late = "2026-01-01T00:00:00Z", "2026-01-01T00:00:09Z"
	for name, tc := range map[string]struct {
		old, new    map[string]any
		named, bare verdict
	}{
		"a new time":              {object(entry("me", early, "a"), entry("you", early, "b")), object(entry("me", late, "a"), entry("you", early, "b")), own, own},
		"another's new time":      {object(entry("me", early, "a"), entry("you", early, "b")), object(entry("me", early, "a"), entry("you", late, "b")), foreign, unknown},
		"fields taken over":       {object(entry("me", early, "a"), entry("you", late, "b", "c")), object(entry("me", late, "a", "c"), entry("you", late, "b")), own, own},
		"a new entry":             {object(entry("you", late, "b")), object(entry("me", late, "a"), entry("you", late, "b")), own, own},
		"within the second, one":  {object(entry("me", late, "a"), entry("you", early, "b")), object(entry("me", late, "a"), entry("you", early, "b")), own, own},
		"within the second, two":  {object(entry("me", late, "a"), entry("you", late, "b")), object(entry("me", late, "a"), entry("you", late, "b")), unknown, unknown},
		"a merge of two":          {object(entry("me", early, "a"), entry("you", early, "b")), object(entry("me", late, "a"), entry("you", late, "b")), foreign, unknown},
		"created":                 {nil, object(entry("me", early, "a")), own, own},
		"no managedFields at all": {map[string]any{}, map[string]any{}, unknown, unknown},
		"deleted":                 {object(entry("me", early, "a")), nil, unknown, unknown},
	} {
		if got := judge(tc.old, tc.new, "me", true); got != tc.named {
			t.Errorf("%s: %d; want %d", name, got, tc.named)
		}
		if got := judge(tc.old, tc.new, "me", false); got != tc.bare {
			t.Errorf("%s, by a program that may write under another name: %d; want %d", name, got, tc.bare)
		}
	}
}

// writing is a program that changes the object each time.
func writing(w **world, fields func() map[string]any) func(context.Context, *hook.Request) (hook.Result, error) {
	return func(context.Context, *hook.Request) (hook.Result, error) {
		time.Sleep(10 * time.Millisecond)
		if f := fields(); f != nil {
			(*w).set(pods, "a", f)
		}
		return hook.Result{}, nil
	}
}

func TestAHotLoopIsSaidAndSlowedDownMoreAndMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w *world
		w = begin(t, Options{Loop: Loop{Runs: 10, Window: 10 * time.Second}, Workers: 1}, writing(&w, func() map[string]any {
			return by("hark-run", time.Now().UTC().Format(time.RFC3339))
		}))
		w.set(pods, "a", by("kubectl", "1999-01-01T00:00:01Z"))
		time.Sleep(10 * time.Minute)
		w.mu.Lock()
		defer w.mu.Unlock()
		if len(w.loops) != 7 { // 1s, 2s … 1m
			t.Fatalf("said %d times; want 7", len(w.loops))
		}
		first, last := w.loops[0], w.loops[6]
		if first.Penalty != time.Second || last.Penalty != time.Minute || !first.Sure || len(first.Changes) != 1 || first.Changes[0].Path != "spec" {
			t.Errorf("first %+v, last penalty %s", first, last.Penalty)
		}
		if len(w.runs) < 20 || len(w.runs) > 30 {
			t.Errorf("%d runs in ten minutes; want about 11, then 7, then one a minute", len(w.runs))
		}
		if !w.runs[5].Causes[0].Own || w.runs[0].Causes[0].Own {
			t.Errorf("own: %s, %s", terse(w.runs[0]), terse(w.runs[5]))
		}
	})
}

func TestAHotLoopWithoutManagersIsFoundByTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w *world
		w = begin(t, Options{Loop: Loop{Runs: 10, Window: 10 * time.Second}}, writing(&w, func() map[string]any { return map[string]any{} }))
		w.set(pods, "a")
		time.Sleep(time.Minute)
		w.mu.Lock()
		defer w.mu.Unlock()
		if len(w.loops) != 4 || w.loops[3].Penalty != 8*time.Second || w.loops[0].Sure {
			t.Errorf("%d times, %+v", len(w.loops), w.loops)
		}
	})
}

func TestAChangeByOthersDoesNotWaitAndEndsTheLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w *world
		var stop atomic.Bool
		w = begin(t, Options{Loop: Loop{Runs: 3, Window: time.Second}, Workers: 1, Named: true}, writing(&w, func() map[string]any {
			if stop.Load() {
				return nil
			}
			return by("hark-run", time.Now().UTC().Format(time.RFC3339))
		}))
		w.set(pods, "a", by("kubectl", "1999-01-01T00:00:01Z"))
		time.Sleep(5 * time.Minute) // the next run is up to a minute away
		stop.Store(true)
		synctest.Wait()
		before := len(w.told())
		w.set(pods, "a", by("other", "2027-01-01T00:00:00Z"))
		time.Sleep(time.Second)
		w.expectRuns(before + 1)
		w.engine.mu.Lock()
		defer w.engine.mu.Unlock()
		for _, n := range w.engine.ledger.entries {
			if n.loop.penalty != 0 {
				t.Errorf("changes still wait %s", n.loop.penalty)
			}
		}
	})
}

func TestManyChangesByOthersAreNoLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := begin(t, Options{Loop: Loop{Runs: 3, Window: time.Minute}, Named: true}, nil)
		for range 100 {
			w.set(pods, "a", by("other", time.Now().UTC().Format(time.RFC3339)))
			time.Sleep(100 * time.Millisecond)
		}
		w.expectRuns(100)
		if len(w.loops) != 0 {
			t.Errorf("said %+v", w.loops[0])
		}
	})
}

func TestAParkedKeyIsNotWokenByWhatItsRunHasWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w *world
		w = begin(t, Options{Named: true}, func(context.Context, *hook.Request) (hook.Result, error) {
			if len(w.told()) < 9 { // not for ever
				w.set(pods, "a", by("hark-run", time.Now().UTC().Format(time.RFC3339)))
			}
			return hook.Result{}, &hook.ParkError{Reason: "no"}
		})
		w.set(pods, "a", by("kubectl", "1999-01-01T00:00:01Z"))
		w.expectRuns(1)
		if s := w.engine.summary(); len(s.ParkedKeys) != 1 {
			t.Errorf("summary %+v; want that it is parked", s)
		}
		w.does(func(context.Context, *hook.Request) (hook.Result, error) {
			if len(w.told()) == 2 { // others change it, too
				w.set(pods, "a", by("hark-run", "2026-01-01T00:00:20Z"))
				w.set(pods, "a", by("kubectl", "2026-01-01T00:00:30Z"))
			}
			return hook.Result{}, &hook.ParkError{Reason: "no"}
		})
		w.set(pods, "a", by("kubectl", "2026-01-01T00:00:10Z"))
		w.expectRuns(3)
	})
}

func TestItsOwnWritesMakeNoPauseShorter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w *world
		writes := func(err error) func(context.Context, *hook.Request) (hook.Result, error) {
			return func(context.Context, *hook.Request) (hook.Result, error) {
				if len(w.told()) < 9 { // not for ever
					w.set(pods, "a", by("hark-run", time.Now().UTC().Format(time.RFC3339)))
				}
				return hook.Result{}, err
			}
		}
		w = begin(t, Options{
			Backoff: workqueue.Backoff{Base: time.Minute, Max: time.Minute}, Loop: Loop{Runs: 1, Window: time.Hour},
		}, writes(errWrong))
		w.set(pods, "a", by("kubectl", "1999-01-01T00:00:01Z"))
		w.expectRuns(1)
		w.set(pods, "a", by("hark-run", "2026-01-01T00:00:20Z")) // it arrives late
		w.expectRuns(1)
		w.set(pods, "a", by("kubectl", "2026-01-01T00:00:30Z"))
		w.expectRuns(2)
		time.Sleep(3*time.Minute + time.Second)
		w.expectRuns(5)
		if len(w.loops) != 0 {
			t.Errorf("said to be a hot loop: %+v", w.loops[0])
		}
		w.does(writes(nil))
		time.Sleep(5 * time.Minute)
		w.expectRuns(9) // a run that went well is followed by one for what it has written
		if s := w.end(); !s.Clean() {
			t.Errorf("summary %+v", s)
		}
	})
}

func TestAParkedKeyIsNotWokenByItsOwnWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := begin(t, Options{Named: true}, func(context.Context, *hook.Request) (hook.Result, error) {
			return hook.Result{}, &hook.ParkError{Reason: "no"}
		})
		w.set(pods, "a", by("kubectl", "1999-01-01T00:00:01Z"))
		synctest.Wait()
		w.set(pods, "a", by("hark-run", "2026-01-01T00:00:09Z"))
		w.expectRuns(1)
		w.set(pods, "a", by("kubectl", "2026-01-01T00:00:20Z"))
		w.expectRuns(2)
	})
}
