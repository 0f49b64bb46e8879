package harktest_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"

	"github.com/gocampus/hark/harktest"
)

// follower keeps a copy of what a selector selects, in the simplest way that the API's
// documentation gives: list, watch from there, resume where a watch broke off, and
// list again after 410.
type follower struct {
	client   *kubernetes.Clientset
	selector string
	version  string
	state    map[string]string // name to version
	wrong    []string          // what no follower may ever see
	relists  int
}

func (f *follower) run(stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		default:
		}
		if f.version == "" && !f.list() {
			time.Sleep(time.Second)
			continue
		}
		w, err := f.client.CoreV1().ConfigMaps("default").Watch(ctx, metav1.ListOptions{LabelSelector: f.selector, ResourceVersion: f.version, AllowWatchBookmarks: true})
		if err != nil {
			time.Sleep(time.Second)
			continue
		}
		f.follow(w, stop)
	}
}

func (f *follower) list() bool {
	list, err := f.client.CoreV1().ConfigMaps("default").List(ctx, metav1.ListOptions{LabelSelector: f.selector})
	if err != nil {
		return false
	}
	f.state = map[string]string{}
	for _, m := range list.Items {
		f.state[m.Name] = m.ResourceVersion
	}
	f.version = list.ResourceVersion
	f.relists++
	return true
}

func (f *follower) follow(w watch.Interface, stop <-chan struct{}) {
	defer w.Stop()
	for {
		select {
		case <-stop:
			return
		case e, ok := <-w.ResultChan():
			if !ok {
				return
			}
			if m, isMap := e.Object.(*corev1.ConfigMap); isMap {
				f.apply(e.Type, m)
			} else if err := apierrors.FromObject(e.Object); apierrors.IsResourceExpired(err) {
				f.version = ""
				return
			}
		}
	}
}

func (f *follower) apply(t watch.EventType, m *corev1.ConfigMap) {
	_, known := f.state[m.Name]
	switch t {
	case watch.Added, watch.Modified:
		if known != (t == watch.Modified) {
			f.wrong = append(f.wrong, fmt.Sprintf("%s of %s, which is known: %v", t, m.Name, known))
		}
		f.state[m.Name] = m.ResourceVersion
	case watch.Deleted:
		if !known {
			f.wrong = append(f.wrong, "DELETED of "+m.Name+", which is not known")
		}
		delete(f.state, m.Name)
	}
	f.version = m.ResourceVersion
}

// TestFollowersConvergeWhateverHappens makes random changes while watches are cut,
// closed and refused, versions are compacted and the server restarts.
func TestFollowersConvergeWhateverHappens(t *testing.T) {
	for range 4 {
		seed := rand.Uint64()
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { converge(t, rand.New(rand.NewPCG(seed, 0))) })
		})
	}
}

func converge(t *testing.T, random *rand.Rand) {
	s := harktest.StartWith(t, harktest.Options{InMemory: true, History: 60})
	stop := make(chan struct{})
	var followers []*follower
	done := make(chan struct{})
	for _, contentType := range encodings {
		for _, selector := range []string{"", "colour=red", "colour!=red"} {
			f := &follower{client: clientset(t, s, contentType), selector: selector}
			followers = append(followers, f)
			go func() { f.run(stop); done <- struct{}{} }()
		}
	}
	for range 400 {
		change(t, s, random)
		trouble(s, random)
		time.Sleep(time.Duration(random.IntN(300)) * time.Millisecond)
	}
	time.Sleep(10 * time.Minute) // the last faults are used up, the last backoffs over
	synctest.Wait()
	close(stop)
	relists := 0
	for range followers {
		<-done
	}
	for _, f := range followers {
		all, err := harktest.List[*corev1.ConfigMap](s, "default") // no fault fails it
		if err != nil {
			t.Fatal(err)
		}
		selector, err := labels.Parse(f.selector)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{}
		for _, m := range all {
			if selector.Matches(labels.Set(m.Labels)) {
				want[m.Name] = m.ResourceVersion
			}
		}
		diff(t, "state of a follower of "+f.selector, f.state, want)
		if len(f.wrong) > 0 {
			t.Errorf("a follower of %q saw %s", f.selector, strings.Join(f.wrong, "; "))
		}
		relists += f.relists
	}
	t.Logf("%d changes, %d lists, %d requests", s.Version(), relists, len(s.Requests()))
}

// change creates, changes or deletes one of a few config maps.
func change(t *testing.T, s *harktest.Server, random *rand.Rand) {
	t.Helper()
	m := configMap("default", fmt.Sprint("m-", random.IntN(10)), nil)
	colour := map[string]string{"colour": []string{"red", "green"}[random.IntN(2)]}
	err := s.Change(ctx, m, func() { m.Labels, m.Data = colour, map[string]string{"n": fmt.Sprint(random.IntN(100))} })
	if apierrors.IsNotFound(err) {
		m.Labels = colour
		err = s.Create(ctx, m)
	} else if random.IntN(4) == 0 {
		err = s.Delete(ctx, m)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// trouble injects a fault, sometimes.
func trouble(s *harktest.Server, random *rand.Rand) {
	switch random.IntN(40) {
	case 0:
		s.CloseWatches()
	case 1:
		s.Restart(harktest.RestartOptions{Forget: random.IntN(2) == 0})
	case 2:
		s.Compact()
	case 3:
		s.Inject(harktest.Fault{Verb: "watch", Times: 3, AfterEvents: random.IntN(3), CutEvent: true})
		s.CloseWatches()
	case 4:
		s.Inject(harktest.Fault{Verb: "list", Times: 2, Code: http.StatusForbidden})
	case 5:
		s.Inject(harktest.Fault{Verb: "watch", Times: 2, Refuse: true})
		s.CloseWatches()
	case 6:
		s.Inject(harktest.Fault{Verb: "watch", Times: 2, EventError: true, Code: http.StatusGone})
		s.CloseWatches()
	}
}
