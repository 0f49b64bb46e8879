package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocampus/hark/internal/cli/hook"
	"github.com/gocampus/hark/kube"
	"github.com/gocampus/hark/workqueue"
)

// Random changes of keys of two kinds, and a program that fails, parks, asks for
// later runs and takes its time. However that goes: no key runs twice at once, what
// a run is told begins where the last good one ended, and in the end each key's
// last state was seen by a run that went well, or the key is parked.
func TestWhateverHappensEachLastStateIsSeenOnce(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { model(t, rand.New(rand.NewPCG(seed, 1))) })
		})
	}
}

// seen is what the program of the model knows.
type seen struct {
	mu      sync.Mutex
	random  *rand.Rand
	running map[hook.Key]bool
	good    map[hook.Key]any // the spec that the last good run was told; nil for deleted
	wrong   []string
}

func (s *seen) chance(n int) bool { return s.random.IntN(n) == 0 }

// begin checks what a run is told, and says how it goes on.
func (s *seen) begin(r *hook.Request) (pause time.Duration, result hook.Result, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running[r.Key] {
		s.wrong = append(s.wrong, "twice at once: "+terse(r))
	}
	s.running[r.Key] = true
	if c := r.Causes[0]; c.Diff != nil && len(*c.Diff) > 0 {
		if last, ok := s.good[r.Key]; ok && last != (*c.Diff)[0].Old {
			s.wrong = append(s.wrong, fmt.Sprintf("a gap after %v: %s", last, terse(r)))
		}
	}
	switch {
	case s.chance(4):
		err = errWrong
	case s.chance(12):
		err = hook.ErrAgain
	case s.chance(30):
		err = &hook.ParkError{Reason: "no"}
	case s.chance(10):
		result.RequeueAfter = time.Duration(1+s.random.IntN(5000)) * time.Millisecond
	}
	return time.Duration(s.random.IntN(300)) * time.Millisecond, result, err
}

func (s *seen) end(r *hook.Request, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running[r.Key] = false
	switch {
	case err == nil:
		s.good[r.Key] = r.Object["spec"]
	case fmt.Sprint(err) == "no":
		delete(s.good, r.Key) // what it was told is not told again
	}
}

func model(t *testing.T, random *rand.Rand) {
	s := &seen{random: rand.New(rand.NewPCG(random.Uint64(), 2)), running: map[hook.Key]bool{}, good: map[hook.Key]any{}}
	options := Options{Workers: 3, Backoff: workqueue.Backoff{Max: 10 * time.Second}, FairByNamespace: random.IntN(2) == 0}
	if random.IntN(2) == 0 {
		options.Debounce = 50 * time.Millisecond
	}
	w := begin(t, options, func(_ context.Context, r *hook.Request) (hook.Result, error) {
		pause, result, err := s.begin(r)
		time.Sleep(pause)
		s.end(r, err)
		return result, err
	})
	kinds := []kube.Kind{pods, widgets}
	for range 400 {
		kind, name := kinds[random.IntN(2)], fmt.Sprint("k", random.IntN(8))
		if k := (Key{kind.String(), keyOf(name)}); w.states[k] != nil && random.IntN(8) == 0 {
			w.remove(kind, name)
		} else {
			w.set(kind, name)
		}
		time.Sleep(time.Duration(random.IntN(100)) * time.Millisecond)
	}
	w.feed <- nil
	summary := w.finished()
	parked := map[string]bool{}
	for _, p := range summary.ParkedKeys {
		parked[p.Key.String()] = true
	}
	for k, state := range w.states {
		id := hook.Key{APIVersion: "v1", Kind: "Pod", Resource: "pods", Namespace: "default", Name: k.Name}
		if k.Resource != "pods" {
			id = hook.Key{APIVersion: "example.com/v1", Kind: "Widget", Resource: k.Resource, Namespace: "default", Name: k.Name}
		}
		if want := fmt.Sprint(state.ResourceVersion()); !parked[k.String()] && fmt.Sprint(s.good[id]) != want {
			t.Errorf("%s: the last good run saw %v; want %s", k, s.good[id], want)
		}
	}
	for _, wrong := range s.wrong {
		t.Error(wrong)
	}
	if len(summary.FailingKeys) > 0 || len(w.told()) < 100 {
		t.Errorf("%d runs, failing %v", len(w.told()), summary.FailingKeys)
	}
}
