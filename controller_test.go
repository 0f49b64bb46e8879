package hark_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/gocampus/hark"
	"github.com/gocampus/hark/harktest"
	"github.com/gocampus/hark/informer"
	"github.com/gocampus/hark/key"
	"github.com/gocampus/hark/kube"
	"github.com/gocampus/hark/store"
	"github.com/gocampus/hark/wire"
)

// world is a server in memory and a client of it, for use in a bubble.
type world struct {
	*harktest.Server
	client *kube.Client
}

func newWorld(t *testing.T) world {
	t.Helper()
	server := harktest.StartWith(t, harktest.Options{InMemory: true})
	client, err := kube.New(server.Config(), kube.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.CloseIdle)
	return world{server, client}
}

func configMap(name string, data ...string) *corev1.ConfigMap {
	m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Data: map[string]string{}}
	for i := 0; i+1 < len(data); i += 2 {
		m.Data[data[i]] = data[i+1]
	}
	return m
}

// start runs a controller in the background; stop ends it and returns what Run
// returned.
func start[T any](t *testing.T, c *hark.Controller[T]) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	stop = sync.OnceValue(func() error {
		cancel()
		return <-done
	})
	t.Cleanup(func() { _ = stop() })
	return stop
}

var quiet = slog.New(slog.DiscardHandler)

// settle lets time pass in a bubble and then waits until all is done.
func settle(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// must fails the test at an error.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestEveryKeyIsRunAfterItsLastChange: objects change at random, watches break,
// runs fail at random and take time. In the end each key was run successfully
// with its last version, and no two runs of a key overlapped.
func TestEveryKeyIsRunAfterItsLastChange(t *testing.T) {
	for _, compact := range []bool{false, true} {
		seed := rand.Uint64()
		t.Run(fmt.Sprintf("compact %t seed %d", compact, seed), func(t *testing.T) { everyKeyIsRun(t, seed, compact) })
	}
}

func everyKeyIsRun(t *testing.T, seed uint64, compact bool) {
	synctest.Test(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(seed, 0))
		w := newWorld(t)
		r := recorder{rng: rand.New(rand.NewPCG(seed, 1)), done: map[key.Key]string{}, running: map[key.Key]bool{}}
		stop := start(t, hark.New(w.client, hark.Options[corev1.ConfigMap]{
			Namespace: "default", Reconcile: r.reconcile, Workers: 4, Logger: quiet, Compact: compact,
		}))
		want := map[key.Key]string{}
		for n := range 2000 {
			name := fmt.Sprintf("m%d", rng.IntN(20))
			mutate(t, w, rng, name, n, want)
			switch rng.IntN(200) {
			case 0:
				w.CloseWatches()
			case 1:
				w.Restart(harktest.RestartOptions{Forget: true})
			case 2:
				w.Inject(harktest.Fault{Verb: "watch", Times: 1, Code: 503})
			case 3:
				w.Inject(harktest.Fault{Verb: "watch", Times: 1, CutEvent: true})
			}
			time.Sleep(time.Duration(rng.IntN(50)) * time.Millisecond)
		}
		settle(time.Hour) // longer than any backoff that is left
		for k, version := range want {
			if r.done[k] != version {
				t.Errorf("%s: the last successful run saw version %q; the last change made %q", k, r.done[k], version)
			}
		}
		if len(r.problems) > 0 {
			t.Errorf("%d problems, such as: %s", len(r.problems), r.problems[0])
		}
		if err := stop(); err != nil {
			t.Errorf("Run = %v", err)
		}
		t.Logf("%d runs, %d failed", r.runs, r.failures)
	})
}

func mutate(t *testing.T, w world, rng *rand.Rand, name string, n int, want map[key.Key]string) {
	t.Helper()
	k := key.Key{Namespace: "default", Name: name}
	m := configMap(name, "n", fmt.Sprint(n))
	switch version, known := want[k]; {
	case !known || version == "":
		must(t, w.Create(t.Context(), m))
		want[k] = m.ResourceVersion
	case rng.IntN(4) == 0:
		must(t, w.Delete(t.Context(), m))
		want[k] = ""
	default:
		must(t, w.Update(t.Context(), m))
		want[k] = m.ResourceVersion
	}
}

