package wire

import (
	"slices"
	"sync"
)

// splitFrom is how many bytes a split has to save.
const splitFrom = 128

// sizeClasses are the sizes in which the allocator gives out up to 32 KiB,
// rising. What is asked for is rounded up to one of them.
var sizeClasses = sync.OnceValue(func() []int {
	var classes []int
	for n := 1; n <= 32<<10; {
		class := cap(slices.Grow([]byte(nil), n))
		classes = append(classes, class)
		n = class + 1
	}
	return classes
})

// roundedUp is how much the allocator takes for n bytes.
func roundedUp(n int) int {
	classes := sizeClasses()
	if i, _ := slices.BinarySearch(classes, n); i < len(classes) {
		return classes[i]
	}
	return n
}

// border says where to cut n bytes in two, the second of which goes into a tail, so
// that the allocator takes less for them; at n means nowhere. A pod of 4205 bytes
// would take 4864; with a tail of 128 it takes 4224.
func border(n int) (at, tail int) {
	classes := sizeClasses()
	i, exact := slices.BinarySearch(classes, n)
	if i == 0 || exact || i == len(classes) {
		return n, 0
	}
	head := classes[i-1]
	tail = tailFor(n - head)
	if tail == len(tails) || head+tails[tail].size+splitFrom > classes[i] {
		return n, 0
	}
	return head, tail
}

// copied returns an Object with a copy of raw and nothing else yet.
func copied(encoding Encoding, raw []byte) *Object {
	at, tail := border(len(raw))
	if at == len(raw) {
		return &Object{body: body{encoding: encoding, data: string(raw)}}
	}
	o, end := tails[tail].make()
	end = end[:copy(end, raw[at:])]
	o.body = body{encoding: encoding, form: split, data: string(raw[:at]), base: alias(end)}
	return o
}
