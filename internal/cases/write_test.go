package cases

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gocampus/hark"
	"github.com/gocampus/hark/harktest"
	"github.com/gocampus/hark/informer"
	"github.com/gocampus/hark/key"
	"github.com/gocampus/hark/kube"
)

// written writes a map by client-go's client and returns the answer.
func (w *world) written(text string) *corev1.ConfigMap {
	w.t.Helper()
	name, n, _ := strings.Cut(text, "=")
	maps := w.clientset().CoreV1().ConfigMaps("default")
	m, err := maps.Get(w.t.Context(), name, metav1.GetOptions{})
	must(w.t, err)
	m.Data["n"] = n
	m, err = maps.Update(w.t.Context(), m, metav1.UpdateOptions{})
	must(w.t, err)
	return m
}

// observe hands an answer in.
func (w *world) observe(i *informer.Informer, m *corev1.ConfigMap) bool {
	w.t.Helper()
	encoded, err := kube.Encode(m)
	must(w.t, err)
	return i.Observe(encoded)
}

// TestCase25_LateAnswerToAWriteDoesNotRollBack: the watch is ahead of the answer,
// by a change, a deletion, or a deletion and another object of that name.
func TestCase25_LateAnswerToAWriteDoesNotRollBack(t *testing.T) {
	meanwhile := map[string]struct {
		do   func(*world)
		want string
	}{
		"told already":           {func(*world) {}, "o=2"},
		"changed":                {func(w *world) { w.set("o=3") }, "o=3"},
		"deleted":                {func(w *world) { w.delete("o") }, ""},
		"deleted and made again": {func(w *world) { w.delete("o"); w.create("o=9") }, "o=9"},
	}
	for what, input := range meanwhile {
		t.Run(what, func(t *testing.T) {
			play(t, everyWay, func(t *testing.T, w *world) {
				w.create("o=1")
				i := w.listen(informer.Options{})
				settle(time.Second)
				answer := w.written("o=2")
				input.do(w)
				settle(time.Second)
				if w.observe(i, answer) {
					t.Error("the late answer was taken")
				}
				expect(t, "store", content(i), input.want)
				settle(time.Hour)
				expect(t, "store, later", content(i), input.want)
			})
		})
	}
}

// The watch is mute when the answers come: reads see them at once, and go on as
// soon as it speaks again.
func TestCase25_AnswerIsSeenWhileTheWatchIsMute(t *testing.T) {
	play(t, everyWay, func(t *testing.T, w *world) {
		w.create("o=1", "p=1", "q=1")
		i, l := w.heard(informer.Options{})
		settle(time.Second)
		l.take()
		lift := w.Inject(harktest.Fault{Verb: "watch", Silent: true})
		w.CloseWatches()
		settle(time.Second)
		for _, text := range []string{"o=2", "p=2", "q=2"} {
			if !w.observe(i, w.written(text)) {
				t.Errorf("the answer to %s was not taken", text)
			}
		}
		expect(t, "store", content(i), "o=2, p=2, q=2")
		w.set("p=3") // by others, unseen
		w.delete("q")
		expect(t, "store", content(i), "o=2, p=2, q=2")
		expect(t, "events", l.take(), "")
		lift()
		settle(time.Minute)
		expect(t, "store", content(i), "o=2, p=3")
		expect(t, "events", l.take(), "MODIFIED o=1>2 watch, MODIFIED p=1>2 watch, MODIFIED q=1>2 watch, MODIFIED p=2>3 watch, DELETED q=2 watch")
	})
}

// An object that the informer does not select is seen until the watch is past it.
func TestCase25_AnswerThatIsNotSelectedVanishes(t *testing.T) {
	play(t, everyWay, func(t *testing.T, w *world) {
		i := w.run(informer.New(w.source(kube.SourceOptions{Namespace: "kube-system"}), informer.Options{}))
		settle(time.Second)
		m := configMap("stray", "1")
		must(t, w.Create(t.Context(), m))
		w.observe(i, m)
		settle(2 * time.Minute)
		expect(t, "store", content(i), "")
	})
}

// A controller whose watch is late does its work once: the second run of the key
// reads what the first one wrote.
func TestCase25_ControllerReadsItsOwnWrites(t *testing.T) {
	play(t, everyWay, func(t *testing.T, w *world) {
		maps := w.clientset().CoreV1().ConfigMaps("default")
		var writes cell[int]
		var c *hark.Controller[corev1.ConfigMap]
		c = hark.New(w.client, hark.Options[corev1.ConfigMap]{Namespace: "default", Workers: 1, Logger: quiet,
			Reconcile: func(ctx context.Context, _ key.Key, m *corev1.ConfigMap) (hark.Result, error) {
				if m == nil || m.Data["done"] != "" {
					return hark.Result{}, nil
				}
				writes.change(func(n *int) { *n++ }) // one that conflicts is one too many
				m.Data["done"] = "yes"
				m, err := maps.Update(ctx, m, metav1.UpdateOptions{})
				if err != nil {
					return hark.Result{}, err
				}
				return hark.Result{RequeueAfter: time.Second}, c.Observe(m)
			}})
		control(t, c)
		settle(time.Second)
		lift := w.Inject(harktest.Fault{Verb: "watch", Silent: true, AfterEvents: 1}) // it tells of o, and then no more
		w.CloseWatches()
		settle(time.Second)
		w.create("o=1")
		settle(time.Minute)
		if n := writes.get(); n != 1 {
			t.Errorf("%d writes; want 1", n)
		}
		lift()
		settle(10 * time.Minute)
		if n, observed := writes.get(), c.Store().Stats().Observed; n != 1 || observed != 0 {
			t.Errorf("%d writes in the end, %d answers still lie over the store; want 1 and none", n, observed)
		}
	})
}
