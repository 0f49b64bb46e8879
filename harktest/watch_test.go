package harktest_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/gocampus/hark/harktest"
)

// bubbled runs a test in virtual time, once with each encoding.
func bubbled(t *testing.T, test func(t *testing.T, contentType string)) {
	t.Helper()
	for name, contentType := range encodings {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, contentType) })
		})
	}
}

// watching opens a watch of config maps in the namespace default.
func watching(t *testing.T, s *harktest.Server, contentType string, o metav1.ListOptions) watch.Interface {
	t.Helper()
	w, err := clientset(t, s, contentType).CoreV1().ConfigMaps("default").Watch(t.Context(), o)
	if err != nil {
		t.Fatalf("Watch(%+v): %v", o, err)
	}
	t.Cleanup(w.Stop)
	return w
}

// line describes an event: "ADDED a=1@7", "BOOKMARK @9 end", "ERROR 410 Expired".
func line(e watch.Event) string {
	if s, ok := e.Object.(*metav1.Status); ok {
		return fmt.Sprintf("%s %d %s", e.Type, s.Code, s.Reason)
	}
	m, err := meta.Accessor(e.Object)
	if err != nil {
		return fmt.Sprintf("%s %T", e.Type, e.Object)
	}
	name := m.GetName()
	if c, ok := e.Object.(*corev1.ConfigMap); ok && c.Data["n"] != "" {
		name += "=" + c.Data["n"]
	}
	if m.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true" {
		return fmt.Sprintf("%s @%s end", e.Type, m.GetResourceVersion())
	}
	return fmt.Sprintf("%s %s@%s", e.Type, name, m.GetResourceVersion())
}

// arrived returns the events that have come when everybody waits, and whether
// the watch has ended.
func arrived(w watch.Interface) (lines []string, ended bool) {
	for {
		synctest.Wait()
		select {
		case e, ok := <-w.ResultChan():
			if !ok {
				return lines, true
			}
			lines = append(lines, line(e))
		default:
			return lines, false
		}
	}
}

func expect(t *testing.T, w watch.Interface, want ...string) {
	t.Helper()
	got, ended := arrived(w)
	if ended {
		got = append(got, "end")
	}
	if strings.Join(got, ", ") != strings.Join(want, ", ") {
		t.Errorf("events:\ngot  %v\nwant %v", got, want)
	}
}

func TestWatchTakesVersionsAsTheAPIDocumentsThem(t *testing.T) {
	bubbled(t, func(t *testing.T, contentType string) {
		s, v := changing(t) // a@1001, b@1002, a=2@1003, c@1004, b deleted @1005 (after four namespaces: +4)
		at := func(i int) string { return strconv.FormatUint(v[i], 10) }
		yes, no := true, false
		notOlder := metav1.ResourceVersionMatchNotOlderThan
		state := []string{"ADDED a=2@" + at(2), "ADDED c@" + at(3)}
		with := func(more ...string) []string { return append(state[:len(state):len(state)], more...) }
		for _, tc := range []struct {
			o    metav1.ListOptions
			want []string
		}{
			{metav1.ListOptions{}, state},
			{metav1.ListOptions{ResourceVersion: "0"}, state},
			{metav1.ListOptions{ResourceVersion: at(1)}, []string{"MODIFIED a=2@" + at(2), "ADDED c@" + at(3), "DELETED b@" + at(4)}},
			{metav1.ListOptions{ResourceVersion: at(4)}, nil},
			{metav1.ListOptions{ResourceVersion: strconv.FormatUint(v[4]+1, 10)}, nil},
			{metav1.ListOptions{SendInitialEvents: &yes, ResourceVersionMatch: notOlder, AllowWatchBookmarks: true}, with("BOOKMARK @" + at(4) + " end")},
			{metav1.ListOptions{SendInitialEvents: &yes, ResourceVersionMatch: notOlder, AllowWatchBookmarks: true, ResourceVersion: "0"}, with("BOOKMARK @" + at(4) + " end")},
			{metav1.ListOptions{SendInitialEvents: &yes, ResourceVersionMatch: notOlder, AllowWatchBookmarks: true, ResourceVersion: at(1)}, with("BOOKMARK @" + at(4) + " end")},
			{metav1.ListOptions{SendInitialEvents: &yes, ResourceVersionMatch: notOlder}, state},
			{metav1.ListOptions{SendInitialEvents: &no, ResourceVersionMatch: notOlder}, nil},
			{metav1.ListOptions{SendInitialEvents: &no, ResourceVersionMatch: notOlder, ResourceVersion: at(3)}, []string{"DELETED b@" + at(4)}},
		} {
			w := watching(t, s, contentType, tc.o)
			got, ended := arrived(w)
			if strings.Join(got, ", ") != strings.Join(tc.want, ", ") || ended {
				t.Errorf("watch with %+v:\ngot  %v, ended %v\nwant %v", tc.o, got, ended, tc.want)
			}
		}
		for _, o := range []metav1.ListOptions{
			{SendInitialEvents: &yes}, {ResourceVersionMatch: notOlder}, {SendInitialEvents: &yes, ResourceVersionMatch: metav1.ResourceVersionMatchExact},
		} {
			o.AllowWatchBookmarks = true
			if _, err := clientset(t, s, contentType).CoreV1().ConfigMaps("default").Watch(ctx, o); !apierrors.IsInvalid(err) {
				t.Errorf("watch with %+v = %v; want Invalid", o, err)
			}
		}
	})
}

