package kube

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/gocampus/hark/watch"
	"github.com/gocampus/hark/wire"
)

func TestAListReadsItemsAndMetadataInBothEncodings(t *testing.T) {
	both(t, func(t *testing.T, mediaType string) {
		list := &corev1.PodList{
			ListMeta: metav1.ListMeta{ResourceVersion: "77", Continue: "next"},
			Items:    []corev1.Pod{*pod("a", "1"), *pod("b", "2")},
		}
		client := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", mediaType)
			w.Write(encode(t, mediaType, list))
		})
		got, meta := items(t, client.Source(podKind, SourceOptions{}), watch.ListOptions{})
		if len(got) != 2 || got[1].Key().String() != "default/b" || got[1].ResourceVersion() != "2" {
			t.Errorf("the items are %v; want a@1 and b@2", got)
		}
		if want := (wire.ListMeta{ResourceVersion: "77", Continue: "next"}); meta != want {
			t.Errorf("Meta() = %+v; want %+v", meta, want)
		}
	})
}

func TestManagedFieldsAreCutUnlessAskedFor(t *testing.T) {
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", wire.ContentTypeProtobuf)
		w.Write(encode(t, wire.ContentTypeProtobuf, &corev1.PodList{Items: []corev1.Pod{*pod("a", "1")}}))
	})
	for _, keep := range []bool{false, true} {
		got, _ := items(t, client.Source(podKind, SourceOptions{KeepManagedFields: keep}), watch.ListOptions{})
		decoded, err := As[corev1.Pod](got[0])
		if err != nil {
			t.Fatal(err)
		}
		if has := len(decoded.ManagedFields) > 0; has != keep {
			t.Errorf("KeepManagedFields %v: managedFields are there: %v", keep, has)
		}
	}
}

