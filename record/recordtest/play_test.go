package recordtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gocampus/hark"
	"github.com/gocampus/hark/harktest"
	"github.com/gocampus/hark/key"
	"github.com/gocampus/hark/kube"
	"github.com/gocampus/hark/record"
	"github.com/gocampus/hark/watch"
	"github.com/gocampus/hark/wire"
	"github.com/gocampus/hark/worker"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var pods = record.Stream{Kind: kube.Kind{
	GVK: schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, GVR: schema.GroupVersionResource{Version: "v1", Resource: "pods"},
	Singular: "pod", Namespaced: true, Watchable: true,
}}

func podAt(name string, uid, version int) *wire.Object {
	o, err := wire.NewObject(wire.JSON, fmt.Appendf(nil,
		`{"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"default","name":%q,"uid":"u%d","resourceVersion":"%d"},"spec":{"containers":[{"name":"main","image":"i:%d"}]}}`,
		name, uid, version, version))
	if err != nil {
		panic(err)
	}
	return o
}

// randomRecording is a story of some keys: watch events, and now and then a relist
// that tells what was missed, deletions without a last state among it.
func randomRecording(rng *rand.Rand, keys, changes int) *record.Recording {
	began := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	r := &record.Recording{Header: record.Header{Time: began}, Streams: []record.Stream{pods}}
	exists := map[string]*wire.Object{}
	version, uid := 1, 0
	event := func(at time.Time, cause watch.Cause, name string) record.Event {
		version += 1 + rng.IntN(3)
		e := record.Event{Time: at, Cause: cause, Key: key.Key{Namespace: "default", Name: name}, Type: watch.EventModified}
		old := exists[name]
		switch {
		case old == nil:
			uid++
			e.Type, e.Object = watch.EventAdded, podAt(name, uid, version)
		case cause != watch.CauseInitial && rng.IntN(4) == 0:
			e.Type, e.Object = watch.EventDeleted, podAt(name, uid, version)
			if cause == watch.CauseRelist {
				e.Object, e.FinalStateUnknown = old, true
			}
			delete(exists, name)
			return e
		default:
			var id int
			_, _ = fmt.Sscanf(old.UID(), "u%d", &id)
			e.Object = podAt(name, id, version)
		}
		exists[name] = e.Object
		return e
	}
	for i := range keys / 2 {
		r.Initial = append(r.Initial, event(began, watch.CauseInitial, fmt.Sprint("p", i)))
	}
	at := began
	for range changes {
		at = at.Add(time.Duration(rng.IntN(400)) * time.Millisecond)
		if rng.IntN(20) > 0 {
			r.Events = append(r.Events, event(at, watch.CauseWatch, fmt.Sprint("p", rng.IntN(keys))))
			continue
		}
		for _, i := range rng.Perm(keys)[:1+rng.IntN(keys)] { // in the order of a list, not of versions
			r.Events = append(r.Events, event(at, watch.CauseRelist, fmt.Sprint("p", i)))
		}
	}
	return r
}

