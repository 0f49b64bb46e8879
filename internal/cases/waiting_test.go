package cases

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gocampus/hark/harktest"
	"github.com/gocampus/hark/informer"
	"github.com/gocampus/hark/kube"
	"github.com/gocampus/hark/reflector"
	"github.com/gocampus/hark/watch"
)

// shared runs a set of shared informers until stop is called or the test ends.
func (w *world) shared(o kube.InformersOptions) (set *kube.Informers, stop func()) {
	set = kube.NewInformers(w.client, o)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = set.Run(ctx) // ends with ctx alone
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		<-done
	})
	w.t.Cleanup(stop)
	return set, stop
}

// acquire takes an informer of the set.
func (w *world) acquire(set *kube.Informers, kind kube.Kind) *kube.Shared {
	w.t.Helper()
	s, err := set.Acquire(kind, kube.SourceOptions{})
	must(w.t, err)
	return s
}

// within is how long something may take.
func within(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// TestCase12_ForbiddenIsAStateWithAReason: twenty refusals, then it is allowed.
// Another informer is not held up, and who waits is told what for.
func TestCase12_ForbiddenIsAStateWithAReason(t *testing.T) {
	refusals := map[string]harktest.Fault{
		"forbidden":    {Code: 403, Message: `configmaps is forbidden: User "u" cannot list resource "configmaps" in API group "" at the cluster scope`},
		"unauthorized": {Code: 401},
	}
	playAll(t, bothOf, refusals, func(t *testing.T, w *world, fault harktest.Fault) {
		w.create("a=1")
		fault.Resource, fault.Times = "configmaps", 20
		w.Inject(fault)
		set, _ := w.shared(kube.InformersOptions{})
		refused, fine := w.acquire(set, w.kind), w.acquire(set, w.resolve("secrets"))
		must(t, fine.WaitSync(within(t, time.Second)))
		err := refused.WaitSync(within(t, 30*time.Second))
		known, ok := errors.AsType[*watch.Error](err)
		if !ok || known.Code != fault.Code || !errors.Is(err, context.DeadlineExceeded) ||
			!strings.Contains(err.Error(), "configmaps in all namespaces (v1)") || !strings.Contains(err.Error(), fault.Message) {
			t.Errorf("WaitSync = %v; want the deadline, the kind and its version, and the reason", err)
		}
		if err := set.WaitSync(within(t, time.Second)); err == nil || strings.Contains(err.Error(), "secrets") {
			t.Errorf("WaitSync of the set = %v; want the one that is refused alone", err)
		}
		must(t, refused.WaitSync(within(t, 20*36*time.Second)))
		settle(time.Second)
		if s := refused.Status().Reflector; s.Reason != nil || s.Phase != reflector.Watching || refused.Store().Len() == 0 {
			t.Errorf("status %+v; want all well without a restart", s)
		}
		pauses(t, w, 30*time.Second)
	})
}

// pauses checks that the pauses between the refused requests grow, up to a bound.
func pauses(t *testing.T, w *world, bound time.Duration) {
	t.Helper()
	var last time.Time
	var all []time.Duration
	for _, r := range w.Requests() {
		if r.Resource != "configmaps" {
			continue
		}
		if !last.IsZero() {
			all = append(all, r.Start.Sub(last))
		}
		last = r.Start
	}
	if len(all) < 20 {
		t.Fatalf("pauses %v; want 20 or more", all)
	}
	if longest := slices.Max(all); longest < bound*8/10 || longest > bound*12/10 {
		t.Errorf("the longest pause is %s; want about %s", longest, bound)
	}
}

// A permission that is lost while a watch is open, and given again.
func TestCase12_PermissionIsLostAndGivenAgain(t *testing.T) {
	play(t, bothOf, func(t *testing.T, w *world) {
		w.create("a=1")
		i := w.listen(informer.Options{})
		settle(time.Second)
		lift := w.Inject(harktest.Fault{Resource: "configmaps", Code: 403})
		w.CloseWatches()
		settle(time.Hour)
		w.set("a=2")
		w.Compact()
		if s := status(i); !s.Synced || s.Phase != reflector.Waiting || s.Reason.Kind != watch.KindForbidden {
			t.Errorf("status %+v; want waiting, because it is forbidden", s)
		}
		expect(t, "store, kept meanwhile", content(i), "a=1")
		lift()
		settle(2 * time.Minute)
		expect(t, "store", content(i), "a=2")
	})
}

// unanswered are the ways in which a reflector may be waiting for a server.
var unanswered = map[string]harktest.Fault{
	"refused connections": {Refuse: true},
	"a wish to come back": {Code: 429, RetryAfter: 4 * time.Minute},
	"the kind is missing": {Code: 404},
	"forbidden":           {Code: 403},
	"no answer":           {Silent: true},
	"a slow answer":       {BytesPerSecond: 1},
	"cut answers":         {CutAfterBytes: 1},
}

// TestCase23_StopInterruptsEverythingAtOnce: no time passes between the end of
// the context and the return of Run.
func TestCase23_StopInterruptsEverythingAtOnce(t *testing.T) {
	playAll(t, bothOf, unanswered, func(t *testing.T, w *world, fault harktest.Fault) {
		for name := range 20 {
			w.create(fmt.Sprintf("m%d=1", name))
		}
		fault.Resource = "configmaps"
		w.Inject(fault)
		i := w.listenable(informer.Options{})
		stop := w.stoppable(i)
		settle(5*time.Minute + 7*time.Second)
		before := time.Now()
		stop()
		if passed := time.Since(before); passed != 0 {
			t.Errorf("Run returned after %s", passed)
		}
		if s := status(i); s.Phase != reflector.Stopped {
			t.Errorf("phase %s; want stopped", s.Phase)
		}
	})
}

// TestCase29_OneBadKindDoesNotBlockItsSiblings, whatever is wrong with it.
func TestCase29_OneBadKindDoesNotBlockItsSiblings(t *testing.T) {
	faults := map[string]harktest.Fault{
		"forbidden":       {Code: 403},
		"no such kind":    {Code: 404},
		"a server error":  {Code: 500},
		"cut":             {CutAfterBytes: 20},
		"never answered":  {Silent: true},
		"very slow":       {BytesPerSecond: 1},
		"refused":         {Refuse: true},
		"asked to be off": {Code: 429, RetryAfter: time.Hour},
	}
	playAll(t, bothOf, faults, func(t *testing.T, w *world, fault harktest.Fault) {
		w.create("a=1")
		must(t, w.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "s"}, Data: map[string][]byte{"s": make([]byte, 1000)}}))
		fault.Resource = "secrets"
		w.Inject(fault)
		set, _ := w.shared(kube.InformersOptions{})
		maps, bad, pods := w.acquire(set, w.kind), w.acquire(set, w.resolve("secrets")), w.acquire(set, w.resolve("pods"))
		must(t, maps.WaitSync(within(t, time.Second)))
		must(t, pods.WaitSync(within(t, time.Second)))
		w.set("a=2")
		synctest.Wait()
		if maps.Store().Version() != w.rv() {
			t.Errorf("the good one is at %s; want %s", maps.Store().Version(), w.rv())
		}
		err := set.WaitSync(within(t, time.Minute))
		if err == nil || !strings.Contains(err.Error(), "secrets") || strings.Contains(err.Error(), "pods") || strings.Contains(err.Error(), "configmaps") {
			t.Errorf("WaitSync of the set = %v; want the bad one named, and no other", err)
		}
		if bad.Status().Reflector.Synced {
			t.Error("the bad one is synced")
		}
	})
}

// A kind that no server has, beside those it has.
func TestCase29_UnknownKindDoesNotBlockItsSiblings(t *testing.T) {
	play(t, bothOf, func(t *testing.T, w *world) {
		set, _ := w.shared(kube.InformersOptions{})
		bad, good := w.acquire(set, widgetKind), w.acquire(set, w.kind)
		must(t, good.WaitSync(within(t, time.Second)))
		known, ok := errors.AsType[*watch.Error](bad.WaitSync(within(t, time.Minute)))
		if !ok || known.Kind != watch.KindNotFound {
			t.Errorf("WaitSync of the unknown kind = %v; want that it is not found", known)
		}
	})
}
