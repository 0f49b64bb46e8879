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

// roundUp is what is really taken for n bytes, at most 32 KiB.
func roundUp(n int) int {
	classes := sizeClasses()
	i, _ := slices.BinarySearch(classes, n)
	return classes[min(i, len(classes)-1)]
}

// border says where to cut n bytes in two so that the allocator takes less for
// them; n means nowhere. A pod of 4205 bytes would take 4864; cut after 4096 it
// takes 4208.
func border(n int) int {
	classes := sizeClasses()
	i, exact := slices.BinarySearch(classes, n)
	if i == 0 || exact || i == len(classes) {
		return n
	}
	head := classes[i-1]
	if head+roundUp(n-head)+splitFrom > classes[i] {
		return n
	}
	return head
}

// copied returns a body of its own for raw.
func copied(encoding Encoding, raw []byte) body {
	at := border(len(raw))
	if at == len(raw) {
		return body{encoding: encoding, data: string(raw)}
	}
	return body{encoding: encoding, form: split, data: string(raw[:at]), base: string(raw[at:])}
}
