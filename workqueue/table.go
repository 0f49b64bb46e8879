package workqueue

import "math/bits"

// table finds nodes by the hash of their items: open addressing with linear
// probing. The slots are in the order of the hashes, as far as probing allows,
// so that growing is one walk through both tables, and no item is hashed again.
//
// Invariants: len(slots) is 0 or a power of two, at least minSlots; at most two
// thirds of the slots are in use; between a slot and the home of its hash all
// slots are in use.
type table struct {
	slots []slot
	used  int
	shift uint8 // takes a hash to its home
}

type slot struct {
	hash uint32
	node ref // 0: the slot is free
}

const minSlots = 8

// home is where probing for a hash begins.
func (t *table) home(hash uint32) uint32 { return hash >> (t.shift & 31) }

// insert adds a node that is not in the table.
func (t *table) insert(hash uint32, node ref) {
	if 3*(t.used+1) > 2*len(t.slots) {
		t.resize(max(2*len(t.slots), minSlots))
	}
	t.used++
	t.put(slot{hash, node})
}

func (t *table) put(s slot) {
	mask := uint32(len(t.slots) - 1)
	i := t.home(s.hash)
	for t.slots[i&mask].node != 0 {
		i++
	}
	t.slots[i&mask] = s
}

func (t *table) resize(size int) {
	old := t.slots
	t.slots = make([]slot, size)
	t.shift = uint8(32 - bits.TrailingZeros(uint(size)))
	for _, s := range old {
		if s.node != 0 {
			t.put(s)
		}
	}
}

// remove takes a node out that is in the table, and closes the gap.
func (t *table) remove(hash uint32, node ref) {
	mask := uint32(len(t.slots) - 1)
	gap := t.home(hash)
	for t.slots[gap].node != node {
		gap = (gap + 1) & mask
	}
	for i := (gap + 1) & mask; t.slots[i].node != 0; i = (i + 1) & mask {
		if (i-t.home(t.slots[i].hash))&mask >= (i-gap)&mask {
			t.slots[gap] = t.slots[i]
			gap = i
		}
	}
	t.slots[gap] = slot{}
	t.used--
}

// reset empties the table and makes room for n nodes.
func (t *table) reset(n int) {
	size := minSlots
	for 2*size < 3*(n+1) {
		size *= 2
	}
	t.slots, t.used = nil, 0
	t.resize(size)
}
