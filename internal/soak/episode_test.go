package soak

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/gocampus/hark/informer"
	"github.com/gocampus/hark/key"
	"github.com/gocampus/hark/kube"
	"github.com/gocampus/hark/reflector"
	"github.com/gocampus/hark/wire"
	"github.com/gocampus/hark/worker"
	"github.com/gocampus/hark/workqueue"
)

// episode plays one history and checks its end.
func episode(t *testing.T, seed uint64) report {
	w := newWorld(t, seed)
	followers := newFollowers(t, w, seed)
	pool, queue, work := newPool(t, followers[0], seed)

	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	for _, f := range followers {
		running.Go(func() { _ = f.informer.Run(ctx) })
	}
	running.Go(func() { _ = pool.Run(ctx) })
	for n := range *changes {
		w.change(n)
		if w.rng.IntN(12) == 0 {
			w.fault()
		}
		if seed%4 == 0 && w.rng.IntN(300) == 0 {
			w.renumber()
		}
		switch {
		case w.rng.IntN(400) == 0: // long enough for what is deaf to be noticed
			time.Sleep(5 * time.Minute)
		case w.rng.IntN(3) == 0:
			time.Sleep(time.Duration(w.rng.IntN(1500)) * time.Millisecond)
		}
	}
	w.settle()
	time.Sleep(2 * time.Hour)
	synctest.Wait()
	result := check(t, w, followers, work)
	cancel()
	queue.ShutDown()
	running.Wait()
	return result
}

// newFollowers makes informers that list and select differently.
func newFollowers(t *testing.T, w *world, seed uint64) []*follower {
	client, err := kube.New(w.server.Config(), kube.Options{ResponseTimeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.CloseIdle)
	kind, err := client.Resolve(t.Context(), "configmaps")
	if err != nil {
		t.Fatal(err)
	}
	strict := seed%4 != 0
	all := &follower{name: "all", selects: func(key.Key, truth) bool { return true }}
	all.informer = informer.New(client.Source(kind, kube.SourceOptions{}), informer.Options{Reflector: short(false), Compact: true})
	all.handle(t, "quick", 0, strict, informer.HandlerOptions{Every: 1 << 16})
	all.handle(t, "slow", 3*time.Second, strict, informer.HandlerOptions{Resync: 10 * time.Minute})

	one := &follower{name: "one namespace, listed as JSON", selects: func(k key.Key, _ truth) bool { return k.Namespace == "default" }}
	one.informer = informer.New(client.Source(kind, kube.SourceOptions{Namespace: "default", Encoding: wire.JSON}),
		informer.Options{Reflector: short(true), Compact: true})
	one.handle(t, "quick", 0, strict, informer.HandlerOptions{Every: 1 << 16})

	red := &follower{name: "red", selects: func(_ key.Key, o truth) bool { return o.team == "red" }}
	red.informer = informer.New(client.Source(kind, kube.SourceOptions{LabelSelector: "team=red"}), informer.Options{Reflector: short(false), Compact: true})
	red.handle(t, "busy", 50*time.Millisecond, strict, informer.HandlerOptions{Every: 3, Resync: time.Minute})
	return []*follower{all, one, red}
}

// short makes what takes long in the field take less.
func short(noStreaming bool) reflector.Options {
	return reflector.Options{
		NoStreaming: noStreaming, PageSize: 7, MaxBackoff: 5 * time.Second,
		IdleTimeout: 75 * time.Second, WatchTimeout: time.Minute,
	}
}

// newPool makes workers for the keys of a follower.
func newPool(t *testing.T, f *follower, seed uint64) (*worker.Pool[key.Key], *workqueue.Queue[key.Key], *runs) {
	queue := workqueue.New(workqueue.Options[key.Key]{})
	if _, err := f.informer.Handle(func(e informer.Event) { queue.Add(e.Key) }, informer.HandlerOptions{Name: "enqueue"}); err != nil {
		t.Fatal(err)
	}
	work := &runs{follower: f, rng: rand.New(rand.NewPCG(seed, 7)), running: map[key.Key]bool{}, seen: map[key.Key]string{}}
	return worker.New(queue, work.run, worker.Options[key.Key]{Workers: 4}), queue, work
}

// check holds everything against the model, and reports.
func check(t *testing.T, w *world, followers []*follower, work *runs) report {
	result := report{changes: *changes, faults: w.faults, met: w.server.FaultsMet()}
	for _, f := range followers {
		checkStore(t, w, f)
		for _, fold := range f.folds {
			result.told += checkFold(t, f, fold)
		}
		result.count(f.informer.Status().Reflector.Counts)
	}
	work.mu.Lock()
	defer work.mu.Unlock()
	for k, seen := range work.seen {
		if want := w.truth[k].n; seen != want {
			t.Errorf("%s: the last successful run saw change %q; the last change is %q", k, seen, want)
		}
	}
	for k, o := range w.truth {
		if _, ok := work.seen[k]; !ok {
			t.Errorf("%s was never run; it is at change %s", k, o.n)
		}
	}
	for _, problem := range work.problems {
		t.Errorf("run: %s", problem)
	}
	result.runs, result.failures = work.count, work.failures
	return result
}

func checkStore(t *testing.T, w *world, f *follower) {
	got := map[key.Key]truth{}
	for o := range f.informer.Store().All() {
		m, err := kube.As[corev1.ConfigMap](o)
		if err != nil {
			t.Errorf("%s: %v", f.name, err)
			continue
		}
		got[o.Key()] = truth{n: m.Data["n"], team: m.Labels["team"], uid: string(m.UID)}
	}
	for k, want := range w.truth {
		if f.selects(k, want) && got[k] != want {
			t.Errorf("%s: store has %+v of %s; the server has %+v", f.name, got[k], k, want)
		}
	}
	for k, o := range got {
		if want, ok := w.truth[k]; !ok || !f.selects(k, want) {
			t.Errorf("%s: store has %+v of %s, which the server has not", f.name, o, k)
		}
	}
	if t.Failed() {
		t.Logf("%s: %+v", f.name, f.informer.Status())
	}
}

// checkFold holds what a handler was told against the store, and returns how many
// events that were.
func checkFold(t *testing.T, f *follower, fold *fold) (told int) {
	fold.mu.Lock()
	defer fold.mu.Unlock()
	for n, problem := range fold.problems {
		if n < 5 {
			t.Errorf("%s: %s", fold.name, problem)
		}
	}
	if n := f.informer.Store().Len(); n != len(fold.objects) {
		t.Errorf("%s: told of %d objects; the store has %d", fold.name, len(fold.objects), n)
	}
	for k, told := range fold.objects {
		if o, ok := f.informer.Store().Get(k); !ok || !o.Equal(told) {
			t.Errorf("%s: told %s; the store has %v", fold.name, told, o)
		}
	}
	return fold.told
}
