package store

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/gocampus/hark/internal/watchtest"
)

// TestRemovingMostObjectsGivesTheMemoryBack is case C21.
func TestRemovingMostObjectsGivesTheMemoryBack(t *testing.T) {
	const n = 20_000
	bothForms(t, func(t *testing.T, o Options) {
		o.Indexes = map[string]IndexFunc{"name": Label("name")}
		s, w := New(o)
		before := heap()
		for i := range n {
			w.Put(watchtest.Object(fmt.Sprintf("k%d@1", i), "filler", strings.Repeat("x", 1000)), false)
		}
		full := heap() - before
		for i := range n - 1 {
			w.Delete(watchtest.Key(fmt.Sprintf("k%d", i)))
		}
		left := heap() - before
		if s.Len() != 1 || left > full/50 {
			t.Errorf("%d object left holds %d bytes; all %d held %d", s.Len(), left, n, full)
		}
		runtime.KeepAlive(w)
	})
}

// bothForms runs a test for a store that keeps objects whole and a compact one.
func bothForms(t *testing.T, test func(t *testing.T, o Options)) {
	for _, compact := range []bool{false, true} {
		t.Run(fmt.Sprintf("compact %t", compact), func(t *testing.T) { test(t, Options{Compact: compact}) })
	}
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
