package store

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"

	"github.com/gocampus/hark/internal/podgen"
	"github.com/gocampus/hark/wire"
)

// BenchmarkHeap reports what an object takes of the heap, everything included:
// its bytes, record, key, the map and the namespace index. Pods are read from a
// list, as an informer reads them.
func BenchmarkHeap(b *testing.B) {
	const n = 20_000
	for _, encoding := range []wire.Encoding{wire.Protobuf, wire.JSON} {
		for _, siblings := range []int{50, 5, 1} {
			for _, compact := range []bool{false, true} {
				b.Run(fmt.Sprintf("%s/siblings=%d/compact=%t", encoding, siblings, compact), func(b *testing.B) {
					for b.Loop() {
						held := heapOf(n, podgen.Options{Siblings: siblings}, encoding, compact)
						b.ReportMetric(float64(held)/n, "B/object")
					}
				})
			}
		}
	}
}

// heapOf is what a store of n pods holds.
func heapOf(n int, o podgen.Options, encoding wire.Encoding, compact bool) int64 {
	before := heap()
	s, w := New(Options{Indexes: map[string]IndexFunc{NamespaceIndex: Namespace()}, Compact: compact})
	for i := range n {
		w.Put(readPod(i, o, encoding), false)
	}
	held := heap() - before
	runtime.KeepAlive(s)
	runtime.KeepAlive(w)
	return held
}

// readPod returns pod number i as a list brings it.
func readPod(i int, o podgen.Options, encoding wire.Encoding) *wire.Object {
	body, err := podgen.List(encoding == wire.Protobuf, podgen.Pod(i, o))
	if err != nil {
		panic(err)
	}
	object, err := wire.NewListReader(bytes.NewReader(body), encoding, wire.Options{}).Next()
	if err != nil {
		panic(err)
	}
	return object
}
