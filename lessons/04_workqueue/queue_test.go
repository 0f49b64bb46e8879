package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestMiniQueueDoesWhatProductionQueuesDo does the same at random to all queues:
// they hand out the same keys in the same order.
func TestMiniQueueDoesWhatProductionQueuesDo(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	all := map[string]Queue{}
	for name, newQueue := range queues {
		all[name] = newQueue()
		defer all[name].ShutDown()
	}
	own := all["own"]
	var held []string // got, and not given back yet
	for step := range 20_000 {
		switch action := rng.IntN(4); {
		case action <= 1:
			key := fmt.Sprint(rng.IntN(8))
			for _, q := range all {
				q.Add(key)
			}
		case action == 2 && own.Len() > 0:
			want, _ := own.Get()
			held = append(held, want)
			for name, q := range all {
				if name == "own" {
					continue
				}
				if got, _ := q.Get(); got != want {
					t.Fatalf("step %d: %s hands out %q; own %q", step, name, got, want)
				}
			}
		case len(held) > 0:
			n := rng.IntN(len(held))
			for _, q := range all {
				q.Done(held[n])
			}
			held = slices.Delete(held, n, n+1)
		}
		for name, q := range all {
			if got, want := q.Len(), own.Len(); got != want {
				t.Fatalf("step %d: %s has %d keys; own %d", step, name, got, want)
			}
		}
	}
}

func TestMiniQueueIgnoresADoneOfAKeyThatNobodyHas(t *testing.T) {
	q := NewMiniQueue()
	q.Add("default/tmp")
	q.Done("default/tmp")
	if n := q.Len(); n != 1 {
		t.Errorf("the key is queued %d times; want once", n)
	}
}

func TestMiniQueueHandsOutWhatIsLeftAfterShutDown(t *testing.T) {
	q := NewMiniQueue()
	q.Add("default/tmp")
	q.ShutDown()
	if key, shutdown := q.Get(); key != "default/tmp" || shutdown {
		t.Errorf("Get = %q, %v; want the key that was queued", key, shutdown)
	}
	if key, shutdown := q.Get(); key != "" || !shutdown {
		t.Errorf("Get = %q, %v; want the shutdown", key, shutdown)
	}
}