// recorder is a reconciler that is slow and unreliable.
type recorder struct {
	mu       sync.Mutex
	rng      *rand.Rand
	running  map[key.Key]bool
	done     map[key.Key]string // version that the last successful run saw
	problems []string
	runs     int
	failures int
}

func (r *recorder) reconcile(ctx context.Context, k key.Key, m *corev1.ConfigMap) (hark.Result, error) {
	r.mu.Lock()
	if r.running[k] {
		r.problems = append(r.problems, fmt.Sprintf("two runs of %s at once", k))
	}
	r.running[k] = true
	r.runs++
	pause, fail := time.Duration(r.rng.IntN(100))*time.Millisecond, r.rng.IntN(3) == 0
	r.mu.Unlock()
	time.Sleep(pause)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running[k] = false
	if fail {
		r.failures++
		return hark.Result{}, errors.New("by chance")
	}
	r.done[k] = ""
	if m != nil {
		r.done[k] = m.ResourceVersion
	}
	return hark.Result{}, nil
}

func TestControllersShareAWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		must(t, w.Create(t.Context(), configMap("a")))
		shared := kube.NewInformers(w.client, kube.InformersOptions{})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- shared.Run(ctx) }()
		var mu sync.Mutex
		runs := map[string]int{}
		for _, name := range []string{"one", "two"} {
			start(t, hark.New(w.client, hark.Options[corev1.ConfigMap]{
				Name: name, Informers: shared, Logger: quiet,
				Reconcile: func(context.Context, key.Key, *corev1.ConfigMap) (hark.Result, error) {
					mu.Lock()
					defer mu.Unlock()
					runs[name]++
					return hark.Result{}, nil
				},
			}))
		}
		synctest.Wait()
		cancel()
		<-done
		synctest.Wait() // the server has seen the end of the watch
		watches := 0
		for _, r := range w.Requests() {
			if r.Verb == "watch" {
				watches++
			}
		}
		if watches != 1 || runs["one"] != 1 || runs["two"] != 1 {
			t.Errorf("%d watches, runs %v; want one watch and one run of each", watches, runs)
		}
	})
}

func TestChangeOfAnOwnedObjectRunsItsOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		secrets, err := w.client.Resolve(t.Context(), "secrets")
		must(t, err)
		owner := configMap("owner")
		must(t, w.Create(t.Context(), owner))
		var mu sync.Mutex
		runs := map[string]int{}
		start(t, hark.New(w.client, hark.Options[corev1.ConfigMap]{
			Also:   []hark.Also{{Kind: secrets, Keys: hark.OwnedBy("ConfigMap")}},
			Logger: quiet,
			Reconcile: func(_ context.Context, k key.Key, _ *corev1.ConfigMap) (hark.Result, error) {
				mu.Lock()
				defer mu.Unlock()
				runs[k.String()]++
				return hark.Result{}, nil
			},
		}))
		synctest.Wait()
		must(t, w.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "stranger"}}))
		synctest.Wait()
		owned := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "owned",
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(owner, corev1.SchemeGroupVersion.WithKind("ConfigMap"))}}}
		must(t, w.Create(t.Context(), owned))
		synctest.Wait()
		if runs["default/owner"] != 2 || len(runs) != 1 {
			t.Errorf("runs %v; want two of the owner: at the start, and for what it owns", runs)
		}
		if got := hark.OwnedBy("ConfigMap")(informer.Event{}); got != nil {
			t.Errorf("an event without objects leads to %v", got)
		}
	})
}

func TestPermanentErrorParksTheKeyUntilItChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		m := configMap("bad", "is", "bad")
		must(t, w.Create(t.Context(), m))
		runs := 0
		c := hark.New(w.client, hark.Options[corev1.ConfigMap]{Logger: quiet,
			Reconcile: func(_ context.Context, _ key.Key, m *corev1.ConfigMap) (hark.Result, error) {
				runs++
				if m.Data["is"] == "bad" {
					return hark.Result{}, hark.Permanent(errors.New("it is bad"))
				}
				return hark.Result{}, nil
			}})
		start(t, c)
		settle(time.Hour)
		parked := c.Parked()
		if runs != 1 || len(parked) != 1 || parked[0].Item.Name != "bad" || len(c.Status().Parked) != 1 {
			t.Fatalf("%d runs, parked %+v; want one run, and the key parked", runs, parked)
		}
		if !c.Requeue(parked[0].Item) {
			t.Error("Requeue = false for a parked key")
		}
		settle(time.Second)
		must(t, w.Change(t.Context(), m, func() { m.Data["is"] = "good" }))
		settle(time.Second)
		if runs != 3 || len(c.Parked()) != 0 {
			t.Errorf("%d runs, parked %+v; want a run for the requeue and one for the change, and nothing parked", runs, c.Parked())
		}
	})
}

func TestUnstructuredObjectsOfAGivenKind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		must(t, w.Create(t.Context(), configMap("a", "color", "red")))
		kind, err := w.client.Resolve(t.Context(), "cm")
		must(t, err)
		var seen *unstructured.Unstructured
		c := hark.New(w.client, hark.Options[unstructured.Unstructured]{Kind: kind, Logger: quiet,
			Reconcile: func(_ context.Context, _ key.Key, u *unstructured.Unstructured) (hark.Result, error) {
				seen = u
				return hark.Result{}, nil
			}})
		start(t, c)
		synctest.Wait()
		if color, _, _ := unstructured.NestedString(seen.Object, "data", "color"); color != "red" || seen.GetKind() != "ConfigMap" {
			t.Errorf("saw %v", seen)
		}
		if n := c.Store().Len(); n != 1 {
			t.Errorf("the store has %d objects", n)
		}
	})
}

// TestReadOnlyControllersShareADecodedObject: two runs of one version get the
// same object if the controller promises not to change it, each its own if not.
func TestReadOnlyControllersShareADecodedObject(t *testing.T) {
	for _, readOnly := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			must(t, w.Create(t.Context(), configMap("a", "color", "red")))
			var seen []*corev1.ConfigMap
			c := hark.New(w.client, hark.Options[corev1.ConfigMap]{Namespace: "default", ReadOnly: readOnly, Logger: quiet,
				Reconcile: func(_ context.Context, _ key.Key, m *corev1.ConfigMap) (hark.Result, error) {
					seen = append(seen, m)
					return hark.Result{}, nil
				}})
			start(t, c)
			synctest.Wait()
			c.Enqueue(key.Key{Namespace: "default", Name: "a"}, 0)
			synctest.Wait()
			if len(seen) != 2 || (seen[0] == seen[1]) != readOnly {
				t.Fatalf("read only %t: %d runs saw %p", readOnly, len(seen), seen)
			}
			must(t, w.Update(t.Context(), configMap("a", "color", "blue")))
			synctest.Wait()
			if len(seen) != 3 || seen[2].Data["color"] != "blue" || seen[0].Data["color"] != "red" || seen[2].Kind != "ConfigMap" {
				t.Errorf("read only %t: after a change %d runs saw %v", readOnly, len(seen), seen)
			}
		})
	}
}