// Whatever the recording and the interleaving: the state is reached, nothing is lost,
// and runs that fail at first are made up for.
func TestPlayReachesTheStateOfAnyRecording(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 1))
		recording := randomRecording(rng, 12, 150)
		result := Play(t, recording, Options{Seed: seed, Workers: 3, Speed: []float64{1, 10, math.Inf(1)}[seed%3], Work: func(_ context.Context, k key.Key, object *wire.Object, get func(key.Key) *wire.Object) (worker.Result, error) {
			if object != nil && object.Key() != k || get(key.Key{Name: "none"}) != nil {
				return worker.Result{}, worker.Permanent(fmt.Errorf("%s got %v", k, object))
			}
			return worker.Result{}, nil
		}})
		if len(result.Parked) > 0 || len(result.Runs) == 0 {
			t.Errorf("seed %d: parked %v, runs of %d keys", seed, result.Parked, len(result.Runs))
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func TestOneSeedIsOneInterleavingAndAnotherIsAnother(t *testing.T) {
	recording := randomRecording(rand.New(rand.NewPCG(7, 7)), 10, 100)
	play := func(seed uint64) map[key.Key][]Run {
		return Play(t, recording, Options{Seed: seed, Work: func(context.Context, key.Key, *wire.Object, func(key.Key) *wire.Object) (worker.Result, error) {
			return worker.Result{}, nil
		}}).Runs
	}
	first, again, other := play(1), play(1), play(2)
	if d := cmp.Diff(first, again); d != "" {
		t.Errorf("the same seed (-first +again):\n%s", d)
	}
	if cmp.Equal(first, other) {
		t.Error("two seeds are one interleaving")
	}
}

func TestAKeyThatFailsForGoodIsParkedAndOthersAreRetried(t *testing.T) {
	recording := randomRecording(rand.New(rand.NewPCG(3, 3)), 6, 40)
	bad, flaky, tries := key.Key{Namespace: "default", Name: "p0"}, key.Key{Namespace: "default", Name: "p1"}, 0
	result := Play(t, recording, Options{Workers: 1, Work: func(_ context.Context, k key.Key, _ *wire.Object, _ func(key.Key) *wire.Object) (worker.Result, error) {
		switch k {
		case bad:
			return worker.Result{}, worker.Permanent(errors.New("never"))
		case flaky:
			if tries++; tries%3 != 0 {
				return worker.Result{}, errors.New("not yet")
			}
		}
		return worker.Result{}, nil
	}})
	if d := cmp.Diff([]key.Key{bad}, result.Parked); d != "" {
		t.Errorf("parked (-want +got):\n%s", d)
	}
	if runs := result.Runs[flaky]; len(runs) < 3 || runs[0].Err == nil || runs[len(runs)-1].Err != nil {
		t.Errorf("runs of the flaky one: %v", runs)
	}
}

// A probe finds what it is there for.
func TestAProbeFindsOverlapsAndLosses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewProbe(1, 0)
		a, b := key.Key{Name: "a"}, key.Key{Name: "b"}
		began := time.Now()
		done := make(chan error, 2)
		for range 2 {
			go func() { done <- p.Run(t.Context(), a, func() error { time.Sleep(time.Second); return nil }) }()
		}
		<-done
		<-done
		failed := errors.New("failed")
		if err := p.Run(t.Context(), b, func() error { return failed }); err != failed {
			t.Errorf("Run returned %v", err)
		}
		if d := cmp.Diff([]key.Key{a}, p.Overlaps()); d != "" {
			t.Errorf("overlaps (-want +got):\n%s", d)
		}
		if got := p.Lost(map[key.Key]time.Time{a: began, b: began}); !cmp.Equal(got, []key.Key{b}) {
			t.Errorf("lost %v; want b, whose run failed", got)
		}
		c := key.Key{Name: "c"}
		func() {
			defer func() { _ = recover() }()
			_ = p.Run(t.Context(), c, func() error { panic("no") })
		}()
		if got := p.Lost(map[key.Key]time.Time{c: began}); !cmp.Equal(got, []key.Key{c}) || p.Runs()[c][0].Err == nil {
			t.Errorf("lost %v; want c, whose run panicked", got)
		}
		if got := p.Lost(map[key.Key]time.Time{a: time.Now()}); !cmp.Equal(got, []key.Key{a}) {
			t.Errorf("lost %v; want a, which changed after its run", got)
		}
		if runs := p.Runs()[a]; len(runs) != 2 || runs[0].Ended.Sub(runs[0].Started) < time.Second {
			t.Errorf("runs %v", runs)
		}
	})
}

// A controller as it is, over the whole HTTP path, in virtual time.
func TestAControllerHearsARecordingFromAServer(t *testing.T) {
	recording := randomRecording(rand.New(rand.NewPCG(5, 5)), 8, 60)
	synctest.Test(t, func(t *testing.T) {
		server := harktest.StartWith(t, harktest.Options{InMemory: true})
		stage := NewStage(server, recording)
		if n, err := stage.Load(); n != len(recording.Initial) || err != nil {
			t.Fatal(n, err)
		}
		changed := map[key.Key]time.Time{}
		for _, e := range recording.Initial {
			changed[e.Key] = time.Now()
		}
		player := record.NewPlayer(recording, record.PlayerOptions{OnEvents: func(events []record.Event) {
			for _, e := range events {
				changed[e.Key] = time.Now()
			}
			if err := stage.Apply(events); err != nil {
				t.Error(err)
			}
		}})
		client, err := kube.New(server.Config(), kube.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer client.CloseIdle()
		probe := NewProbe(1, 0)
		images := map[key.Key]string{}
		controller := hark.New(client, hark.Options[corev1.Pod]{Workers: 1, Reconcile: func(ctx context.Context, k key.Key, pod *corev1.Pod) (hark.Result, error) {
			return hark.Result{}, probe.Run(ctx, k, func() error {
				delete(images, k)
				if pod != nil {
					images[k] = pod.Spec.Containers[0].Image
				}
				return nil
			})
		}})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- controller.Run(ctx) }()
		if err := player.Run(ctx); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		want := map[key.Key]string{}
		for k, object := range recording.Final()[0] {
			want[k] = "i:" + object.ResourceVersion()
		}
		if d := cmp.Diff(want, images); d != "" {
			t.Errorf("the controller's last images (-want +got):\n%s", d)
		}
		for k := range changed {
			if _, ever := probe.Runs()[k]; !ever {
				delete(changed, k) // it came and went between two runs
			}
		}
		if lost, overlaps := probe.Lost(changed), probe.Overlaps(); len(lost)+len(overlaps) > 0 {
			t.Errorf("lost %v, overlaps %v", lost, overlaps)
		}
	})
}

