package cases

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gocampus/hark/harktest"
	"github.com/gocampus/hark/informer"
	"github.com/gocampus/hark/reflector"
)

// expired are the ways in which a watch is told that its version is too old.
var expired = map[string]harktest.Fault{
	"as an event":           {Code: 410, EventError: true},
	"as the answer":         {Code: 410},
	"as an event, Gone":     {Code: 410, Reason: metav1.StatusReasonGone, EventError: true},
	"by its code alone":     {Status: &metav1.Status{Status: "Failure", Code: 410}},
	"as an answer, Expired": {Status: &metav1.Status{Status: "Failure", Code: 410, Reason: metav1.StatusReasonExpired, Message: "too old resource version: 5 (100)"}},
}

// relist is the request that asks for a state not older than a version.
func (w *world) relist(rv string) string {
	if w.way.streaming {
		return "watch rv=" + rv + " initial"
	}
	return "list rv=" + rv
}

// consistent is the request for the newest state.
func (w *world) consistent() string {
	if w.way.streaming {
		return "watch rv= initial"
	}
	return "list rv= limit=500"
}

func TestCase09_ExpiredWatchListsAtTheLastVersion(t *testing.T) {
	playAll(t, everyWay, expired, func(t *testing.T, w *world, fault harktest.Fault) {
		w.create("a=1")
		i, l := w.heard(informer.Options{})
		l.take()
		old := w.rv()
		w.ForgetRequests()
		fault.Verb, fault.Times = "watch", 1
		w.Inject(fault)
		w.CloseWatches()
		settle(time.Minute)
		want := []string{"watch rv=" + old, w.relist(old)}
		if !w.way.streaming {
			want = append(want, "watch rv="+old)
		}
		expect(t, "requests", w.asked("configmaps"), strings.Join(want, ", "))
		expect(t, "events: nothing has changed", l.take(), "")
		if n := status(i).Counts.Relists; n != 1 {
			t.Errorf("%d relists; want 1", n)
		}
	})
}

// Only when the list at the last version is refused too the newest is asked for.
func TestCase09_ExpiredListLeadsToAConsistentRead(t *testing.T) {
	playAll(t, everyWay, expired, func(t *testing.T, w *world, fault harktest.Fault) {
		w.create("a=1", "b=1")
		i, l := w.heard(informer.Options{})
		l.take()
		old := w.rv()
		w.ForgetRequests()
		fault.Verb, fault.Times = "watch", 1
		again := fault
		if again.EventError = false; w.way.streaming {
			fault.Times = 2
		} else {
			again.Verb = "list"
			w.Inject(again)
		}
		w.Inject(fault)
		w.CloseWatches()
		settle(time.Minute)
		want := []string{"watch rv=" + old, w.relist(old), w.consistent()}
		if !w.way.streaming {
			want = append(want, "watch rv="+w.rv())
		}
		expect(t, "requests", w.asked("configmaps"), strings.Join(want, ", "))
		expect(t, "events", l.take(), "")
		expect(t, "store", content(i), "a=1, b=1")
	})
}

// A server that expires every watch at once gets no storm, and no consistent
// reads at all: what it costs is bounded by the backoff.
func TestCase09_ServerThatExpiresEveryWatchIsSpared(t *testing.T) {
	play(t, lists, func(t *testing.T, w *world) {
		w.create("a=1")
		w.Inject(harktest.Fault{Verb: "watch", Code: 410, EventError: true})
		i := w.listen(informer.Options{})
		settle(time.Hour)
		asked := w.asked("configmaps")
		if n := len(asked); n > 2*(6+60*60/24) {
			t.Errorf("%d requests in an hour", n)
		}
		consistent := slices.DeleteFunc(asked, func(line string) bool { return line != w.consistent() })
		if len(consistent) != 1 {
			t.Errorf("%d consistent reads; want the first one alone", len(consistent))
		}
		expect(t, "store", content(i), "a=1")
	})
}

// pagesOf2 makes lists come in pages of two objects.
var pagesOf2 = informer.Options{Reflector: reflector.Options{PageSize: 2, NoStreaming: true}}

// TestCase09_ExpiredContinueTokenStartsAFullList: in the middle of paging the
// version of the pages is compacted away, while objects change.
func TestCase09_ExpiredContinueTokenStartsAFullList(t *testing.T) {
	for page := 1; page <= 2; page++ {
		t.Run(fmt.Sprintf("after page %d", page), func(t *testing.T) {
			play(t, lists, func(t *testing.T, w *world) {
				w.create("a=1", "b=1", "c=1", "d=1", "e=1")
				w.Inject(harktest.Fault{Verb: "list", Skip: page, Times: 1, Delay: 10 * time.Second})
				i, l := w.heard(pagesOf2)
				settle(5 * time.Second)
				w.set("a=2")
				w.delete("b")
				w.create("aa=1")
				w.Compact()
				settle(time.Minute)
				events := l.take()
				if got := events[len(events)-1]; got != "DELETED b=1 initial?" {
					t.Errorf("the last event is %s; want b, which the first page had, deleted", got)
				}
				slices.Sort(events)
				expect(t, "events", events, "ADDED a=1 initial, ADDED aa=1 initial, ADDED b=1 initial, ADDED c=1 initial, "+
					"ADDED d=1 initial, ADDED e=1 initial, DELETED b=1 initial?, MODIFIED a=1>2 initial")
				expect(t, "store", content(i), "a=2, aa=1, c=1, d=1, e=1")
				want := strings.Repeat("list rv= limit=2 continue, ", page)
				expect(t, "requests", w.asked("configmaps"), "list rv= limit=2, "+want+"list rv=, watch rv="+w.rv())
			})
		})
	}
}

// The same as a fault of the server, twice: the full list is 410 as well.
func TestCase09_ContinueTokenIsRefusedTwice(t *testing.T) {
	play(t, lists, func(t *testing.T, w *world) {
		w.create("a=1", "b=1", "c=1")
		w.Inject(harktest.Fault{Verb: "list", Skip: 1, Times: 2, Code: 410})
		_, l := w.heard(pagesOf2)
		settle(time.Minute)
		expect(t, "events", l.take(), "ADDED a=1 initial, ADDED b=1 initial, ADDED c=1 initial")
		expect(t, "requests", w.asked("configmaps"), "list rv= limit=2, list rv= limit=2 continue, list rv=, list rv=, watch rv="+w.rv())
	})
}