func TestRunSaysWhyTheCachesAreNotSynced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.Inject(harktest.Fault{Resource: "configmaps", Code: 403, Message: `configmaps is forbidden: User "x" cannot list resource "configmaps"`})
		var log strings.Builder
		c := hark.New(w.client, hark.Options[corev1.ConfigMap]{
			Logger: slog.New(slog.NewTextHandler(&log, nil)),
			Reconcile: func(context.Context, key.Key, *corev1.ConfigMap) (hark.Result, error) {
				return hark.Result{}, errors.New("ran before the caches were synced")
			}})
		stop := start(t, c)
		settle(time.Minute)
		err := stop()
		if err == nil || !strings.Contains(err.Error(), "cannot list resource") || !strings.Contains(err.Error(), "configmaps in all namespaces") {
			t.Errorf("Run = %v; want what was waited for and why", err)
		}
		if n := strings.Count(log.String(), "cannot list resource"); n != 1 {
			t.Errorf("the reason was logged %d times; want once:\n%s", n, log.String())
		}
		if err := c.Run(t.Context()); !errors.Is(err, hark.ErrStarted) {
			t.Errorf("second Run = %v; want ErrStarted", err)
		}
	})
}

func TestKindThatTheServerLacksIsAnErrorAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		err := hark.New(w.client, hark.Options[unstructured.Unstructured]{Logger: quiet,
			Reconcile: func(context.Context, key.Key, *unstructured.Unstructured) (hark.Result, error) {
				return hark.Result{}, nil
			}}).Run(t.Context())
		if err == nil || !strings.Contains(err.Error(), "Unstructured") {
			t.Errorf("Run = %v; want that the kind of Unstructured is not known", err)
		}
	})
}

func TestSharedInformersHaveIndexes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		for _, name := range []string{"a", "b"} {
			m := configMap(name)
			m.Labels = map[string]string{"team": name}
			must(t, w.Create(t.Context(), m))
		}
		shared := kube.NewInformers(w.client, kube.InformersOptions{Configure: func(kube.Kind, kube.SourceOptions) informer.Options {
			return informer.Options{Indexes: map[string]store.IndexFunc{"team": store.Label("team")}}
		}})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- shared.Run(ctx) }()
		var c *hark.Controller[corev1.ConfigMap]
		var seen []string
		c = hark.New(w.client, hark.Options[corev1.ConfigMap]{Informers: shared, Namespace: "default", Workers: 1, Logger: quiet,
			Reconcile: func(_ context.Context, k key.Key, _ *corev1.ConfigMap) (hark.Result, error) {
				for o := range c.Store().Indexed("team", k.Name) {
					seen = append(seen, o.Key().String())
				}
				return hark.Result{}, nil
			}})
		start(t, c)
		synctest.Wait()
		slices.Sort(seen)
		if !slices.Equal(seen, []string{"default/a", "default/b"}) {
			t.Errorf("by index: %v", seen)
		}
		cancel()
		<-done
	})
}

func TestFormerOwnerIsRunWhenAnObjectChangesHands(t *testing.T) {
	owned := func(version, owner, group string) *wire.Object {
		o, err := wire.NewObject(wire.JSON, fmt.Appendf(nil, `{"metadata":{"namespace":"default","name":"rs","uid":"u","resourceVersion":%q,
			"ownerReferences":[{"apiVersion":%q,"kind":"Deployment","name":%q,"uid":"o","controller":true}]}}`, version, group, owner))
		must(t, err)
		return o
	}
	e := informer.Event{Old: owned("1", "a", "apps/v1"), New: owned("2", "b", "apps/v1")}
	want := []key.Key{{Namespace: "default", Name: "a"}, {Namespace: "default", Name: "b"}}
	for _, kind := range []string{"Deployment", "Deployment.apps"} {
		if got := hark.OwnedBy(kind)(e); !slices.Equal(got, want) {
			t.Errorf("OwnedBy(%s) = %v; want %v", kind, got, want)
		}
	}
	for _, kind := range []string{"ReplicaSet", "Deployment.example.com"} {
		if got := hark.OwnedBy(kind)(e); got != nil {
			t.Errorf("OwnedBy(%s) = %v; want none", kind, got)
		}
	}
}

func TestControllerEndsWhenItsSharedInformersStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		shared := kube.NewInformers(w.client, kube.InformersOptions{})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- shared.Run(ctx) }()
		ended := make(chan error)
		go func() {
			ended <- hark.New(w.client, hark.Options[corev1.ConfigMap]{Informers: shared, Logger: quiet, Reconcile: nothing}).Run(t.Context())
		}()
		synctest.Wait()
		cancel()
		<-done
		if err := <-ended; !errors.Is(err, kube.ErrSetStopped) {
			t.Errorf("Run = %v; want ErrSetStopped", err)
		}
		// One that begins now is told at once.
		if err := hark.New(w.client, hark.Options[corev1.ConfigMap]{Informers: shared, Logger: quiet, Reconcile: nothing}).Run(t.Context()); !errors.Is(err, kube.ErrSetStopped) {
			t.Errorf("Run = %v; want ErrSetStopped", err)
		}
	})
}

func nothing(context.Context, key.Key, *corev1.ConfigMap) (hark.Result, error) {
	return hark.Result{}, nil
}

func TestResyncRunsKeysAgainButWakesNoneThatIsParked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		must(t, w.Create(t.Context(), configMap("good")))
		must(t, w.Create(t.Context(), configMap("bad")))
		runs := map[string]int{}
		start(t, hark.New(w.client, hark.Options[corev1.ConfigMap]{Namespace: "default", Logger: quiet, Resync: time.Minute, Workers: 1,
			Reconcile: func(_ context.Context, k key.Key, _ *corev1.ConfigMap) (hark.Result, error) {
				runs[k.Name]++
				if k.Name == "bad" {
					return hark.Result{}, hark.Permanent(errors.New("it is bad"))
				}
				return hark.Result{}, nil
			}}))
		settle(10*time.Minute + time.Second)
		if runs["bad"] != 1 || runs["good"] != 11 {
			t.Errorf("runs %v; want 1 of bad and 11 of good", runs)
		}
	})
}

func TestStoreOfAControllerThatDidNotFindItsKindIsEmpty(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		c := hark.New(w.client, hark.Options[unstructured.Unstructured]{Logger: quiet,
			Reconcile: func(context.Context, key.Key, *unstructured.Unstructured) (hark.Result, error) {
				return hark.Result{}, nil
			}})
		if err := c.Run(t.Context()); err == nil {
			t.Error("Run = nil; want that the kind is not known")
		}
		if n := c.Store().Len(); n != 0 || len(c.Status().Informers) != 0 {
			t.Errorf("%d objects, %v", n, c.Status().Informers)
		}
	})
}

func TestPanickingKeysAreLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		secrets, err := w.client.Resolve(t.Context(), "secrets")
		must(t, err)
		must(t, w.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "s"}}))
		var log strings.Builder
		start(t, hark.New(w.client, hark.Options[corev1.ConfigMap]{Logger: slog.New(slog.NewTextHandler(&log, nil)), Reconcile: nothing,
			Also: []hark.Also{{Kind: secrets, Keys: func(informer.Event) []key.Key { panic("no keys today") }}}}))
		synctest.Wait()
		if !strings.Contains(log.String(), "no keys today") {
			t.Errorf("log: %s", log.String())
		}
	})
}

func TestControllerWaitsForAServerThatIsNotThereYet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		up := w.GoDown()
		var log strings.Builder
		runs := 0
		start(t, hark.New(w.client, hark.Options[corev1.ConfigMap]{Namespace: "default", Logger: slog.New(slog.NewTextHandler(&log, nil)),
			Reconcile: func(context.Context, key.Key, *corev1.ConfigMap) (hark.Result, error) {
				runs++
				return hark.Result{}, nil
			}}))
		settle(time.Minute)
		must(t, up())
		must(t, w.Create(t.Context(), configMap("a")))
		settle(time.Minute)
		if runs != 1 || strings.Count(log.String(), "not heard") != 1 || !strings.Contains(log.String(), "heard again") || !strings.Contains(log.String(), "at work") {
			t.Errorf("%d runs, log:\n%s", runs, log.String())
		}
	})
}