func TestRequestsAreThoseOfTheAPIConcepts(t *testing.T) {
	list := func(o watch.ListOptions) func(*testing.T, *Source) {
		return func(t *testing.T, s *Source) { s.List(t.Context(), o) }
	}
	watching := func(o watch.WatchOptions) func(*testing.T, *Source) {
		return func(t *testing.T, s *Source) { s.Watch(t.Context(), o) }
	}
	everything := SourceOptions{Namespace: "shop", LabelSelector: "app in (a,b)", FieldSelector: "metadata.name=x"}
	for _, tc := range []struct {
		name    string
		prefix  string
		kind    Kind
		options SourceOptions
		send    func(*testing.T, *Source)
		path    string
		query   string // as it is read
	}{
		{"a consistent list", "", podKind, SourceOptions{}, list(watch.ListOptions{}), "/api/v1/pods", ""},
		{"any state", "", podKind, SourceOptions{}, list(watch.ListOptions{ResourceVersion: "0"}),
			"/api/v1/pods", "resourceVersion=0&resourceVersionMatch=NotOlderThan"},
		{"a state not older", "", podKind, SourceOptions{}, list(watch.ListOptions{ResourceVersion: "9"}),
			"/api/v1/pods", "resourceVersion=9&resourceVersionMatch=NotOlderThan"},
		{"a first page", "", podKind, SourceOptions{}, list(watch.ListOptions{Limit: 500}), "/api/v1/pods", "limit=500"},
		{"a first page not older", "", podKind, SourceOptions{}, list(watch.ListOptions{Limit: 500, ResourceVersion: "9"}),
			"/api/v1/pods", "limit=500&resourceVersion=9&resourceVersionMatch=NotOlderThan"},
		{"a further page, whose token has the version", "", podKind, SourceOptions{},
			list(watch.ListOptions{Limit: 500, Continue: "tok&en", ResourceVersion: "9"}),
			"/api/v1/pods", "continue=tok&en&limit=500"},
		{"selectors and a namespace", "", podKind, everything, list(watch.ListOptions{}),
			"/api/v1/namespaces/shop/pods", "fieldSelector=metadata.name=x&labelSelector=app in (a,b)"},
		{"a named group", "", widgetKind, everything, list(watch.ListOptions{}),
			"/apis/example.com/v1/namespaces/shop/widgets", "fieldSelector=metadata.name=x&labelSelector=app in (a,b)"},
		{"a cluster-scoped kind has no namespace", "", nodeKind, SourceOptions{Namespace: "shop"}, list(watch.ListOptions{}),
			"/api/v1/nodes", ""},
		{"a server behind a path", "/clusters/c1/", podKind, SourceOptions{}, list(watch.ListOptions{}),
			"/clusters/c1/api/v1/pods", ""},
		{"a watch from a version", "", podKind, SourceOptions{}, watching(watch.WatchOptions{ResourceVersion: "9", Timeout: 5 * time.Minute}),
			"/api/v1/pods", "allowWatchBookmarks=true&resourceVersion=9&timeoutSeconds=300&watch=1"},
		{"a streaming list", "", podKind, everything, watching(watch.WatchOptions{SendInitialEvents: true}),
			"/api/v1/namespaces/shop/pods", "allowWatchBookmarks=true&fieldSelector=metadata.name=x&labelSelector=app in (a,b)" +
				"&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&watch=1"},
		{"a streaming list not older", "", podKind, SourceOptions{}, watching(watch.WatchOptions{SendInitialEvents: true, ResourceVersion: "9"}),
			"/api/v1/pods", "allowWatchBookmarks=true&resourceVersion=9&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&watch=1"},
		{"a part of a second is a second", "", podKind, SourceOptions{}, watching(watch.WatchOptions{Timeout: time.Millisecond}),
			"/api/v1/pods", "allowWatchBookmarks=true&timeoutSeconds=1&watch=1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got *http.Request
			client := connect(t, &rest.Config{
				Host: "http://server.test" + tc.prefix,
				Transport: transport(func(r *http.Request) (*http.Response, error) {
					got = r
					return answer(http.StatusNotFound, "text/plain", ""), nil
				}),
			}, Options{})
			tc.send(t, client.Source(tc.kind, tc.options))
			query, err := url.QueryUnescape(got.URL.RawQuery)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{got.Method, got.URL.Path, query}, []string{"GET", tc.path, tc.query}); diff != "" {
				t.Errorf("the request is (-got +want):\n%s", diff)
			}
		})
	}
}

func TestANamespaceCannotLeaveItsPlaceInThePath(t *testing.T) {
	client := serve(t, func(w http.ResponseWriter, r *http.Request) { t.Errorf("%s was requested", r.URL) })
	for _, namespace := range []string{"..", ".", "a/b", "a%2fb"} {
		err := listError(t.Context(), client.Source(podKind, SourceOptions{Namespace: namespace}))
		if e := watchError(t, err); e.Kind != watch.KindInvalid {
			t.Errorf("namespace %q: %s; want invalid", namespace, e.Kind)
		}
	}
}

func TestTheAcceptHeaderFollowsKindAndOptions(t *testing.T) {
	for _, tc := range []struct {
		kind     Kind
		encoding wire.Encoding
		want     string
	}{
		{podKind, 0, "application/vnd.kubernetes.protobuf,application/json"},
		{podKind, wire.JSON, "application/json"},
		{podKind, wire.Protobuf, "application/vnd.kubernetes.protobuf"},
		{widgetKind, 0, "application/json"},
	} {
		var got string
		client := connect(t, &rest.Config{Host: "server.test", Transport: transport(func(r *http.Request) (*http.Response, error) {
			got = r.Header.Get("Accept")
			return answer(http.StatusNotFound, "text/plain", ""), nil
		})}, Options{})
		client.Source(tc.kind, SourceOptions{Encoding: tc.encoding}).List(t.Context(), watch.ListOptions{})
		if got != tc.want {
			t.Errorf("%s in %s: Accept is %q; want %q", tc.kind, tc.encoding, got, tc.want)
		}
	}
}

