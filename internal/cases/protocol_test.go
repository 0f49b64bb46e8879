package cases

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gocampus/hark/harktest"
	"github.com/gocampus/hark/informer"
	"github.com/gocampus/hark/reflector"
)

// withheld are ways in which the end of a streaming list is never said.
var withheld = map[string]harktest.Fault{
	"its end":                       {NoInitialEnd: true},
	"all bookmarks":                 {NoBookmarks: true},
	"its end, and then it is mute":  {NoInitialEnd: true, Silent: true, AfterEvents: 2},
	"its end, and it sends nothing": {NoInitialEnd: true, NoInitialEvents: true},
}

func TestCase07_EndOfInitialEventsNeverComes(t *testing.T) {
	playAll(t, streams, withheld, func(t *testing.T, w *world, fault harktest.Fault) {
		w.create("a=1", "b=1")
		fault.Verb = "watch"
		lift := w.Inject(fault)
		var reasons tape
		i, l := w.heard(informer.Options{Reflector: reflector.Options{OnStatus: func(s reflector.Status) {
			if s.Reason != nil && !s.Synced {
				reasons.add(s.Reason.Error())
			}
		}}})
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		must(t, i.WaitSync(ctx))
		expect(t, "events", l.take(), "ADDED a=1 initial, ADDED b=1 initial")
		if len(reasons.take()) == 0 {
			t.Error("no reason was shown")
		}
		lift()
		w.gap(true, func() { w.set("a=2") })
		expect(t, "store", content(i), "a=2, b=1")
		streamed := slices.DeleteFunc(w.asked("configmaps"), func(line string) bool { return !strings.HasSuffix(line, "initial") })
		if len(streamed) != 1 {
			t.Errorf("streamed %q; want the choice of lists remembered", streamed)
		}
	})
}

// The server ends the watch, again and again, before it has said the end.
func TestCase07_ServerClosesBeforeTheEndOfInitialEvents(t *testing.T) {
	play(t, streams, func(t *testing.T, w *world) {
		w.create("a=1")
		w.Inject(harktest.Fault{Verb: "watch", NoInitialEnd: true})
		i := w.listen(informer.Options{})
		settle(3 * time.Second)
		w.CloseWatches()
		settle(time.Second)
		expect(t, "store", content(i), "a=1")
		if s := status(i); !s.Synced || s.Phase != reflector.Watching {
			t.Errorf("status %+v; want it synced, by a list", s)
		}
	})
}

// tooLarge is the refusal of a version that the server has not reached, as new
// servers write it and as old ones did.
var tooLarge = map[string]harktest.Fault{
	"with a cause": {Times: 1, Status: &metav1.Status{Status: "Failure", Code: 504, Reason: metav1.StatusReasonTimeout,
		Message: "Timeout: it is too large", Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge}}}}},
	"by its text": {Times: 1, Status: &metav1.Status{Status: "Failure", Code: 504, Reason: metav1.StatusReasonTimeout,
		Message: "Timeout: Too large resource version: 100, current: 50"}},
	"by its text, without a reason": {Times: 1, Code: 504, Message: "Too large resource version: 100, current: 50"},
}

func TestCase08_TooLargeVersionLeadsToAConsistentRead(t *testing.T) {
	playAll(t, everyWay, tooLarge, func(t *testing.T, w *world, fault harktest.Fault) {
		w.create("a=1", "b=1")
		_, l := w.heard(informer.Options{})
		l.take()
		old := w.rv()
		w.ForgetRequests()
		fault.Verb = "list"
		if w.way.streaming {
			fault.Verb, fault.Skip = "watch", 1 // the first is the watch that learns of 410
		}
		w.gap(true, func() { w.set("a=2"); w.delete("b") }, fault)
		expect(t, "events", l.take(), "MODIFIED a=1>2 relist, DELETED b=1 relist?")
		want := []string{"watch rv=" + old, "list rv=" + old, "list rv= limit=500", "watch rv=" + w.rv()}
		if w.way.streaming {
			want = []string{"watch rv=" + old, "watch rv=" + old + " initial", "watch rv= initial"}
		}
		expect(t, "requests", w.answered("configmaps"), strings.Join(want, ", "))
	})
}

// The server is restored from a backup: its versions are lower for good.
func TestCase08_ServerThatCountsAnewIsBelieved(t *testing.T) {
	starts := map[string]uint64{"from 0": 0, "a little lower": 998, "higher": 5000}
	playAll(t, everyWay, starts, func(t *testing.T, w *world, start uint64) {
		w.create("a=1", "b=1", "c=1")
		i, l := w.heard(informer.Options{})
		w.gap(false, func() {
			w.set("a=2")
			w.delete("b")
			w.Restart(harktest.RestartOptions{Renumber: true, StartVersion: start})
		})
		settle(10 * time.Minute) // a watch from the future may be held open in silence
		expect(t, "store", content(i), "a=2, c=1")
		l.take()
		w.set("c=2")
		expect(t, "then", l.take(), "MODIFIED c=1>2 watch")
		expect(t, "store", content(i), "a=2, c=2")
		if got := i.Store().Version(); got != w.rv() {
			t.Errorf("version = %s; want the server's, %s", got, w.rv())
		}
	})
}
