package cases

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gocampus/hark"
	"github.com/gocampus/hark/harktest"
	"github.com/gocampus/hark/informer"
	"github.com/gocampus/hark/key"
	"github.com/gocampus/hark/kube"
)

// TestCase14_StoppedInformerIsNotHandedOutAgain: who asks again gets a live one
// with a list of its own.
func TestCase14_StoppedInformerIsNotHandedOutAgain(t *testing.T) {
	play(t, bothOf, func(t *testing.T, w *world) {
		w.create("a=1", "b=1")
		set, stop := w.shared(kube.InformersOptions{})
		first := w.acquire(set, w.kind)
		must(t, first.WaitSync(within(t, time.Second)))
		first.Release()
		synctest.Wait()
		w.set("a=2")
		w.delete("b")
		w.ForgetRequests()

		second := w.acquire(set, w.kind)
		must(t, second.WaitSync(within(t, time.Second)))
		if len(w.asked("configmaps")) == 0 {
			t.Error("the second one sent no request")
		}
		w.set("a=3")
		synctest.Wait()
		if o, ok := second.Store().Get(key.Key{Namespace: "default", Name: "a"}); !ok || number(o) != "3" || second.Store().Len() != 1 {
			t.Errorf("the second one has %v of %d objects; want a=3 alone", o, second.Store().Len())
		}
		if err := first.WaitSync(within(t, time.Second)); !errors.Is(err, informer.ErrStopped) {
			t.Errorf("WaitSync of the first = %v; want that it has stopped", err)
		}
		if _, err := first.Handle(func(informer.Event) {}, informer.HandlerOptions{}); !errors.Is(err, informer.ErrStopped) {
			t.Errorf("Handle of the first = %v; want that it has stopped", err)
		}
		stop()
		if _, err := set.Acquire(w.kind, kube.SourceOptions{}); !errors.Is(err, kube.ErrSetStopped) {
			t.Errorf("Acquire from a set that has stopped = %v", err)
		}
		if err := second.WaitSync(within(t, time.Second)); !errors.Is(err, informer.ErrStopped) {
			t.Errorf("WaitSync after the set has stopped = %v", err)
		}
	})
}

// One of two users goes: the other's informer goes on, and so does who comes
// then. Released in a hurry, before it has synced, it is another again.
func TestCase14_UsersComeAndGo(t *testing.T) {
	play(t, bothOf, func(t *testing.T, w *world) {
		w.create("a=1")
		set, _ := w.shared(kube.InformersOptions{})
		for range 5 {
			w.acquire(set, w.kind).Release()
		}
		one, two := w.acquire(set, w.kind), w.acquire(set, w.kind)
		must(t, one.WaitSync(within(t, time.Second)))
		one.Release()
		one.Release() // counts once
		w.set("a=2")
		three := w.acquire(set, w.kind)
		synctest.Wait()
		if two.Store() != three.Store() {
			t.Error("two users of one kind have two informers")
		}
		if o, _ := three.Store().Get(key.Key{Namespace: "default", Name: "a"}); o == nil || number(o) != "2" {
			t.Errorf("the informer that goes on has %v; want a=2", o)
		}
	})
}

// A stopped informer says so; it does not pretend to be synced and alive.
func TestCase14_StoppedInformerRefusesToGoOn(t *testing.T) {
	play(t, bothOf, func(t *testing.T, w *world) {
		i := w.listenable(informer.Options{})
		w.stoppable(i)()
		if err := i.Run(t.Context()); !errors.Is(err, informer.ErrStopped) {
			t.Errorf("Run = %v; want ErrStopped", err)
		}
		if _, err := i.Handle(func(informer.Event) {}, informer.HandlerOptions{}); !errors.Is(err, informer.ErrStopped) {
			t.Errorf("Handle = %v; want ErrStopped", err)
		}
	})
}

