package kube

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"github.com/gocampus/hark/watch"
)

// apiServer answers discovery in the form without aggregation, in which each
// group version is a request of its own and can fail alone. Deployments have
// short names that are others' full names, which count more.
type apiServer struct {
	mu     sync.Mutex
	groups []string // group versions in the server's order
	lists  map[string][]metav1.APIResource
	broken map[string]int // HTTP codes by path
	asked  int            // for the list of groups
}

var readWrite = metav1.Verbs{"get", "list", "watch", "create", "delete"}

func resource(name, singular, kind string, namespaced bool, short ...string) metav1.APIResource {
	return metav1.APIResource{Name: name, SingularName: singular, Kind: kind, Namespaced: namespaced, ShortNames: short, Verbs: readWrite}
}

func newAPIServer() *apiServer {
	review := resource("tokenreviews", "tokenreview", "TokenReview", false)
	review.Verbs = metav1.Verbs{"create"}
	return &apiServer{
		groups: []string{"apps/v1", "authentication.k8s.io/v1", "events.k8s.io/v1", "example.com/v2", "example.com/v1", "metrics.k8s.io/v1beta1"},
		lists: map[string][]metav1.APIResource{
			"v1": {
				resource("pods", "pod", "Pod", true, "po"),
				{Name: "pods/log", Kind: "Pod", Namespaced: true, Verbs: metav1.Verbs{"get"}},
				resource("nodes", "node", "Node", false, "no"),
				resource("events", "event", "Event", true, "ev"),
			},
			"apps/v1":                  {resource("deployments", "deployment", "Deployment", true, "deploy", "gears", "gear")},
			"authentication.k8s.io/v1": {review},
			"events.k8s.io/v1":         {resource("events", "event", "Event", true, "ev")},
			"example.com/v2":           {resource("widgets", "widget", "Widget", true, "wd")},
			"example.com/v1":           {resource("widgets", "widget", "Widget", true, "wd"), resource("gears", "", "Gear", false)},
			"metrics.k8s.io/v1beta1":   {resource("pods", "", "PodMetrics", true)},
		},
		broken: map[string]int{},
	}
}

func (s *apiServer) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if code := s.broken[r.URL.Path]; code != 0 {
		return answer(code, "text/plain", "no"), nil
	}
	var object any
	switch r.URL.Path {
	case "/api":
		object = metav1.APIVersions{Versions: []string{"v1"}}
	case "/apis":
		s.asked++
		object = s.groupList()
	default:
		name := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/apis/"), "/api/")
		list, ok := s.lists[name]
		if !ok {
			return answer(http.StatusNotFound, "text/plain", "no"), nil
		}
		object = metav1.APIResourceList{GroupVersion: name, APIResources: list}
	}
	raw, err := json.Marshal(object)
	return answer(http.StatusOK, "application/json", string(raw)), err
}

func (s *apiServer) CloseIdleConnections() {}

func (s *apiServer) groupList() metav1.APIGroupList {
	var list metav1.APIGroupList
	for _, name := range s.groups {
		gv, _ := schema.ParseGroupVersion(name)
		version := metav1.GroupVersionForDiscovery{GroupVersion: name, Version: gv.Version}
		if n := len(list.Groups); n > 0 && list.Groups[n-1].Name == gv.Group {
			list.Groups[n-1].Versions = append(list.Groups[n-1].Versions, version)
			continue
		}
		list.Groups = append(list.Groups, metav1.APIGroup{
			Name: gv.Group, Versions: []metav1.GroupVersionForDiscovery{version}, PreferredVersion: version,
		})
	}
	return list
}

func (s *apiServer) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

func (s *apiServer) client(t testing.TB) *Client {
	return connect(t, &rest.Config{Host: "server.test", Transport: s}, Options{})
}

func kindOfGroup(gv, resource, singular, kind string, namespaced, protobuf bool) Kind {
	parsed, _ := schema.ParseGroupVersion(gv)
	return Kind{
		GVR: parsed.WithResource(resource), GVK: parsed.WithKind(kind),
		Singular: singular, Namespaced: namespaced, Protobuf: protobuf, Watchable: true,
	}
}

var (
	deploymentKind = kindOfGroup("apps/v1", "deployments", "deployment", "Deployment", true, true)
	widget2Kind    = kindOfGroup("example.com/v2", "widgets", "widget", "Widget", true, false)
	gearKind       = kindOfGroup("example.com/v1", "gears", "gear", "Gear", false, false)
	metricsKind    = kindOfGroup("metrics.k8s.io/v1beta1", "pods", "podmetrics", "PodMetrics", true, false)
)

