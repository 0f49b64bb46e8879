package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gocampus/hark/internal/cli/hook"
	"github.com/gocampus/hark/watch"
	"github.com/gocampus/hark/workqueue"
)

var errWrong = errors.New("went wrong")

// terse writes a request on one line.
func terse(r *hook.Request) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s #%d", r.Type, r.Key, r.Attempt)
	if r.Merged > 0 {
		fmt.Fprintf(&b, " merged %d", r.Merged)
	}
	if r.Last != nil {
		b.WriteString(" last")
	}
	for _, c := range r.Causes {
		fmt.Fprintf(&b, " [%s %s %s", c.Type, c.Cause, c.ResourceVersion)
		if c.Diff != nil {
			for _, change := range *c.Diff {
				fmt.Fprintf(&b, " %s %v→%v", change.Path, change.Old, change.New)
			}
		}
		if c.Own {
			b.WriteString(" own")
		}
		b.WriteString("]")
	}
	return b.String()
}

func expectTold(t *testing.T, runs []*hook.Request, want ...string) {
	t.Helper()
	var got []string
	for _, r := range runs {
		got = append(got, terse(r))
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

func TestARunIsToldWhatLedToIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := begin(t, Options{}, nil)
		w.tell(pods, "a", watch.CauseInitial)
		synctest.Wait()
		w.set(pods, "a")
		synctest.Wait()
		w.remove(pods, "a")
		expectTold(t, w.expectRuns(3),
			"ADDED pods/default/a #1 [ADDED initial 1]",
			"MODIFIED pods/default/a #1 [MODIFIED watch 2 spec 1→2]",
			"DELETED pods/default/a #1 last [DELETED watch 2]")
		if n := len(w.engine.ledger.entries); n != 0 {
			t.Errorf("%d objects are remembered; want none", n)
		}
	})
}

func TestChangesDuringARunAreToldTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := begin(t, Options{}, func(context.Context, *hook.Request) (hook.Result, error) {
			time.Sleep(time.Second)
			return hook.Result{}, nil
		})
		w.set(pods, "a")
		synctest.Wait()
		for range 20 {
			w.set(pods, "a")
		}
		time.Sleep(5 * time.Second)
		runs := w.expectRuns(2)
		r := runs[1]
		if len(r.Causes) != maxCauses || r.Merged != 19 {
			t.Errorf("%d causes, merged %d; want %d and 19", len(r.Causes), r.Merged, maxCauses)
		}
		last := (*r.Causes[maxCauses-1].Diff)[0]
		if first := (*r.Causes[0].Diff)[0]; first.Old != int64(1) || last.Old != int64(8) || last.New != int64(21) {
			t.Errorf("the diffs go from %v to %v→%v; want 1 to 8→21", first.Old, last.Old, last.New)
		}
		if r.Object["spec"] != int64(21) {
			t.Errorf("the object is %v; want the newest", r.Object)
		}
	})
}

func TestAFailedRunIsToldAgainWithWhatCameSince(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mended atomic.Bool
		w := begin(t, Options{Backoff: workqueue.Backoff{Base: time.Minute}}, func(context.Context, *hook.Request) (hook.Result, error) {
			if !mended.Load() {
				return hook.Result{}, errWrong
			}
			return hook.Result{}, nil
		})
		w.set(pods, "a")
		synctest.Wait()
		if s := w.engine.summary(); len(s.FailingKeys) != 1 || s.FailingKeys[0].Err != errWrong.Error() || s.Clean() {
			t.Errorf("summary %+v; want one that fails", s)
		}
		w.set(pods, "a") // a change is worth a try at once
		synctest.Wait()
		mended.Store(true)
		time.Sleep(time.Hour)
		expectTold(t, w.expectRuns(3),
			"ADDED pods/default/a #1 [ADDED watch 1]",
			"ADDED pods/default/a #2 merged 1 [ADDED watch 1] [MODIFIED watch 2 spec 1→2]",
			"ADDED pods/default/a #3 merged 1 [ADDED watch 1] [MODIFIED watch 2 spec 1→2]")
		if s := w.end(); !s.Clean() || s.Done != 1 || s.Retried != 2 {
			t.Errorf("summary %+v", s)
		}
	})
}

