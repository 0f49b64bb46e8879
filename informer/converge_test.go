package informer

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocampus/hark/internal/watchtest"
	"github.com/gocampus/hark/key"
	"github.com/gocampus/hark/reflector"
	"github.com/gocampus/hark/watch"
	"github.com/gocampus/hark/wire"
)

// TestStoreAndHandlersConvergeUnderFaults drives informers over a server that
// changes, compacts and fails at random. In the end every store is the server,
// every handler's fold of its events is the store, and no handler saw an object
// go back.
func TestStoreAndHandlersConvergeUnderFaults(t *testing.T) {
	for _, streaming := range []bool{true, false} {
		for _, compact := range []bool{false, true} {
			seed := rand.Uint64()
			t.Run(fmt.Sprintf("streaming %v compact %v seed %d", streaming, compact, seed), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { converge(t, seed, streaming, compact) })
			})
		}
	}
}

func converge(t *testing.T, seed uint64, streaming, compact bool) {
	rng := rand.New(rand.NewPCG(seed, 1))
	server := watchtest.NewServer(rand.New(rand.NewPCG(seed, 2)))
	server.SetFaults(60)
	i := New(server, Options{Reflector: reflector.Options{
		NoStreaming: !streaming, PageSize: 5, MaxBackoff: 2 * time.Second,
	}, Compact: compact})
	folds := []*fold{{t: t}, {t: t, pause: time.Second}, {t: t}}
	handle(t, i, folds[0].handle, HandlerOptions{Name: "every", Every: 1000})
	handle(t, i, folds[1].handle, HandlerOptions{Name: "slow", Resync: time.Minute})
	run(t, i)
	for n := range 20_000 {
		server.Mutate(30)
		if rng.IntN(3) == 0 {
			time.Sleep(time.Duration(rng.IntN(2000)) * time.Millisecond)
		}
		if n == 10_000 {
			handle(t, i, folds[2].handle, HandlerOptions{Name: "late", Every: 3})
		}
	}
	server.SetFaults(0)
	time.Sleep(time.Hour)
	want := server.Content()
	expect(t, "store", content(i.Store()), want)
	for n, f := range folds {
		expect(t, fmt.Sprintf("fold of handler %d", n), f.content(), want)
	}
	t.Logf("faults %v\nreflector %+v\nchanges %+v", server.Faults(), i.Status().Reflector.Counts, i.Status().Changes)
}

// fold is a handler that applies its events to a map and checks each of them.
type fold struct {
	t     *testing.T
	pause time.Duration

	mu      sync.Mutex
	objects map[key.Key]*wire.Object
	highest map[string]uint64 // by UID
}

func (f *fold) handle(e Event) {
	time.Sleep(f.pause)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.objects == nil {
		f.objects, f.highest = map[key.Key]*wire.Object{}, map[string]uint64{}
	}
	before := f.objects[e.Key]
	switch {
	case e.Type == watch.EventAdded && before != nil,
		e.Type == watch.EventModified && (before == nil || !before.Equal(e.Old)),
		e.Type == watch.EventDeleted && (before == nil || before.UID() != e.Old.UID()):
		f.t.Errorf("%s %s > %s, told before: %s", e.Type, watchtest.Text(e.Old), watchtest.Text(e.New), watchtest.Text(before))
	}
	if e.New == nil {
		delete(f.objects, e.Key)
		return
	}
	version, _ := e.New.Version()
	if version < f.highest[e.New.UID()] {
		f.t.Errorf("%s went back from version %d", watchtest.Text(e.New), f.highest[e.New.UID()])
	}
	f.objects[e.Key], f.highest[e.New.UID()] = e.New, version
}

func (f *fold) content() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []string
	for _, o := range f.objects {
		out = append(out, watchtest.Text(o))
	}
	slices.Sort(out)
	return out
}
