package cases

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gocampus/hark/harktest"
	"github.com/gocampus/hark/informer"
	"github.com/gocampus/hark/kube"
	"github.com/gocampus/hark/reflector"
	"github.com/gocampus/hark/store"
)

const (
	manyObjects = 10_000
	bigObject   = 4 << 10
)

// TestCase21_OneObjectKeepsNoListAlive: of ten thousand big objects one is left,
// and no more memory than it takes.
func TestCase21_OneObjectKeepsNoListAlive(t *testing.T) {
	removals := map[string]func(s *harktest.Server, remove func()){
		"deletions on the watch": deletions,
		"a list without them": func(s *harktest.Server, remove func()) {
			lift := s.Inject(harktest.Fault{Refuse: true})
			s.Restart(harktest.RestartOptions{})
			remove()
			s.Compact()
			lift()
		},
	}
	played(t, everyWay[0], 10, deletions) // what is made once and stays
	for what, remove := range removals {
		for _, way := range everyWay {
			t.Run(what+", "+way.String(), func(t *testing.T) {
				before := heap()
				i, held := played(t, way, manyObjects, remove)
				kept := heap() - before
				if held < manyObjects*bigObject || kept > held/20 {
					t.Errorf("%d KB are kept of %d KB", kept>>10, held>>10)
				}
				if n := i.Store().Len(); n != 1 { // and so i is alive until here
					t.Errorf("%d objects are left", n)
				}
				t.Logf("%d KB of %d KB are kept", kept>>10, held>>10)
			})
		}
	}
}

func deletions(_ *harktest.Server, remove func()) { remove() }

func bigMap(n int) harktest.Object {
	m := configMap(fmt.Sprintf("m%05d", n), strings.Repeat("x", bigObject))
	m.Labels = map[string]string{"number": fmt.Sprint(n)}
	return m
}

// played lists n objects, removes all but the middle one, and ends server and
// client. It returns the informer and how many bytes its objects had.
func played(t *testing.T, way way, n int, removal func(s *harktest.Server, remove func())) (*informer.Informer, int) {
	server, err := harktest.New(harktest.Options{NoStreamingLists: !way.streaming})
	must(t, err)
	defer server.Close()
	for k := range n {
		must(t, server.Preload(bigMap(k)))
	}
	client, err := kube.New(server.Config(), kube.Options{})
	must(t, err)
	defer client.CloseIdle()
	kind, err := client.Resolve(t.Context(), "configmaps")
	must(t, err)
	i := informer.New(client.Source(kind, kube.SourceOptions{Namespace: "default", Encoding: way.encoding}), informer.Options{
		Indexes: map[string]store.IndexFunc{"number": store.Label("number")}, Reflector: reflector.Options{MinBackoff: 10 * time.Millisecond}})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = i.Run(ctx) // ends with ctx alone
	}()
	must(t, i.WaitSync(t.Context()))
	held := 0
	for o := range i.Store().All() {
		held += o.Size()
	}
	removal(server, func() {
		for k := range n {
			if k != n/2 {
				must(t, server.Delete(t.Context(), bigMap(k)))
			}
		}
	})
	must(t, i.Store().WaitVersion(t.Context(), fmt.Sprint(server.Version())))
	cancel()
	<-done
	return i, held
}

// heap is how many bytes are in use, what pools keep left out.
func heap() int {
	for range 3 {
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