func TestAStageKnowsKindsThatAServerDoesNot(t *testing.T) {
	server := harktest.Start(t)
	widgets := schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}
	object, err := wire.NewObject(wire.JSON, []byte(`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w","uid":"u","resourceVersion":"9","finalizers":["example.com/x"]},"spec":{"size":3}}`))
	if err != nil {
		t.Fatal(err)
	}
	at := record.Event{Type: watch.EventAdded, Cause: watch.CauseInitial, Key: object.Key(), Object: object}
	recording := &record.Recording{Initial: []record.Event{at}, Streams: []record.Stream{{Kind: kube.Kind{GVK: widgets, GVR: widgets.GroupVersion().WithResource("widgets")}}}}
	stage := NewStage(server, recording)
	if _, err := stage.Load(); err != nil {
		t.Fatal(err)
	}
	client, err := kube.New(server.Config(), kube.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer client.CloseIdle()
	kind, err := client.Resolve(t.Context(), "widgets")
	if err != nil || kind.Namespaced {
		t.Fatal(kind, err)
	}
	list, err := client.Source(kind, kube.SourceOptions{}).List(t.Context(), watch.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := list.Next()
	if err != nil || got.UID() != "u" || !bytes.Contains(got.AppendBytes(nil), []byte(`"size":3`)) {
		t.Errorf("%v, %v", got, err)
	}
	_ = list.Close()
	gone := at
	gone.Type, gone.Cause = watch.EventDeleted, watch.CauseWatch
	if err := stage.Apply([]record.Event{gone, gone}); err != nil { // finalizers or not, and once more
		t.Error(err)
	}
	if err := server.Put(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "new"}, Status: corev1.PodStatus{Phase: corev1.PodFailed}}); err != nil {
		t.Error(err)
	}
	found, err := harktest.List[*corev1.Pod](server, "new")
	if err != nil || len(found) != 1 || found[0].Status.Phase != corev1.PodFailed {
		t.Errorf("%v, %v", found, err)
	}
}

func TestAStreamThatIsNotThereIsAnError(t *testing.T) {
	for stream, wrong := range map[int]bool{-1: true, 0: false, 1: true} {
		if err := streamOf(&record.Recording{Streams: []record.Stream{pods}}, stream); (err != nil) != wrong {
			t.Errorf("stream %d of one: %v", stream, err)
		}
	}
}

// complaints is a test that notes what is wrong with it.
type complaints struct {
	testing.TB
	said []string
}

// Errorf implements testing.TB.
func (c *complaints) Errorf(format string, args ...any) {
	c.said = append(c.said, fmt.Sprintf(format, args...))
}

// Helper implements testing.TB.
func (c *complaints) Helper() {}

func TestPlayComplainsOfWhatIsLost(t *testing.T) {
	recording := randomRecording(rand.New(rand.NewPCG(9, 9)), 6, 40)
	for name, spoil := range map[string]func(*playing, key.Key){
		"no run of ":    func(p *playing, k key.Key) { delete(p.seen, k) },
		"saw its end":   func(p *playing, k key.Key) { p.seen[k] = podAt(k.Name, 1, 1) },
		"twice at once": func(p *playing, k key.Key) { p.probe.begin(k); p.probe.begin(k) },
		"at the end": func(p *playing, k key.Key) {
			other := *p.recording
			other.Events = other.Events[:len(other.Events)/2]
			p.recording = &other
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := newPlaying(recording, Options{Work: func(context.Context, key.Key, *wire.Object, func(key.Key) *wire.Object) (worker.Result, error) {
				return worker.Result{}, nil
			}})
			p.run(t)
			heard := &complaints{TB: t}
			if p.check(heard, &Result{}); len(heard.said) > 0 {
				t.Fatalf("without reason: %q", heard.said)
			}
			for k := range recording.Final()[0] {
				spoil(p, k)
				break
			}
			if p.check(heard, &Result{}); len(heard.said) == 0 || !strings.Contains(strings.Join(heard.said, "\n"), name) {
				t.Errorf("%s: %q", name, heard.said)
			}
		})
	}
}