func TestAKindIsFoundByEveryNameThatKubectlKnows(t *testing.T) {
	client := newAPIServer().client(t)
	for want, args := range map[Kind][]string{
		podKind:        {"pods", "pod", "po", "PO", "Pod", "PODS", "pods.v1.", "Pod.v1."},
		nodeKind:       {"nodes", "no", "Node"},
		deploymentKind: {"deployments", "deploy", "deployment", "Deployment", "deployments.apps", "deploy.apps", "deployments.v1.apps", "deploy.v1.apps", "Deployment.apps", "Deployment.v1.apps"},
		widget2Kind:    {"widgets", "wd", "widgets.example.com", "widgets.v2.example.com", "Widget.example.com", "wd.example"},
		gearKind:       {"gears", "gear", "Gear", "gears.example.com"},
		metricsKind:    {"pods.metrics.k8s.io", "PodMetrics", "PodMetrics.metrics.k8s.io"},
		widgetKind:     {"widgets.v1.example.com", "wd.v1.example.com", "Widget.v1.example.com"},
		kindOfGroup("v1", "events", "event", "Event", true, true):               {"events", "ev"},
		kindOfGroup("events.k8s.io/v1", "events", "event", "Event", true, true): {"events.events.k8s.io", "ev.events.k8s.io", "events.v1.events.k8s.io"},
	} {
		for _, arg := range args {
			got, err := client.Resolve(t.Context(), arg)
			if diff := cmp.Diff(got, want); err != nil || diff != "" {
				t.Errorf("Resolve(%q): %v (-got +want):\n%s", arg, err, diff)
			}
		}
	}
}

func TestAKindThatCanOnlyBeCreatedIsNotWatchable(t *testing.T) {
	kind, err := newAPIServer().client(t).Resolve(t.Context(), "tokenreviews")
	if err != nil || kind.Watchable {
		t.Errorf("tokenreviews: %+v, %v; want one that is not watchable", kind, err)
	}
}

func TestAnUnknownKindIsSaidInTheWordsOfKubectl(t *testing.T) {
	client := newAPIServer().client(t)
	for arg, want := range map[string]string{
		"frobs":             `the server doesn't have a resource type "frobs"`,
		"frobs.example.com": `the server doesn't have a resource type "frobs" in group "example.com"`,
		"pods/log":          `the server doesn't have a resource type "pods/log"`,
		"podlist":           `the server doesn't have a resource type "podlist"`,
		"PodList":           `the server doesn't have a resource type "PodList"`,
		"":                  `the server doesn't have a resource type ""`,
		".":                 `the server doesn't have a resource type ""`,
		"...":               `the server doesn't have a resource type "" in group ".."`,
	} {
		kind, err := client.Resolve(t.Context(), arg)
		if missing, ok := errors.AsType[*NoKindError](err); !ok || missing.Error() != want {
			t.Errorf("Resolve(%q) = %+v, %v; want %q", arg, kind, err, want)
		}
	}
}

func TestDiscoveryIsAskedOnceForAll(t *testing.T) {
	server := newAPIServer()
	client := server.client(t)
	var all sync.WaitGroup
	for _, arg := range []string{"pods", "deploy", "widgets", "nodes"} {
		all.Go(func() {
			if _, err := client.Resolve(t.Context(), arg); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if server.asked != 1 {
		t.Errorf("discovery was asked %d times; want once", server.asked)
	}
}

func TestANewKindIsFoundByAskingAgainAtABoundedRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newAPIServer()
		client := server.client(t)
		resolve := func(wantAsked int, found bool) {
			t.Helper()
			_, err := client.Resolve(t.Context(), "cogs")
			if (err == nil) != found || server.asked != wantAsked {
				t.Errorf("found: %v after %d discoveries; want %v after %d", err == nil, server.asked, found, wantAsked)
			}
		}
		resolve(1, false)
		for range 10 {
			resolve(1, false)
		}
		server.set(func() {
			server.lists["example.com/v2"] = append(server.lists["example.com/v2"], resource("cogs", "cog", "Cog", true))
		})
		resolve(1, false) // not yet
		time.Sleep(5 * time.Second)
		resolve(2, true)
		time.Sleep(time.Hour)
		resolve(2, true) // what is known is not asked again
	})
}