func TestWatchOfAVersionThatIsNotThereGetsAnErrorEvent(t *testing.T) {
	bubbled(t, func(t *testing.T, contentType string) {
		s, v := changing(t)
		s.Compact()
		expect(t, watching(t, s, contentType, metav1.ListOptions{ResourceVersion: strconv.FormatUint(v[1], 10)}), "ERROR 410 Expired", "end")
		expect(t, watching(t, s, contentType, metav1.ListOptions{ResourceVersion: strconv.FormatUint(v[4], 10)}))
		yes := true
		expect(t, watching(t, s, contentType, metav1.ListOptions{
			SendInitialEvents: &yes, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, ResourceVersion: "999999",
		}), "ERROR 504 Timeout", "end")
	})
}

// C18: a deletion between list and watch is delivered.
func TestCase18_DeletionBetweenListAndWatchIsDelivered(t *testing.T) {
	bubbled(t, func(t *testing.T, contentType string) {
		s := harktest.StartWith(t, harktest.Options{InMemory: true})
		create(t, s, configMap("default", "a", nil), configMap("default", "b", nil))
		list, err := clientset(t, s, contentType).CoreV1().ConfigMaps("default").List(ctx, metav1.ListOptions{})
		if err != nil || len(list.Items) != 2 {
			t.Fatalf("List = %+v, %v", list, err)
		}
		if err := s.Delete(ctx, configMap("default", "b", nil)); err != nil {
			t.Fatal(err)
		}
		expect(t, watching(t, s, contentType, metav1.ListOptions{ResourceVersion: list.ResourceVersion}), fmt.Sprintf("DELETED b@%d", s.Version()))
	})
}

func TestSelectorsTurnChangesIntoAdditionsAndDeletions(t *testing.T) {
	bubbled(t, func(t *testing.T, contentType string) {
		s := harktest.StartWith(t, harktest.Options{InMemory: true})
		m := configMap("default", "a", map[string]string{"n": "1"})
		m.Labels = map[string]string{"on": "no"}
		create(t, s, m)
		byLabel := watching(t, s, contentType, metav1.ListOptions{LabelSelector: "on=yes", ResourceVersion: m.ResourceVersion})
		byName := watching(t, s, contentType, metav1.ListOptions{FieldSelector: "metadata.name=a", ResourceVersion: m.ResourceVersion})
		set := func(label, n string) string {
			if err := s.Change(ctx, m, func() { m.Labels["on"], m.Data["n"] = label, n }); err != nil {
				t.Fatal(err)
			}
			return m.ResourceVersion
		}
		create(t, s, configMap("default", "z", nil))
		added, modified := set("yes", "2"), set("yes", "3")
		left := set("no", "4")
		unseen := set("no", "5")
		back := set("yes", "6")
		if err := s.Delete(ctx, m); err != nil {
			t.Fatal(err)
		}
		deleted := fmt.Sprint(s.Version())
		expect(t, byLabel, "ADDED a=2@"+added, "MODIFIED a=3@"+modified, "DELETED a=3@"+left, "ADDED a=6@"+back, "DELETED a=6@"+deleted)
		expect(t, byName, "MODIFIED a=2@"+added, "MODIFIED a=3@"+modified, "MODIFIED a=4@"+left, "MODIFIED a=5@"+unseen, "MODIFIED a=6@"+back, "DELETED a=6@"+deleted)
	})
}

