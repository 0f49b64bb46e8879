package cases

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocampus/hark"
	"github.com/gocampus/hark/harktest"
	"github.com/gocampus/hark/informer"
	"github.com/gocampus/hark/key"
	"github.com/gocampus/hark/kube"
	"github.com/gocampus/hark/reflector"
	"github.com/gocampus/hark/watch"
)

// unfit are sizes that a widget's type does not take.
var unfit = map[string]any{
	"a text":   "big",
	"a map":    map[string]any{"is": int64(2)},
	"a list":   []any{int64(2)},
	"a part":   2.5,
	"too much": 1e30,
}

// TestCase11_OneUndecodableObjectLeavesTheOthersUsable in a controller: it is
// parked with a reason until it is repaired.
func TestCase11_OneUndecodableObjectLeavesTheOthersUsable(t *testing.T) {
	playAll(t, bothOf, unfit, func(t *testing.T, w *world, bad any) {
		must(t, w.Register(harktest.Kind{GroupVersionKind: widgetKind.GVK}))
		two, three := newWidget("two", bad), newWidget("three", int64(3))
		w.make(newWidget("one", int64(1)), two, three)
		var runs tape
		c := hark.New(w.client, hark.Options[widget]{Kind: widgetKind, Workers: 1, Logger: quiet,
			Reconcile: func(_ context.Context, k key.Key, o *widget) (hark.Result, error) {
				runs.add(fmt.Sprintf("%s %d", k.Name, o.Spec.Size))
				return hark.Result{}, nil
			}})
		control(t, c)
		settle(time.Minute)
		got := runs.take()
		slices.Sort(got)
		expect(t, "runs", got, "one 1, three 3")
		parked := c.Parked()
		if len(parked) != 1 || parked[0].Item.Name != "two" || !strings.Contains(parked[0].Err.Error(), "default/two") {
			t.Errorf("parked %+v; want two, with an error that names it", parked)
		}
		must(t, w.Change(t.Context(), three, func() { three.Object["spec"] = map[string]any{"size": int64(4)} }))
		settle(time.Minute)
		must(t, w.Change(t.Context(), two, func() { two.Object["spec"] = map[string]any{"size": int64(2)} }))
		settle(time.Minute)
		expect(t, "runs, repaired", runs.take(), "three 4, two 2")
		if n := len(c.Parked()); n != 0 {
			t.Errorf("%d keys are parked after the repair", n)
		}
		lists := 0
		for _, line := range w.asked("widgets") {
			if strings.HasPrefix(line, "list") || strings.HasSuffix(line, "initial") {
				lists++
			}
		}
		if lists > 2 { // a refused streaming list and a list
			t.Errorf("%d lists; want no relist because of one object", lists)
		}
	})
}

// An event whose frame is whole and whose object is no object is reported, and
// the watch goes on; what was in it is heard of all the same.
func TestCase11_MalformedEventIsReportedAndMadeGood(t *testing.T) {
	for events := range 3 {
		t.Run(fmt.Sprintf("after %d events", events), func(t *testing.T) {
			play(t, everyWay, func(t *testing.T, w *world) {
				w.create("a=1", "b=1", "c=1")
				var reported tape
				i := w.listen(informer.Options{Reflector: reflector.Options{
					OnBadObject: func(bad *watch.Error) { reported.add(bad.Error()) }}})
				settle(time.Second)
				w.Inject(harktest.Fault{Verb: "watch", MalformedEvent: true, Times: 1, AfterEvents: events})
				w.CloseWatches()
				settle(time.Second)
				w.set("a=2")
				w.set("b=2")
				w.delete("c")
				settle(10 * time.Minute)
				expect(t, "store", content(i), "a=2, b=2")
				if s := status(i); s.Reason != nil || len(reported.take()) == 0 {
					t.Errorf("status %+v; want all well, and the event reported", s)
				}
			})
		})
	}
}

// What does not decode is in the store, and an error names it to whoever reads it.
func TestCase11_ErrorAppearsWhenTheObjectIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, everyWay[1])
		must(t, w.Register(harktest.Kind{GroupVersionKind: widgetKind.GVK}))
		w.make(newWidget("one", int64(1)), newWidget("two", "big"))
		i := w.run(informer.New(w.client.Source(widgetKind, kube.SourceOptions{}), informer.Options{}))
		must(t, i.WaitSync(t.Context()))
		if o, err := kube.As[widget](object(t, i, "one")); err != nil || o.Spec.Size != 1 {
			t.Errorf("one = %+v, %v", o, err)
		}
		if _, err := kube.As[widget](object(t, i, "two")); err == nil || !strings.Contains(err.Error(), "default/two") {
			t.Errorf("reading two = %v; want an error that names it", err)
		}
	})
}
