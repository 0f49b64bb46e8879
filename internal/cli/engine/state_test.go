package engine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gocampus/hark/internal/cli/hook"
	"github.com/gocampus/hark/watch"
	"github.com/gocampus/hark/workqueue"
)

func failing(context.Context, *hook.Request) (hook.Result, error) { return hook.Result{}, errWrong }

func TestParkedKeysAndFailuresSurviveARestart(t *testing.T) {
	var kept *State
	options := Options{MaxTries: 5, Backoff: workqueue.Backoff{Base: time.Hour, Max: 100 * time.Hour}, Save: func(s *State) error { kept = s; return nil }}
	synctest.Test(t, func(t *testing.T) {
		w := begin(t, options, func(_ context.Context, r *hook.Request) (hook.Result, error) {
			if r.Key.Name != "fails" {
				return hook.Result{}, &hook.ParkError{Reason: "no"}
			}
			return hook.Result{}, errWrong
		})
		for _, name := range []string{"fails", "parked", "changes", "goes"} {
			w.set(pods, name)
		}
		synctest.Wait()
		w.set(pods, "fails")
		w.expectRuns(5)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if kept == nil || len(kept.Keys) != 4 {
			t.Fatalf("saved after two seconds: %+v", kept)
		}
		w.end()
	})
	options.State = kept
	synctest.Test(t, func(t *testing.T) {
		w := begin(t, options, failing)
		w.version = 1
		w.tell(pods, "parked", watch.CauseInitial) // version 2, as before
		w.tell(pods, "changes", watch.CauseInitial)
		w.version = 9
		w.remove(pods, "changes")
		w.tell(pods, "fails", watch.CauseInitial)
		w.sink.Synced()
		synctest.Wait()
		var told []string
		for _, r := range w.told() {
			told = append(told, terse(r))
		}
		joined := strings.Join(told, "; ")
		if !strings.Contains(joined, "pods/default/fails #3") || strings.Contains(joined, "parked") {
			t.Errorf("run: %s", joined)
		}
		for _, r := range w.outcomes() {
			if r.Key.Name == "fails" && r.Next != 4*time.Hour {
				t.Errorf("the next try comes in %s; want that the backoff goes on, 4h", r.Next)
			}
		}
		w.end()
	})
	for _, k := range kept.Keys {
		if k.Name == "goes" {
			t.Error("an object that exists no more is kept")
		}
		if k.Name == "parked" && k.Parked.IsZero() {
			t.Error("what was parked is not any more")
		}
	}
}

func TestARestartForgetsNothingForWhichAnObjectAloneIsNoCause(t *testing.T) {
	parked := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	kept := &State{Keys: []Kept{
		{Resource: "pods", Namespace: "default", Name: "fails", ResourceVersion: "7", Tries: 2, Failures: 2, Error: "no"},
		{Resource: "pods", Namespace: "default", Name: "parked", ResourceVersion: "8", Tries: 1, Failures: 1, Error: "no", Parked: parked},
	}}
	options := Options{On: map[watch.EventType]bool{watch.EventModified: true}, State: kept, Save: func(s *State) error { kept = s; return nil }}
	synctest.Test(t, func(t *testing.T) {
		w := begin(t, options, nil)
		w.tell(pods, "fails", watch.CauseInitial)
		w.tell(pods, "parked", watch.CauseInitial)
		w.tell(pods, "well", watch.CauseInitial)
		w.sink.Synced()
		expectTold(t, w.expectRuns(1), "ADDED pods/default/fails #3 [ADDED initial 1]")
		if s := w.end(); len(s.ParkedKeys) != 1 || s.ParkedKeys[0].Since != parked {
			t.Errorf("summary %+v; want one that is still parked", s)
		}
	})
	if len(kept.Keys) != 1 || kept.Keys[0].Name != "parked" {
		t.Errorf("kept %+v; want what is parked", kept.Keys)
	}
}

func TestAStateThatCannotBeSavedIsToldAndTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		saves, complaints := 0, 0
		full := errors.New("no space left")
		w := begin(t, Options{
			Save: func(*State) error { saves++; return full }, OnSaveError: func(error) { complaints++ },
		}, failing)
		w.set(pods, "a")
		time.Sleep(10 * time.Second)
		if w.end(); w.err == nil || complaints < 5 || saves != complaints+1 {
			t.Errorf("error %v, %d saves, %d complaints", w.err, saves, complaints)
		}
	})
}

func TestAStateFileIsReadAsItWasWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	if s, err := ReadState(path); err != nil || len(s.Keys) != 0 {
		t.Errorf("no file: %+v, %v; want an empty state", s, err)
	}
	want := &State{Keys: []Kept{
		{Resource: "pods", Namespace: "default", Name: "a", ResourceVersion: "7", Tries: 3, Failures: 2, Error: "no\n\"x\"", Parked: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)},
		{Resource: "nodes", Name: "b", Tries: 1},
	}}
	for range 2 { // over what is there, too
		if err := WriteState(path, want); err != nil {
			t.Fatal(err)
		}
	}
	got, err := ReadState(path)
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
	if files, err := os.ReadDir(filepath.Dir(path)); err != nil || len(files) != 1 {
		t.Errorf("%d files are left, %v; want the one", len(files), err)
	}
}

func TestALinkToAStateFileStays(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	if err := os.Symlink("state", link); err != nil {
		t.Skip(err)
	}
	for range 2 { // the file does not exist at first
		if err := WriteState(link, &State{}); err != nil {
			t.Fatal(err)
		}
	}
	if to, err := os.Readlink(link); err != nil || to != "state" {
		t.Errorf("the link leads to %q, %v; want it as it was", to, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "state")); err != nil {
		t.Error(err)
	}
}

func TestADeviceIsNoStateFile(t *testing.T) {
	if _, err := ReadState(os.DevNull); !errors.Is(err, ErrNoState) {
		t.Errorf("%v; want ErrNoState", err)
	}
}

func TestWhatIsNoStateIsRefused(t *testing.T) {
	for _, content := range []string{"{]", `{"schema":"other"}`, `{"keys":[]}`, `{"schema":"` + stateSchema + `","keys":[{}]}`, "a diary"} {
		if _, err := parseState([]byte(content)); !errors.Is(err, ErrNoState) {
			t.Errorf("%s: %v; want ErrNoState", content, err)
		}
	}
}

func FuzzAStateFileNeverPanics(f *testing.F) {
	f.Add([]byte(`{"schema":"` + stateSchema + `","keys":[{"resource":"pods","name":"a","tries":1,"parked":"2026-01-02T03:04:05Z"}]}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		s, err := parseState(content)
		if (err == nil) != (s != nil) {
			t.Fatalf("%v, %v", s, err)
		}
		if err != nil {
			return
		}
		path := filepath.Join(t.TempDir(), "state")
		if err := WriteState(path, s); err != nil {
			t.Skip(err) // a time beyond what JSON holds
		}
		if _, err := ReadState(path); err != nil {
			t.Errorf("written, it is refused: %v", err)
		}
	})
}
