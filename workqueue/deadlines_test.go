package workqueue

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// TestItemsBecomeDueInOrderWhateverTheirDelays also when most are taken back:
// then few runs and few pages are left.
func TestItemsBecomeDueInOrderWhateverTheirDelays(t *testing.T) {
	const items, stay = 20_000, 100
	seed := rand.Uint64()
	if *seedFlag != 0 {
		seed = *seedFlag
	}
	random := rand.New(rand.NewPCG(seed, 0))
	for name, delay := range map[string]func(i int) int{
		"one length":  func(int) int { return items },
		"few lengths": func(i int) int { return 1000 * (1 + i%7) },
		"falling":     func(i int) int { return 3 * (items - i) },
		"random":      func(int) int { return 1 + random.IntN(items) },
		"often equal": func(int) int { return 1 + random.IntN(10) },
	} {
		c := core[int]{maxFailures: 1}
		due := make([]instant, items)
		for i := range items {
			now := instant(i / 100) // what is due already is left alone here
			r := &request{after: time.Duration(delay(i))}
			due[i] = now.after(r.after)
			c.schedule(i, uint32(i)*2654435761, "", r, now)
		}
		order := random.Perm(items)
		for _, i := range order[stay:] {
			if !c.cancel(c.find(i, uint32(i)*2654435761)) {
				t.Fatalf("-seed=%d, %s: %d was not pending", seed, name, i)
			}
			if random.IntN(2000) == 0 {
				if err := c.broken(); err != nil {
					t.Fatalf("-seed=%d, %s: %v", seed, name, err)
				}
			}
		}
		if runs, made := cap(c.deadlines.runs), c.nodes.made; runs > 16*stay || made > 2*minShrink {
			t.Errorf("-seed=%d, %s: room for %d runs and %d nodes is left for %d items", seed, name, runs, made, stay)
		}
		want := order[:stay]
		slices.SortFunc(want, func(a, b int) int { return cmp.Or(cmp.Compare(due[a], due[b]), cmp.Compare(a, b)) })
		for i, item := range want {
			c.promote(due[item])
			if n := c.take(unknown); n == nil || n.item != item {
				t.Fatalf("-seed=%d, %s: delivery %d = %+v; want %d, due at %d", seed, name, i, n, item, due[item])
			}
		}
		if err := c.broken(); err != nil {
			t.Errorf("-seed=%d, %s: %v", seed, name, err)
		}
	}
}
