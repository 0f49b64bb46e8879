package workqueue

import "math/bits"

// table finds nodes by the hash of their items. A large one grows little by little: to
// move a million nodes at once would take as long as a hundred thousand adds.
//
// Invariants: a node is in one of the two halves, used in both; at most two thirds of
// the slots of half would be in use if all were there; old has no slots unless a growth
// is under way, and then it is done before the next.
type table struct {
	half
	old  half // is emptied into half
	next int  // slot of old, before which all are free
	used int
}

const (
	minSlots = 8
	// largeSlots is the number of slots from which on a table grows little by little.
	largeSlots = 1 << 14
	// moveSlots is how many slots an insert or a removal looks at, at the least. They
	// are enough for old to be empty long before half is full, and few enough not to
	// be felt.
	moveSlots = 16
)

// growing tells whether nodes may be in old.
func (t *table) growing() bool { return t.old.slots != nil }

// first returns the half where a node is most likely, nil when there is none.
func (t *table) first() *half {
	if t.slots == nil {
		return nil
	}
	return &t.half
}

// after returns the half where a node may be that is not in h, nil when there is none.
func (t *table) after(h *half) *half {
	if h == &t.old || !t.growing() {
		return nil
	}
	return &t.old
}

// insert adds a node that is not in the table.
func (t *table) insert(hash uint32, node ref) {
	switch {
	case t.growing():
		t.move()
	case 3*(t.used+1) > 2*len(t.slots):
		t.grow()
	}
	t.used++
	t.put(slot{hash, node})
}

func (t *table) grow() {
	t.old, t.next = t.half, 0
	t.half = newHalf(max(2*len(t.slots), minSlots))
	for len(t.old.slots) < largeSlots && t.growing() {
		t.move()
	}
}

// move empties some slots of old, and after them those up to a free one: of nodes that
// stand side by side, all stay or go, so that probing finds those that are left.
func (t *table) move() {
	for n := 0; t.next < len(t.old.slots); n++ {
		s := t.old.slots[t.next]
		if s.node == 0 && n >= moveSlots {
			return
		}
		if s.node != 0 {
			t.put(s)
			t.old.slots[t.next] = slot{}
		}
		t.next++
	}
	t.old = half{}
}

// remove takes a node out that is in the table.
func (t *table) remove(hash uint32, node ref) {
	if !t.half.remove(hash, node) {
		t.old.remove(hash, node)
	}
	t.used--
	if t.growing() { // adds may have ended
		t.move()
	}
}

// reset empties the table and makes room for n nodes.
func (t *table) reset(n int) {
	size := minSlots
	for 2*size < 3*(n+1) {
		size *= 2
	}
	*t = table{half: newHalf(size)}
}

// half is a hash table of one size: open addressing with linear probing. The slots are
// in the order of the hashes, as far as probing allows, so that growing is one walk
// through both halves, and no item is hashed again.
//
// Invariants: len(slots) is 0 or a power of two, at least minSlots; one is free; between
// a slot and the home of its hash all slots are in use.
type half struct {
	slots []slot
	shift uint8 // takes a hash to its home
}

type slot struct {
	hash uint32
	node ref // 0: the slot is free
}

func newHalf(size int) half {
	return half{slots: make([]slot, size), shift: uint8(32 - bits.TrailingZeros(uint(size)))}
}

// home is where probing for a hash begins.
func (h *half) home(hash uint32) uint32 { return hash >> (h.shift & 31) }

func (h *half) put(s slot) {
	mask := uint32(len(h.slots) - 1)
	i := h.home(s.hash)
	for h.slots[i&mask].node != 0 {
		i++
	}
	h.slots[i&mask] = s
}

// remove takes a node out, closes the gap, and tells whether the node was there.
func (h *half) remove(hash uint32, node ref) bool {
	mask := uint32(len(h.slots) - 1)
	gap := h.home(hash)
	for h.slots[gap].node != node {
		if h.slots[gap].node == 0 {
			return false
		}
		gap = (gap + 1) & mask
	}
	for i := (gap + 1) & mask; h.slots[i].node != 0; i = (i + 1) & mask {
		if (i-h.home(h.slots[i].hash))&mask >= (i-gap)&mask {
			h.slots[gap] = h.slots[i]
			gap = i
		}
	}
	h.slots[gap] = slot{}
	return true
}