func TestRefusedProtobufFallsBackToJSONForGood(t *testing.T) {
	for _, code := range []int{http.StatusNotAcceptable, http.StatusUnsupportedMediaType} {
		var accepts []string
		client := serve(t, func(w http.ResponseWriter, r *http.Request) {
			accepts = append(accepts, r.Header.Get("Accept"))
			if strings.Contains(r.Header.Get("Accept"), "protobuf") {
				w.WriteHeader(code)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			w.Write(encode(t, wire.ContentTypeJSON, &corev1.PodList{Items: []corev1.Pod{*pod("a", "1")}}))
		})
		source := client.Source(podKind, SourceOptions{})
		for range 2 {
			if got, _ := items(t, source, watch.ListOptions{}); len(got) != 1 {
				t.Fatalf("%d: %d items; want 1", code, len(got))
			}
		}
		if diff := cmp.Diff(accepts, []string{acceptBoth, acceptJSON, acceptJSON}); diff != "" {
			t.Errorf("%d: the Accept headers are (-got +want):\n%s", code, diff)
		}
	}
}

func TestProtobufAloneDoesNotFallBack(t *testing.T) {
	requests := 0
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		requests++
		w.WriteHeader(http.StatusNotAcceptable)
	})
	err := listError(t.Context(), client.Source(podKind, SourceOptions{Encoding: wire.Protobuf}))
	if e := watchError(t, err); e.Kind != watch.KindInvalid || requests != 1 {
		t.Errorf("%d requests, then %s; want one and invalid", requests, e.Kind)
	}
}

func TestACompressedListIsRead(t *testing.T) {
	both(t, func(t *testing.T, mediaType string) {
		client := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Accept-Encoding") != "gzip" {
				t.Errorf("Accept-Encoding is %q; want gzip", r.Header.Get("Accept-Encoding"))
			}
			w.Header().Set("Content-Type", mediaType)
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			z.Write(encode(t, mediaType, &corev1.PodList{Items: []corev1.Pod{*pod("a", "1")}}))
			z.Close()
		})
		if got, _ := items(t, client.Source(podKind, SourceOptions{}), watch.ListOptions{}); len(got) != 1 {
			t.Errorf("%d items; want 1", len(got))
		}
	})
}

func TestACompressedListThatIsCutIsUnavailable(t *testing.T) {
	var whole bytes.Buffer
	z := gzip.NewWriter(&whole)
	z.Write(encode(t, wire.ContentTypeJSON, &corev1.PodList{Items: []corev1.Pod{*pod("a", "1")}}))
	z.Close()
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", wire.ContentTypeJSON)
		w.Header().Set("Content-Encoding", "gzip")
		w.Write(whole.Bytes()[:whole.Len()/2])
	})
	err := listError(t.Context(), client.Source(podKind, SourceOptions{}))
	if e := watchError(t, err); e.Kind != watch.KindUnavailable || !strings.Contains(e.Message, "cut") {
		t.Errorf("the error is %s, %q; want unavailable, and that it was cut", e.Kind, e.Message)
	}
}

func TestTheConnectionIsUsedForTheNextPage(t *testing.T) {
	both(t, func(t *testing.T, mediaType string) {
		peers := map[string]bool{}
		client := serve(t, func(w http.ResponseWriter, r *http.Request) {
			peers[r.RemoteAddr] = true
			w.Header().Set("Content-Type", mediaType)
			w.(http.Flusher).Flush() // chunked, so that the end of the body is a read of its own
			w.Write(encode(t, mediaType, &corev1.PodList{Items: []corev1.Pod{*pod("a", "1")}}))
		})
		source := client.Source(podKind, SourceOptions{})
		for range 3 {
			items(t, source, watch.ListOptions{})
		}
		if len(peers) != 1 {
			t.Errorf("%d connections were used; want 1", len(peers))
		}
	})
}
