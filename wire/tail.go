package wire

import (
	"unsafe"
)

// tailed is an Object with the end of its bytes, or its patch, in one allocation:
// an event costs as many as if its bytes were whole.
type tailed[A any] struct {
	Object
	tail A
}

// tails are the sizes in which an Object has a tail, rising. With one the Object
// fills a size class of the allocator, which keeps 8 bytes of its own where there
// are more than 512.
var tails = []struct {
	size int
	make func() (*Object, []byte)
}{
	tailOf[[32]byte](), tailOf[[64]byte](), tailOf[[96]byte](), tailOf[[128]byte](), tailOf[[160]byte](),
	tailOf[[224]byte](), tailOf[[288]byte](), tailOf[[352]byte](), tailOf[[416]byte](),
	tailOf[[536]byte](), tailOf[[664]byte](), tailOf[[792]byte](), tailOf[[920]byte](), tailOf[[1048]byte](), tailOf[[1176]byte](),
}

func tailOf[A any]() (t struct {
	size int
	make func() (*Object, []byte)
}) {
	t.size = int(unsafe.Sizeof(*new(A)))
	t.make = func() (*Object, []byte) {
		o := new(tailed[A])
		return &o.Object, unsafe.Slice((*byte)(unsafe.Pointer(&o.tail)), t.size)
	}
	return t
}

// tailFor returns the place in tails of the smallest that holds n bytes, or
// len(tails).
func tailFor(n int) int {
	for i := range tails {
		if tails[i].size >= n {
			return i
		}
	}
	return len(tails)
}
