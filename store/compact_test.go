package store

import (
	"bytes"
	"fmt"
	"sync"
	"testing"
	"unsafe"

	"github.com/gocampus/hark/internal/podgen"
	"github.com/gocampus/hark/wire"
)

// podObject is pod number i in one generation, as a list brings it.
func podObject(i, generation int) *wire.Object {
	return readPod(i, podgen.Options{Siblings: 10, Generation: generation}, wire.Protobuf)
}

// TestCompactStoreKeepsPodsSmall holds the goals for memory: what client-go takes
// for such a pod is 19.9 KB.
func TestCompactStoreKeepsPodsSmall(t *testing.T) {
	const n = 2000
	for _, tc := range []struct {
		siblings int
		compact  bool
		most     int64
	}{
		{50, true, 19_900 / 10},
		{1, true, 19_900 / 4},
		{50, false, 19_900 / 4},
		{1, false, 19_900 / 3},
	} {
		if got := heapOf(n, podgen.Options{Siblings: tc.siblings}, wire.Protobuf, tc.compact) / n; got > tc.most {
			t.Errorf("a pod of %d takes %d bytes, compact %t; want at most %d", tc.siblings, got, tc.compact, tc.most)
		}
	}
}

// TestVersionsOutliveACompactStore: what a handler holds reads the same when its
// successors, its siblings and the store have gone.
func TestVersionsOutliveACompactStore(t *testing.T) {
	_, w := New(Options{Compact: true})
	var held, want []*wire.Object
	for generation := range 6 {
		for i := range 60 {
			o := podObject(i, generation)
			plan := w.Put(o, false)
			held, want = append(held, plan.New), append(want, o)
			if plan.Old != nil {
				held, want = append(held, plan.Old), append(want, podObject(i, generation-1))
			}
		}
	}
	for i := range 60 {
		held, want = append(held, w.Delete(podObject(i, 0).Key())), append(want, podObject(i, 5))
	}
	w = nil
	for i, o := range held {
		if !bytes.Equal(o.AppendBytes(nil), want[i].AppendBytes(nil)) || o.UID() != want[i].UID() || o.ResourceVersion() != want[i].ResourceVersion() {
			t.Fatalf("%s reads otherwise than %s", o, want[i])
		}
	}
}

// TestCompactStoreKeepsOneKeyForAllVersions: each version comes with its own.
func TestCompactStoreKeepsOneKeyForAllVersions(t *testing.T) {
	_, w := New(Options{Compact: true})
	old := w.Put(podObject(1, 0), false).New.Key()
	if got := w.Put(podObject(1, 1), false).New.Key(); got != old || unsafe.StringData(got.Name) != unsafe.StringData(old.Name) {
		t.Errorf("the key %s is kept twice", got)
	}
}

// TestCompactStoreIsReadWhileItIsWritten is for the race detector; what is read
// must be some version as a whole.
func TestCompactStoreIsReadWhileItIsWritten(t *testing.T) {
	const pods, generations = 40, 5
	versions := map[string][]byte{}
	var all []*wire.Object
	for generation := range generations {
		for i := range pods {
			o := podObject(i, generation)
			versions[o.String()] = o.AppendBytes(nil)
			all = append(all, o)
		}
	}
	s, w := New(Options{Compact: true, Indexes: map[string]IndexFunc{"owner": Owner(), "app": Label("app")}})
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			for last := false; !last; {
				select {
				case <-done:
					last = true
				default:
				}
				for o := range s.All() {
					if !bytes.Equal(o.AppendBytes(nil), versions[o.String()]) {
						t.Errorf("%s reads otherwise than it was stored", o)
					}
					app, _ := o.Label("app")
					if owner := o.Meta().Owner.Name; len(app) == 0 || owner[:len(app)] != app {
						t.Errorf("%s is an %q of %q", o, app, owner)
					}
				}
			}
		})
	}
	for _, o := range all {
		w.Put(o, false)
	}
	for i := range pods / 2 {
		w.Delete(all[i].Key())
	}
	close(done)
	readers.Wait()
	if s.Len() != pods/2 {
		t.Errorf("%d pods are left; want %d", s.Len(), pods/2)
	}
	if got := len(s.IndexValues("owner")); got != 2 {
		t.Errorf("they have %d owners; want 2", got)
	}
}

// TestObservationsLieOverACompactStore: an answer to a write comes from elsewhere
// than the watch, and is not compact.
func TestObservationsLieOverACompactStore(t *testing.T) {
	s, w := New(Options{Compact: true})
	w.Put(podObject(1, 0), false)
	w.Advance(podObject(1, 0).ResourceVersion())
	answer := podObject(1, 1)
	if !w.Observe(answer) {
		t.Fatal("the answer is not seen")
	}
	if got, _ := s.Get(answer.Key()); !got.Equal(answer) {
		t.Errorf("reads see %s; want %s", got, answer)
	}
	told := w.Put(podObject(1, 1), false)
	w.Advance(answer.ResourceVersion())
	if got, _ := s.Get(answer.Key()); got != told.New || told.Outcome != Stored || fmt.Sprint(told.Old) == fmt.Sprint(told.New) {
		t.Errorf("reads see %s after %v", got, told)
	}
}