func TestADeletionThatDoesNotMatterEndsTheTries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := begin(t, Options{
			Backoff: workqueue.Backoff{Base: time.Minute},
			When:    func(object, _ map[string]any) (bool, error) { return object != nil, nil },
		}, func(_ context.Context, r *hook.Request) (hook.Result, error) {
			if r.Key.Name == "slow" {
				time.Sleep(time.Second)
			}
			return hook.Result{}, errWrong
		})
		w.set(pods, "a")
		w.set(pods, "slow")
		synctest.Wait()
		w.remove(pods, "a")
		w.remove(pods, "slow") // while it is run
		if s := w.engine.summary(); len(s.FailingKeys) != 0 {
			t.Errorf("%+v is said to fail; want nothing", s.FailingKeys)
		}
		time.Sleep(time.Hour)
		w.expectRuns(2)
		if s := w.end(); !s.Clean() {
			t.Errorf("summary %+v; want that nothing is left", s)
		}
	})
}

func TestOutcomesFollowFromWhatTheProgramSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := map[string]int{}
		w := begin(t, Options{MaxTries: 3, Workers: 1}, func(_ context.Context, r *hook.Request) (hook.Result, error) {
			tries[r.Key.Name]++
			switch r.Key.Name {
			case "fails":
				return hook.Result{}, errWrong
			case "again":
				if tries["again"] < 6 {
					return hook.Result{}, hook.ErrAgain
				}
			case "park":
				return hook.Result{}, &hook.ParkError{Reason: "no such team"}
			case "later":
				if tries["later"] < 3 {
					return hook.Result{RequeueAfter: time.Hour}, nil
				}
			}
			return hook.Result{}, nil
		})
		for _, name := range []string{"fails", "again", "park", "later"} {
			w.set(pods, name)
		}
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		want := map[string]int{"fails": 3, "again": 6, "park": 1, "later": 3}
		if d := cmp.Diff(want, tries); d != "" {
			t.Errorf("runs (-want +got):\n%s", d)
		}
		s := w.end()
		if s.Runs != 13 || s.Done != 2 || s.Requeued != 2 || s.Again != 5 || s.Retried != 2 || s.Parked != 2 || s.Clean() {
			t.Errorf("summary %+v", s)
		}
		if len(s.ParkedKeys) != 2 || s.ParkedKeys[0].Tries != 3 || s.ParkedKeys[0].Err != errWrong.Error() || s.ParkedKeys[1].Err != "no such team" {
			t.Errorf("parked %+v", s.ParkedKeys)
		}
	})
}

func TestAParkedKeyRunsAgainWhenItsObjectChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := begin(t, Options{}, func(_ context.Context, r *hook.Request) (hook.Result, error) {
			return hook.Result{}, &hook.ParkError{Reason: "no"}
		})
		w.set(pods, "a")
		synctest.Wait()
		w.resync(pods, "a")
		w.expectRuns(1)
		w.set(pods, "a")
		expectTold(t, w.expectRuns(2)[1:], "MODIFIED pods/default/a #1 [MODIFIED watch 2 spec 1→2]")
		w.remove(pods, "a")
		w.expectRuns(3)
		if s := w.end(); len(s.ParkedKeys) != 1 || len(w.engine.ledger.entries) != 0 {
			t.Errorf("parked %+v, %d objects remembered", s.ParkedKeys, len(w.engine.ledger.entries))
		}
	})
}

func TestAFailingKeyDelaysNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := begin(t, Options{Workers: 1, Backoff: workqueue.Backoff{Base: time.Second}}, func(_ context.Context, r *hook.Request) (hook.Result, error) {
			if r.Key.Name == "bad" {
				return hook.Result{}, errWrong
			}
			return hook.Result{}, nil
		})
		w.set(pods, "bad")
		synctest.Wait()
		start := time.Now()
		for i := range 100 {
			w.set(pods, fmt.Sprint("good-", i))
		}
		w.expectRuns(101)
		if took := time.Since(start); took != 0 {
			t.Errorf("others waited for %s", took)
		}
	})
}

func TestKeysOfDifferentKindsWithOneNameAreDifferent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := begin(t, Options{Workers: 4}, func(context.Context, *hook.Request) (hook.Result, error) {
			time.Sleep(time.Second)
			return hook.Result{}, nil
		})
		w.set(pods, "a")
		w.set(widgets, "a")
		expectRuns := w.expectRuns(2) // side by side
		if expectRuns[0].Key == expectRuns[1].Key {
			t.Errorf("both are %s", expectRuns[0].Key)
		}
	})
}

func TestOnceEndsWhenWhatExistedIsDoneOrParked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := begin(t, Options{Once: true, MaxTries: 2}, func(_ context.Context, r *hook.Request) (hook.Result, error) {
			switch {
			case r.Key.Name == "bad":
				return hook.Result{}, errWrong
			case r.Key.Name == "slow" && r.Attempt < 3:
				return hook.Result{}, hook.ErrAgain
			case r.Key.Name == "later":
				return hook.Result{RequeueAfter: time.Second}, nil
			}
			return hook.Result{}, nil
		})
		for _, name := range []string{"bad", "slow", "later", "good"} {
			w.tell(pods, name, watch.CauseInitial)
		}
		synctest.Wait()
		w.sink.Synced()
		w.set(pods, "good") // too late
		s := w.finished()
		if s.Runs != 7 || len(s.ParkedKeys) != 1 || s.Done != 3 || w.err != nil {
			t.Errorf("summary %+v, error %v", s, w.err)
		}
	})
}

func TestOnceEndsAtOnceWhereThereIsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := begin(t, Options{Once: true}, nil)
		w.sink.Synced()
		if s := w.finished(); s.Runs != 0 || !s.Clean() {
			t.Errorf("summary %+v", s)
		}
	})
}

func TestTheEndOfAFeedIsWorkedOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		w := begin(t, Options{Workers: 1}, func(context.Context, *hook.Request) (hook.Result, error) {
			if tries++; tries < 4 {
				return hook.Result{}, errWrong
			}
			return hook.Result{}, nil
		})
		w.set(pods, "a")
		w.feed <- nil
		if s := w.finished(); s.Runs != 4 || !s.Clean() || w.err != nil {
			t.Errorf("summary %+v, error %v", s, w.err)
		}
	})
}

func TestAFeedThatFailsEndsTheEngine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := begin(t, Options{}, nil)
		w.feed <- errWrong
		if w.finished(); w.err != errWrong {
			t.Errorf("error %v; want the feed's", w.err)
		}
	})
}

func TestRunsMayFinishWithinTheGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := begin(t, Options{Grace: time.Minute}, func(ctx context.Context, r *hook.Request) (hook.Result, error) {
			wait := 30 * time.Second
			if r.Key.Name == "long" {
				wait = time.Hour
			}
			select {
			case <-time.After(wait):
				return hook.Result{}, nil
			case <-ctx.Done():
				return hook.Result{}, context.Cause(ctx)
			}
		})
		w.set(pods, "short")
		w.set(pods, "long")
		synctest.Wait()
		w.set(pods, "never")
		start := time.Now()
		s := w.end()
		if took := time.Since(start); took != time.Minute || s.Runs != 2 || s.Done != 1 || s.Interrupted != 1 || s.Clean() {
			t.Errorf("after %s: %+v", took, s)
		}
	})
}

func TestARunThatTakesTooLongIsAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := begin(t, Options{Timeout: time.Minute, MaxTries: 1}, func(ctx context.Context, r *hook.Request) (hook.Result, error) {
			if left := time.Until(time.Time(*r.Deadline)); left != time.Minute {
				t.Errorf("the deadline is in %s; want a minute", left)
			}
			<-ctx.Done()
			return hook.Result{}, context.Cause(ctx)
		})
		w.set(pods, "a")
		time.Sleep(2 * time.Minute)
		if s := w.end(); len(s.ParkedKeys) != 1 || s.ParkedKeys[0].Err != "timed out after 1m0s" {
			t.Errorf("summary %+v", s)
		}
	})
}

func TestOnlyChangesThatAreAskedForLeadToRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := begin(t, Options{
			On: map[watch.EventType]bool{watch.EventModified: true},
			When: func(object, old map[string]any) (bool, error) {
				if object["wrong"] != nil {
					return true, errWrong
				}
				return object["spec"] != int64(3) && old != nil, nil
			},
		}, nil)
		w.set(pods, "a")
		w.set(pods, "a") // 2
		synctest.Wait()
		w.set(pods, "a") // 3
		synctest.Wait()
		w.set(pods, "a", map[string]any{"wrong": true}) // an error counts as what it came with
		synctest.Wait()
		w.remove(pods, "a")
		runs := w.expectRuns(2)
		expectTold(t, runs[:1], "MODIFIED pods/default/a #1 [MODIFIED watch 2 spec 1→2]")
		if len(w.when) != 1 {
			t.Errorf("%d errors of the expression; want 1", len(w.when))
		}
	})
}

func TestADeletionThatDoesNotMatterTakesAPendingRunAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := begin(t, Options{On: map[watch.EventType]bool{watch.EventAdded: true}, Debounce: time.Second}, nil)
		w.set(pods, "a")
		w.remove(pods, "a")
		time.Sleep(time.Minute)
		w.expectRuns(0)
		if n := len(w.engine.ledger.entries); n != 0 {
			t.Errorf("%d objects are remembered; want none", n)
		}
	})
}

func TestDebounceWaitsForQuietButNotForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := begin(t, Options{Debounce: time.Second}, nil)
		w.tell(pods, "old", watch.CauseInitial)
		w.expectRuns(1) // at once
		start := time.Now()
		var first atomic.Int64
		w.does(func(context.Context, *hook.Request) (hook.Result, error) {
			first.CompareAndSwap(0, int64(time.Since(start)))
			return hook.Result{}, nil
		})
		for range 30 {
			w.set(pods, "a")
			time.Sleep(600 * time.Millisecond) // none comes in the moment in which a run begins
		}
		time.Sleep(time.Minute)
		runs := w.expectRuns(3)
		if first := time.Duration(first.Load()); first != 10*time.Second || runs[1].Merged+runs[2].Merged != 28 {
			t.Errorf("the first run came after %s, with %d and %d merged; want 10s and 28 in all", first, runs[1].Merged, runs[2].Merged)
		}
	})
}

func TestResyncRunsWhatHasNothingToDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var fails atomic.Bool
		w := begin(t, Options{Backoff: workqueue.Backoff{Base: time.Hour}}, func(context.Context, *hook.Request) (hook.Result, error) {
			if fails.Load() {
				return hook.Result{}, errWrong
			}
			return hook.Result{}, nil
		})
		w.set(pods, "a")
		synctest.Wait()
		fails.Store(true)
		w.resync(pods, "a")
		expectTold(t, w.expectRuns(2)[1:], "MODIFIED pods/default/a #1 [MODIFIED resync 1]")
		w.resync(pods, "a") // it waits for its next try
		w.expectRuns(2)
	})
}

func TestAnObjectThatCannotBeReadIsParked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := begin(t, Options{}, nil)
		broken := pods
		broken.GVK = schema.GroupVersionKind{} // and its items do not say it either
		w.set(broken, "a")
		w.expectRuns(0)
		if s := w.end(); len(s.ParkedKeys) != 1 || s.Runs != 1 {
			t.Errorf("summary %+v", s)
		}
	})
}
