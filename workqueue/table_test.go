package workqueue

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// finds tells whether the table has a node under a hash.
func (t *table) finds(hash uint32, node ref) bool {
	return t.half.finds(hash, node) || t.old.finds(hash, node)
}

func (h *half) finds(hash uint32, node ref) bool {
	if len(h.slots) == 0 {
		return false
	}
	mask := uint32(len(h.slots) - 1)
	for i := h.home(hash); h.slots[i&mask].node != 0; i++ {
		if h.slots[i&mask] == (slot{hash, node}) {
			return true
		}
	}
	return false
}

// TestATableKeepsWhatIsInItWhileItGrows: through growth at once and little by little,
// with nodes that come and go meanwhile, and hashes of different spread.
func TestATableKeepsWhatIsInItWhileItGrows(t *testing.T) {
	spreads := map[string]func(*rand.Rand) uint32{
		"even":            func(r *rand.Rand) uint32 { return r.Uint32() },
		"few, many times": func(r *rand.Rand) uint32 { return r.Uint32N(1<<12) << 20 },
		"a cluster around the end": func(r *rand.Rand) uint32 {
			if r.IntN(32) == 0 {
				return r.Uint32N(1<<20) - 1<<19
			}
			return r.Uint32()
		},
	}
	for name, hash := range spreads {
		for _, removed := range []int{0, 40} { // of 100 steps
			t.Run(fmt.Sprintf("%s, %d of 100 removed", name, removed), func(t *testing.T) {
				seed := rand.Uint64()
				t.Logf("seed %d", seed)
				tableWalk(t, rand.New(rand.NewPCG(seed, 0)), hash, removed)
			})
		}
	}
}

func tableWalk(t *testing.T, r *rand.Rand, hash func(*rand.Rand) uint32, removed int) {
	var tb table
	var in []slot
	growths := 0
	for node := ref(1); len(in) < 2*largeSlots; node++ {
		if len(in) > 0 && r.IntN(100) < removed {
			i := r.IntN(len(in))
			tb.remove(in[i].hash, in[i].node)
			if tb.finds(in[i].hash, in[i].node) {
				t.Fatalf("node %d is there after it was removed", in[i].node)
			}
			in[i] = in[len(in)-1]
			in = in[:len(in)-1]
		}
		before := tb.growing()
		s := slot{hash(r), node}
		tb.insert(s.hash, s.node)
		in = append(in, s)
		if tb.growing() && !before {
			growths++
		}
		if tb.growing() != before || tb.growing() && node%53 == 0 || node%5003 == 0 {
			tb.holds(t, in)
		}
	}
	for tb.used > 0 { // what is left goes too, also out of old
		last := in[len(in)-1]
		tb.remove(last.hash, last.node)
		in = in[:len(in)-1]
	}
	tb.holds(t, nil)
	if growths == 0 {
		t.Error("it never grew little by little")
	}
}

// holds wants just these slots in the table.
func (t *table) holds(test *testing.T, in []slot) {
	test.Helper()
	if err := t.brokenGrowth(); err != nil {
		test.Fatal(err)
	}
	found := 0
	for _, h := range []*half{&t.half, &t.old} {
		for _, s := range h.slots {
			if s.node != 0 {
				found++
			}
		}
	}
	if found != len(in) || t.used != len(in) {
		test.Fatalf("%d nodes found, %d counted; want %d", found, t.used, len(in))
	}
	for _, s := range in {
		if !t.finds(s.hash, s.node) {
			test.Fatalf("node %d under %x is not found", s.node, s.hash)
		}
	}
}

// TestAGrowthEndsWithoutAdds: removals alone end it, and its memory goes.
func TestAGrowthEndsWithoutAdds(t *testing.T) {
	var tb table
	node := ref(0)
	for !tb.growing() {
		node++
		tb.insert(uint32(node)*2654435761, node)
	}
	last := node
	for ; tb.growing(); node-- {
		tb.remove(uint32(node)*2654435761, node)
	}
	if removed := int(last - node); removed > largeSlots/moveSlots+1 || tb.old.slots != nil {
		t.Errorf("it took %d removals; want %d", removed, largeSlots/moveSlots)
	}
	for ; node > 0; node-- {
		if !tb.finds(uint32(node)*2654435761, node) {
			t.Fatalf("node %d is lost", node)
		}
	}
}

// TestAQueueKeepsItsItemsWhileItsTableGrows: the same through the queue's core.
func TestAQueueKeepsItsItemsWhileItsTableGrows(t *testing.T) {
	const items = 3 * largeSlots
	q := New(Options[int]{})
	defer q.ShutDown()
	for i := range items {
		q.Add(i)
		q.Add(i / 2) // is found, wherever it is
		if i%3 == 0 {
			item, _ := q.Get()
			q.Done(item)
			q.Add(item)
		}
		if i%5003 == 0 {
			if err := q.core.broken(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if q.Len() != items {
		t.Fatalf("%d items; want %d", q.Len(), items)
	}
	seen := make([]bool, items)
	for range items {
		item, _ := q.Get()
		q.Done(item)
		if seen[item] {
			t.Fatalf("%d came twice", item)
		}
		seen[item] = true
	}
}