func TestAGroupThatDoesNotAnswerStandsInNobodysWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newAPIServer()
		server.broken["/apis/metrics.k8s.io/v1beta1"] = http.StatusServiceUnavailable
		client := server.client(t)
		if kind, err := client.Resolve(t.Context(), "pods"); err != nil || kind != podKind {
			t.Errorf("pods: %+v, %v", kind, err)
		}
		_, err := client.Resolve(t.Context(), "podmetrics")
		missing, ok := errors.AsType[*NoKindError](err)
		if !ok || !errors.Is(missing, &discovery.ErrGroupDiscoveryFailed{}) || !strings.Contains(err.Error(), "metrics.k8s.io/v1beta1") {
			t.Errorf("podmetrics: %v; want the group named that does not answer", err)
		}
		server.set(func() { delete(server.broken, "/apis/metrics.k8s.io/v1beta1") })
		time.Sleep(5 * time.Second)
		if kind, err := client.Resolve(t.Context(), "podmetrics"); err != nil || kind != metricsKind {
			t.Errorf("podmetrics, when the group answers again: %+v, %v", kind, err)
		}
		// It goes away again; what was known of it stays.
		server.set(func() { server.broken["/apis/metrics.k8s.io/v1beta1"] = http.StatusServiceUnavailable })
		time.Sleep(5 * time.Second)
		if _, err := client.Resolve(t.Context(), "frobs"); err == nil {
			t.Error("frobs was found")
		}
		if kind, err := client.Resolve(t.Context(), "podmetrics"); err != nil || kind != metricsKind {
			t.Errorf("podmetrics, when the group is silent again: %+v, %v", kind, err)
		}
	})
}

func TestFailedDiscoveryIsAnErrorOfWatchAndIsNotKept(t *testing.T) {
	server := newAPIServer()
	client := server.client(t)
	for code, want := range map[int]watch.ErrorKind{
		http.StatusForbidden: watch.KindForbidden, http.StatusUnauthorized: watch.KindUnauthorized,
		http.StatusInternalServerError: watch.KindUnavailable,
	} {
		server.set(func() { server.broken["/apis"] = code })
		_, err := client.Resolve(t.Context(), "pods")
		if e := watchError(t, err); e.Kind != want || !strings.HasPrefix(e.Message, "discover what the server serves: ") {
			t.Errorf("%d: %s, %q; want %s", code, e.Kind, e.Message, want)
		}
	}
	server.set(func() { clear(server.broken) })
	if kind, err := client.Resolve(t.Context(), "pods"); err != nil || kind != podKind {
		t.Errorf("pods, when discovery works again: %+v, %v", kind, err)
	}
}

func TestSilentDiscoveryIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := connect(t, &rest.Config{Host: "server.test", Transport: transport(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})}, Options{ResponseTimeout: 10 * time.Second})
		start := time.Now()
		_, err := client.Resolve(t.Context(), "pods")
		if e := watchError(t, err); e.Message != "discover what the server serves: no answer within 10s" || time.Since(start) != 10*time.Second {
			t.Errorf("after %s: %v", time.Since(start), err)
		}
		stop := errors.New("stop")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, stop)
		defer cancel()
		if _, err := client.Resolve(ctx, "pods"); err != stop {
			t.Errorf("with a shorter context: %v; want its cause, unwrapped", err)
		}
	})
}

func TestWaitingForSomebodyElsesDiscoveryEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := connect(t, &rest.Config{Host: "server.test", Transport: transport(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})}, Options{})
		go client.Resolve(t.Context(), "pods")
		synctest.Wait()
		stop := errors.New("stop")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, stop)
		defer cancel()
		start := time.Now()
		if _, err := client.Resolve(ctx, "pods"); err != stop || time.Since(start) != time.Second {
			t.Errorf("after %s: %v; want the cause of ctx after 1s", time.Since(start), err)
		}
	})
}

func TestTheKindOfAGoTypeIsWhatTheServerServes(t *testing.T) {
	client := newAPIServer().client(t)
	for name, f := range map[string]func(context.Context, *Client) (Kind, error){
		"a type": KindOf[appsv1.Deployment], "a pointer to it": KindOf[*appsv1.Deployment],
	} {
		if kind, err := f(t.Context(), client); err != nil || kind != deploymentKind {
			t.Errorf("%s: %+v, %v; want deployments.apps", name, kind, err)
		}
	}
	if _, err := KindOf[string](t.Context(), client); err == nil || !strings.Contains(err.Error(), "string is not the Go type") {
		t.Errorf("a string: %v", err)
	}
	if _, err := KindOf[metav1.PartialObjectMetadata](t.Context(), client); err == nil {
		t.Error("PartialObjectMetadata has a kind")
	}
	_, err := KindOf[corev1.Secret](t.Context(), client)
	if missing, ok := errors.AsType[*NoKindError](err); !ok || missing.Error() != `the server doesn't have a resource type "Secret" in version "v1"` {
		t.Errorf("a kind that the server lacks: %v", err)
	}
}