func TestBookmarksComeWhenAskedFor(t *testing.T) {
	bubbled(t, func(t *testing.T, contentType string) {
		s := harktest.StartWith(t, harktest.Options{InMemory: true, BookmarkInterval: 10 * time.Second})
		with := watching(t, s, contentType, metav1.ListOptions{AllowWatchBookmarks: true})
		without := watching(t, s, contentType, metav1.ListOptions{})
		create(t, s, pod("default", "p"))                               // another kind moves the version too
		expect(t, with, fmt.Sprintf("BOOKMARK @%d end", s.Version()-1)) // the API streams the initial events of such a watch
		time.Sleep(10 * time.Second)
		expect(t, with, fmt.Sprintf("BOOKMARK @%d", s.Version()))
		time.Sleep(20 * time.Second)
		expect(t, with, fmt.Sprintf("BOOKMARK @%d", s.Version()), fmt.Sprintf("BOOKMARK @%d", s.Version()))
		expect(t, without)
	})
}

func TestWatchEndsAtItsTimeoutAfterALastBookmark(t *testing.T) {
	bubbled(t, func(t *testing.T, contentType string) {
		s := harktest.StartWith(t, harktest.Options{InMemory: true})
		seconds := int64(30)
		w := watching(t, s, contentType, metav1.ListOptions{TimeoutSeconds: &seconds, AllowWatchBookmarks: true})
		expect(t, w, fmt.Sprintf("BOOKMARK @%d end", s.Version()))
		time.Sleep(28 * time.Second)
		expect(t, w, fmt.Sprintf("BOOKMARK @%d", s.Version()))
		time.Sleep(2 * time.Second)
		expect(t, w, "end")
		unlimited := watching(t, s, contentType, metav1.ListOptions{})
		time.Sleep(30*time.Minute - time.Second)
		expect(t, unlimited)
		time.Sleep(time.Second)
		expect(t, unlimited, "end")
	})
}

func TestSlowWatcherIsClosedAndWritersGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := harktest.StartWith(t, harktest.Options{InMemory: true, WatchBuffer: 5})
		w := watching(t, s, "application/json", metav1.ListOptions{})
		// The client reads nothing: its pipe takes one event, the rest waits in the window.
		for i := range 100 {
			create(t, s, configMap("default", fmt.Sprint(i), nil))
			synctest.Wait()
		}
		got, ended := arrived(w)
		if !ended || len(got) == 0 || len(got) >= 100 {
			t.Errorf("a watcher that read nothing got %d events, ended %v; want some and the end", len(got), ended)
		}
	})
}

func TestWatchesCanBeClosed(t *testing.T) {
	bubbled(t, func(t *testing.T, contentType string) {
		s := harktest.StartWith(t, harktest.Options{InMemory: true})
		w := watching(t, s, contentType, metav1.ListOptions{})
		expect(t, w)
		s.CloseWatches()
		expect(t, w, "end")
		expect(t, watching(t, s, contentType, metav1.ListOptions{}))
	})
}

func TestNothingIsSentThatWasWrittenAfterWatchesWereClosed(t *testing.T) {
	bubbled(t, func(t *testing.T, contentType string) {
		s := harktest.StartWith(t, harktest.Options{InMemory: true})
		s.Inject(harktest.Fault{Verb: "watch", Times: 1, BytesPerSecond: 100})
		w := watching(t, s, contentType, metav1.ListOptions{})
		create(t, s, configMap("default", "early", nil))
		synctest.Wait() // it is being sent
		s.CloseWatches()
		create(t, s, configMap("default", "late", nil))
		time.Sleep(time.Minute)
		expect(t, w, "ADDED early@5", "end")
	})
}

func TestStreamingListsCanBeRefused(t *testing.T) {
	s := harktest.StartWith(t, harktest.Options{NoStreamingLists: true})
	yes := true
	_, err := clientset(t, s, "application/json").CoreV1().ConfigMaps("default").Watch(ctx, metav1.ListOptions{
		SendInitialEvents: &yes, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, AllowWatchBookmarks: true,
	})
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "sendInitialEvents is forbidden") {
		t.Errorf("streaming list = %v; want Invalid", err)
	}
}