// TestCase15_AnotherUIDIsDeleteAndAdd, in a gap and live, for quick and slow
// handlers, and also if the object was made again twice.
func TestCase15_AnotherUIDIsDeleteAndAdd(t *testing.T) {
	forget := map[string]bool{"relisted": true, "resumed": false}
	playAll(t, everyWay, forget, func(t *testing.T, w *world, forget bool) {
		w.create("o=1", "other=1")
		i := w.listenable(informer.Options{})
		quick, slow := &uids{}, &uids{pause: time.Second}
		w.handle(i, quick.note, informer.HandlerOptions{Every: 100})
		w.handle(i, slow.note, informer.HandlerOptions{Resync: 10 * time.Second})
		w.run(i)
		settle(5 * time.Second)
		w.gap(forget, func() { w.delete("o"); w.create("o=2"); w.delete("o"); w.create("o=3") })
		w.delete("o") // and live
		w.create("o=4")
		settle(time.Minute)
		for what, l := range map[string]*uids{"quick": quick, "slow": slow} {
			if l.wrong != "" {
				t.Errorf("%s handler: %s", what, l.wrong)
			}
			if l.added < 3 || l.added != l.deleted+1 {
				t.Errorf("%s handler: o was added %d times and deleted %d times", what, l.added, l.deleted)
			}
		}
		expect(t, "store", content(i), "o=4, other=1")
	})
}

// uids is a handler that holds the UIDs of o in events against each other.
type uids struct {
	pause          time.Duration
	current        string
	added, deleted int
	wrong          string
}

func (l *uids) note(e informer.Event) {
	time.Sleep(l.pause)
	if e.Key.Name != "o" {
		return
	}
	switch {
	case e.Old == nil && l.current == "":
		l.added++
		l.current = e.New.UID()
	case e.New == nil && e.Old.UID() == l.current:
		l.deleted++
		l.current = ""
	case e.Old != nil && e.New != nil && e.Old.UID() == l.current && e.New.UID() == l.current:
	default:
		l.wrong = fmt.Sprintf("%s %v > %v while it knows UID %q", e.Type, e.Old, e.New, l.current)
	}
}

// TestCase24_DeletionOfWhatNobodyKnows harms nobody: its addition was lost, or
// it comes twice.
func TestCase24_DeletionOfWhatNobodyKnows(t *testing.T) {
	inputs := map[string]struct {
		fault harktest.Fault
		want  string
	}{
		"the addition is lost":     {harktest.Fault{DropEvents: 1}, "ADDED n=1 watch"},
		"the deletion comes twice": {harktest.Fault{AfterEvents: 1, DoubleEvents: 1}, "ADDED o=1 watch, DELETED o=1 watch, ADDED n=1 watch"},
		"everything comes twice":   {harktest.Fault{DoubleEvents: 3}, "ADDED o=1 watch, DELETED o=1 watch, ADDED n=1 watch"},
	}
	for what, input := range inputs {
		t.Run(what, func(t *testing.T) {
			play(t, everyWay, func(t *testing.T, w *world) {
				w.create("a=1")
				i, l := w.heard(informer.Options{})
				settle(time.Second)
				l.take()
				input.fault.Verb, input.fault.Times = "watch", 1
				w.Inject(input.fault)
				w.CloseWatches()
				settle(time.Second)
				w.create("o=1")
				w.delete("o")
				w.create("n=1")
				expect(t, "events", l.take(), input.want)
				expect(t, "store", content(i), "a=1, n=1")
				if n := i.Status().Changes.Missing; n != 1 {
					t.Errorf("%d unknown deletions were counted; want 1", n)
				}
			})
		})
	}
}

// In a controller a deletion leads to a run of the key without an object, that of
// an owned object to a run of its owner; the state may be one that nobody saw.
func TestCase24_DeletionsReachAControllerByKey(t *testing.T) {
	play(t, bothOf, func(t *testing.T, w *world) {
		secrets := w.resolve("secrets")
		owner := configMap("owner", "1")
		must(t, w.Create(t.Context(), owner))
		w.create("gone=1")
		owned := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "owned",
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(owner, corev1.SchemeGroupVersion.WithKind("ConfigMap"))}}}
		must(t, w.Create(t.Context(), owned))
		var runs tape
		c := hark.New(w.client, hark.Options[corev1.ConfigMap]{
			Also: []hark.Also{{Kind: secrets, Keys: hark.OwnedBy("ConfigMap")}}, Workers: 1, Logger: quiet,
			Reconcile: func(_ context.Context, k key.Key, m *corev1.ConfigMap) (hark.Result, error) {
				runs.add(fmt.Sprintf("%s %v", k.Name, m != nil))
				return hark.Result{}, nil
			}})
		control(t, c)
		settle(time.Second)
		runs.take()
		w.gap(true, func() {
			w.delete("gone")
			must(t, w.Delete(t.Context(), owned))
		})
		got := runs.take()
		slices.Sort(got)
		expect(t, "runs, and whether there was an object", got, "gone false, owner true")
	})
}
