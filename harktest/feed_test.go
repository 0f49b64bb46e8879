package harktest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	clientfeatures "k8s.io/client-go/features"
	clientfeaturestesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"

	"github.com/gocampus/hark/harktest"
)

var podsResource = corev1.SchemeGroupVersion.WithResource("pods")

// podFeed is a feed of some pods; the n-th change is of the pod n % objects.
func podFeed(objects int) harktest.Feed {
	encode := func(dst []byte, p *corev1.Pod, protobuf bool) []byte {
		p.APIVersion, p.Kind = "v1", "Pod"
		marshal := p.Marshal
		if !protobuf {
			marshal = func() ([]byte, error) { return json.Marshal(p) }
		}
		raw, err := marshal()
		if err != nil {
			panic(err)
		}
		return append(dst, raw...)
	}
	made := func(n, version int) *corev1.Pod {
		p := pod("default", fmt.Sprintf("p-%d", n))
		p.ResourceVersion = strconv.Itoa(version)
		return p
	}
	return harktest.Feed{
		Resource: podsResource, Version: 1000, Objects: objects,
		Object: func(dst []byte, n int, protobuf bool) []byte { return encode(dst, made(n, 1000-objects+n), protobuf) },
		Change: func(dst []byte, n int, protobuf bool) []byte {
			return encode(dst, made(n%objects, 1001+n), protobuf)
		},
	}
}

func serve(t *testing.T, s *harktest.Server, f harktest.Feed) *harktest.Feeding {
	t.Helper()
	feeding, err := s.Serve(f)
	if err != nil {
		t.Fatal(err)
	}
	return feeding
}

func TestAnInformerFollowsAFeed(t *testing.T) {
	for _, streaming := range []bool{true, false} {
		clientfeaturestesting.SetFeatureDuringTest(t, clientfeatures.WatchListClient, streaming)
		t.Run(fmt.Sprintf("streaming=%v", streaming), func(t *testing.T) {
			bubbled(t, func(t *testing.T, contentType string) {
				s := harktest.StartWith(t, harktest.Options{InMemory: true})
				feeding := serve(t, s, podFeed(700)) // more than a page
				followFeed(t, feeding, clientset(t, s, contentType))
				checkStreamed(t, s, streaming)
			})
		})
	}
}

func followFeed(t *testing.T, feeding *harktest.Feeding, client kubernetes.Interface) {
	t.Helper()
	factory := informers.NewSharedInformerFactory(client, 0)
	lister := factory.Core().V1().Pods().Lister().Pods("default")
	stop := make(chan struct{})
	defer factory.Shutdown()
	defer close(stop)
	factory.Start(stop)
	factory.WaitForCacheSync(stop)
	for _, step := range []struct{ released, pod, version int }{
		{0, 0, 300}, {0, 699, 999}, {1, 0, 1001}, {1, 1, 301}, {1401, 0, 2401}, {1401, 699, 2400}, {5, 0, 2401},
	} {
		feeding.Release(step.released)
		synctest.Wait()
		got, err := lister.Get(fmt.Sprintf("p-%d", step.pod))
		if err != nil || got.ResourceVersion != strconv.Itoa(step.version) {
			t.Errorf("after %d changes pod %d = %v, %v; want version %d", step.released, step.pod, got, err, step.version)
		}
	}
}

// watchingPods opens a watch of all pods.
func watchingPods(t *testing.T, s *harktest.Server, contentType string, o metav1.ListOptions) watch.Interface {
	t.Helper()
	w, err := clientset(t, s, contentType).CoreV1().Pods("").Watch(t.Context(), o)
	if err != nil {
		t.Fatalf("Watch(%+v): %v", o, err)
	}
	t.Cleanup(w.Stop)
	return w
}

func TestAWatchOfAFeedGoesOnWhereItIsAskedTo(t *testing.T) {
	bubbled(t, func(t *testing.T, contentType string) {
		s := harktest.StartWith(t, harktest.Options{InMemory: true})
		serve(t, s, podFeed(3)).Release(4)
		w := watchingPods(t, s, contentType, metav1.ListOptions{ResourceVersion: "1002"})
		expect(t, w, "MODIFIED p-2@1003", "MODIFIED p-0@1004")
		w = watchingPods(t, s, contentType, metav1.ListOptions{ResourceVersion: "999"})
		expect(t, w, "ERROR 410 Expired", "end")
	})
}

func TestPagesOfAFeedAreItsFirstState(t *testing.T) {
	eachEncoding(t, func(t *testing.T, s *harktest.Server, c *kubernetes.Clientset) {
		serve(t, s, podFeed(5)).Release(3)
		var names []string
		options := metav1.ListOptions{Limit: 2}
		for {
			list, err := c.CoreV1().Pods("").List(t.Context(), options)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range list.Items {
				names = append(names, p.Name+"@"+p.ResourceVersion)
			}
			if options.Continue = list.Continue; options.Continue == "" {
				break
			}
		}
		diff(t, "pages", names, []string{"p-0@995", "p-1@996", "p-2@997", "p-3@998", "p-4@999"})
	})
}

func TestAFeedRefusesWhatItDoesNotDo(t *testing.T) {
	s := harktest.Start(t)
	serve(t, s, podFeed(5))
	for path, want := range map[string]int{
		"/api/v1/namespaces/default/pods/p-1": http.StatusMethodNotAllowed,
		"/api/v1/namespaces/default/pods":     http.StatusBadRequest,
		"/api/v1/pods?labelSelector=a%3Db":    http.StatusBadRequest,
		"/api/v1/pods?continue=6":             http.StatusBadRequest,
		"/api/v1/pods?continue=x":             http.StatusBadRequest,
	} {
		if got, body := request(t, s, http.MethodGet, path, ""); got != want {
			t.Errorf("GET %s: %d %s; want %d", path, got, body, want)
		}
	}
	const table = "application/json;as=Table;g=meta.k8s.io;v=v1"
	for _, path := range []string{"/api/v1/pods", "/api/v1/pods?watch=1"} {
		if got, body := request(t, s, http.MethodGet, path, "", "Accept", table); got != http.StatusNotAcceptable {
			t.Errorf("GET %s as a table: %d %s; want 406", path, got, body)
		}
	}
}

func TestANewFeedEndsTheWatchesOfTheOldOne(t *testing.T) {
	bubbled(t, func(t *testing.T, contentType string) {
		s := harktest.StartWith(t, harktest.Options{InMemory: true})
		serve(t, s, podFeed(1))
		w := watchingPods(t, s, contentType, metav1.ListOptions{})
		expect(t, w, "ADDED p-0@999")
		serve(t, s, podFeed(2))
		if event, open := <-w.ResultChan(); open {
			t.Errorf("the old watch goes on with %v", event)
		}
		expect(t, watchingPods(t, s, contentType, metav1.ListOptions{}), "ADDED p-0@998", "ADDED p-1@999")
	})
}

func TestAFeedMustBeOfAKindThatIsThere(t *testing.T) {
	s := harktest.Start(t)
	f := podFeed(1)
	f.Resource.Resource = "cods"
	if _, err := s.Serve(f); err == nil {
		t.Error("a feed of cods is served")
	}
	if _, err := s.Serve(harktest.Feed{Resource: podsResource}); err == nil {
		t.Error("a feed without objects is served")
	}
	if err := s.Create(context.Background(), pod("default", "as-before")); err != nil {
		t.Errorf("Create after refused feeds: %v", err)
	}
}
