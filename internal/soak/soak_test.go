package soak

import (
	"flag"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

var (
	seedFlag = flag.Uint64("seed", 0, "seed of the first episode; 0 takes one at random")
	lastFlag = flag.Duration("last", 30*time.Second, "how long to go on, by the wall clock")
	episodes = flag.Int("episodes", 0, "how many episodes to run; 0 means as many as fit")
	changes  = flag.Int("changes", 3000, "changes of objects an episode")
)

// TestEverythingConvergesUnderRandomFaults runs episode after episode. A failure
// names its seed; -seed N -episodes 1 plays that episode again.
func TestEverythingConvergesUnderRandomFaults(t *testing.T) {
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64N(1 << 40)
	}
	over := alarm(*lastFlag)
	var total report
	for n := 0; *episodes == 0 || n < *episodes; n++ {
		if over.Load() && n > 0 || t.Failed() {
			break
		}
		synctest.Test(t, func(t *testing.T) { total.add(episode(t, seed)) })
		if t.Failed() {
			t.Errorf("that was the episode of seed %d", seed)
		}
		seed++
	}
	t.Logf("seeds up to %d\n%s", seed-1, total)
}

// alarm is true after d of real time: inside a bubble the clock is another one.
func alarm(d time.Duration) *atomic.Bool {
	var over atomic.Bool
	time.AfterFunc(d, func() { over.Store(true) })
	return &over
}
