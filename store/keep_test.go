package store

import (
	"bytes"
	"io"
	"testing"
	"unsafe"

	corev1 "k8s.io/api/core/v1"

	"github.com/gocampus/hark/internal/podgen"
	"github.com/gocampus/hark/wire"
)

// keepPods reads pods of one generation with w as the Keeper and returns what came.
func keepPods(t *testing.T, w *Writer, n, generation int, then func(*wire.Object)) {
	t.Helper()
	body, err := podgen.List(true, pods(n, podgen.Options{Siblings: 10, Generation: generation})...)
	if err != nil {
		t.Fatal(err)
	}
	r := wire.NewListReader(bytes.NewReader(body), wire.Protobuf, wire.Options{Keeper: w})
	for {
		o, err := r.Next()
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		then(o)
	}
}

func pods(n int, o podgen.Options) []*corev1.Pod {
	var all []*corev1.Pod
	for i := range n {
		all = append(all, podgen.Pod(i, o))
	}
	return all
}

func TestWhatIsThereIsNotKeptTwice(t *testing.T) {
	bothForms(t, func(t *testing.T, o Options) {
		s, w := New(o)
		keepPods(t, w, 50, 0, func(o *wire.Object) { w.Put(o, false) })
		if s.Len() != 50 {
			t.Fatalf("%d objects; want 50", s.Len())
		}
		keepPods(t, w, 50, 0, func(o *wire.Object) {
			if there, _ := s.Get(o.Key()); o != there {
				t.Errorf("%s was kept a second time", o)
			}
			if plan := w.Put(o, false); plan.Outcome != Known {
				t.Errorf("%s: %v; want Known", o, plan.Outcome)
			}
		})
	})
}

func TestANewVersionIsKeptUnderTheKeyThatIsThere(t *testing.T) {
	bothForms(t, func(t *testing.T, o Options) {
		s, w := New(o)
		keepPods(t, w, 50, 0, func(o *wire.Object) { w.Put(o, false) })
		keepPods(t, w, 50, 1, func(o *wire.Object) {
			there, _ := s.Get(o.Key())
			if unsafe.StringData(o.Key().Name) != unsafe.StringData(there.Key().Name) {
				t.Errorf("%s has a key of its own", o)
			}
			plan := w.Put(o, false)
			if now, _ := s.Get(o.Key()); plan.Outcome != Stored || now != o || plan.Old != there {
				t.Errorf("%s: %v, the store has %s", o, plan.Outcome, now)
			}
		})
	})
}

// TestWhatIsKeptAndNotStoredReadsAsItWasSent: a deleted object's last state, and what
// is stale, are kept for whoever is told.
func TestWhatIsKeptAndNotStoredReadsAsItWasSent(t *testing.T) {
	_, w := New(Options{Compact: true})
	keepPods(t, w, 50, 1, func(o *wire.Object) { w.Put(o, false) })
	var stale []*wire.Object
	keepPods(t, w, 50, 0, func(o *wire.Object) {
		if plan := w.Put(o, false); plan.Outcome != Stale {
			t.Errorf("%s: %v; want Stale", o, plan.Outcome)
		}
		stale = append(stale, o)
	})
	keepPods(t, w, 50, 1, func(o *wire.Object) { w.Delete(o.Key()) })
	for i, o := range stale {
		want := readPod(i, podgen.Options{Siblings: 10}, wire.Protobuf)
		if !o.Equal(want) {
			t.Errorf("%s does not read as it was sent", o)
		}
	}
}
