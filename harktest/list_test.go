package harktest_test

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/gocampus/hark/harktest"
)

// changing is a server with the history of three config maps: versions v[0], a
// created; v[1], b created; v[2], a changed to 2; v[3], c created; v[4], b deleted.
func changing(t *testing.T) (s *harktest.Server, v []uint64) {
	t.Helper()
	s = harktest.StartWith(t, harktest.Options{StartVersion: 1000, InMemory: true})
	note := func() { v = append(v, s.Version()) }
	a := configMap("default", "a", map[string]string{"n": "1"})
	create(t, s, a)
	note()
	create(t, s, configMap("default", "b", nil))
	note()
	if err := s.Change(ctx, a, func() { a.Data["n"] = "2" }); err != nil {
		t.Fatal(err)
	}
	note()
	create(t, s, configMap("default", "c", nil))
	note()
	if err := s.Delete(ctx, configMap("default", "b", nil)); err != nil {
		t.Fatal(err)
	}
	note()
	return s, v
}

// mapsLine says what a list holds: "a=2 c".
func mapsLine(list *corev1.ConfigMapList) string {
	var parts []string
	for _, m := range list.Items {
		part := m.Name
		if n := m.Data["n"]; n != "" {
			part += "=" + n
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, " ")
}

func TestListTakesVersionsAsTheAPIDocumentsThem(t *testing.T) {
	for name, contentType := range encodings {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { listAtVersions(t, contentType) }) // client-go waits and tries again after 504
		})
	}
}

func listAtVersions(t *testing.T, contentType string) {
	s, v := changing(t)
	client := clientset(t, s, contentType)
	exact, notOlder := metav1.ResourceVersionMatchExact, metav1.ResourceVersionMatchNotOlderThan
	at := func(i int) string { return strconv.FormatUint(v[i], 10) }
	newest, future := at(4), strconv.FormatUint(v[4]+10, 10)
	for _, tc := range []struct {
		version string
		match   metav1.ResourceVersionMatch
		limit   int64
		want    string // "VERSION: items", or a reason
	}{
		{"", "", 0, newest + ": a=2 c"},
		{"0", "", 0, newest + ": a=2 c"},
		{at(1), "", 0, newest + ": a=2 c"},
		{at(1), "", 5, at(1) + ": a=1 b"},
		{"0", "", 5, newest + ": a=2 c"},
		{"0", "", 1, newest + ": a=2 c"}, // from the cache, whole
		{"", exact, 0, "Invalid"},
		{"0", exact, 0, "Invalid"},
		{at(1), exact, 0, at(1) + ": a=1 b"},
		{at(2), exact, 5, at(2) + ": a=2 b"},
		{"", notOlder, 0, "Invalid"},
		{"0", notOlder, 0, newest + ": a=2 c"},
		{at(1), notOlder, 0, newest + ": a=2 c"},
		{at(1), notOlder, 5, newest + ": a=2 c"},
		{at(1), "Other", 0, "Invalid"},
		{future, "", 0, "Timeout"},
		{future, notOlder, 0, "Timeout"},
		{future, exact, 0, "Timeout"},
		{"x", "", 0, "BadRequest"},
	} {
		list, err := client.CoreV1().ConfigMaps("default").List(ctx, metav1.ListOptions{ResourceVersion: tc.version, ResourceVersionMatch: tc.match, Limit: tc.limit})
		got := string(apierrors.ReasonForError(err))
		if err == nil {
			got = list.ResourceVersion + ": " + mapsLine(list)
		}
		if got != tc.want {
			t.Errorf("list at %q, match %q, limit %d = %s (%v); want %s", tc.version, tc.match, tc.limit, got, err, tc.want)
		}
	}
}

func TestTooLargeVersionHasItsCause(t *testing.T) {
	s := harktest.Start(t)
	code, body := request(t, s, http.MethodGet, "/api/v1/pods?resourceVersion=100", "")
	got := status(t, body)
	if want := fmt.Sprintf("Timeout: Too large resource version: 100, current: %d", s.Version()); code != http.StatusGatewayTimeout || got.Message != want {
		t.Errorf("answer = %d %q; want 504 %q", code, got.Message, want)
	}
	diff(t, "causes", got.Details.Causes, []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge, Message: "Too large resource version"}})
	if got.Details.RetryAfterSeconds != 1 {
		t.Errorf("retryAfterSeconds = %d; want 1", got.Details.RetryAfterSeconds)
	}
}

func TestPagesShowOneVersion(t *testing.T) {
	for name, contentType := range encodings {
		t.Run(name, func(t *testing.T) {
			s := harktest.Start(t)
			for i := range 7 {
				create(t, s, configMap("default", fmt.Sprint(i), map[string]string{"n": "1"}))
			}
			create(t, s, configMap("kube-system", "other", nil))
			maps := clientset(t, s, contentType).CoreV1().ConfigMaps("default")
			first, err := maps.List(ctx, metav1.ListOptions{Limit: 3})
			if err != nil || mapsLine(first) != "0=1 1=1 2=1" || first.RemainingItemCount == nil || *first.RemainingItemCount != 4 {
				t.Fatalf("first page = %s, %+v, %v", mapsLine(first), first.ListMeta, err)
			}
			if err := s.Delete(ctx, configMap("default", "4", nil)); err != nil {
				t.Fatal(err)
			}
			create(t, s, configMap("default", "55", nil))
			second, err := maps.List(ctx, metav1.ListOptions{Limit: 3, Continue: first.Continue})
			if err != nil || mapsLine(second) != "3=1 4=1 5=1" || second.ResourceVersion != first.ResourceVersion || *second.RemainingItemCount != 1 {
				t.Fatalf("second page = %s, %+v, %v; want the state of version %s", mapsLine(second), second.ListMeta, err, first.ResourceVersion)
			}
			last, err := maps.List(ctx, metav1.ListOptions{Limit: 3, Continue: second.Continue})
			if err != nil || mapsLine(last) != "6=1" || last.Continue != "" || last.RemainingItemCount != nil {
				t.Fatalf("last page = %s, %+v, %v", mapsLine(last), last.ListMeta, err)
			}
			s.Compact()
			checkExpiredPage(t, maps.List, second.Continue)
		})
	}
}

type listMaps = func(context.Context, metav1.ListOptions) (*corev1.ConfigMapList, error)

// checkExpiredPage continues a list whose version was compacted.
func checkExpiredPage(t *testing.T, list listMaps, token string) {
	t.Helper()
	_, err := list(ctx, metav1.ListOptions{Limit: 3, Continue: token})
	if !apierrors.IsResourceExpired(err) {
		t.Fatalf("page of a compacted version = %v; want Expired", err)
	}
	fresh := err.(*apierrors.StatusError).ErrStatus.Continue
	rest, err := list(ctx, metav1.ListOptions{Limit: 10, Continue: fresh})
	if err != nil || mapsLine(rest) != "55 6=1" {
		t.Errorf("inconsistent rest = %v, %v; want 55 6=1 of the newest version", rest, err)
	}
}

func TestBadContinueTokensAreRefused(t *testing.T) {
	s := harktest.Start(t)
	maps := clientset(t, s, "application/json").CoreV1().ConfigMaps("default")
	for i := range 3 {
		create(t, s, configMap("default", fmt.Sprint(i), nil))
	}
	page, err := maps.List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []metav1.ListOptions{
		{Continue: "garbage!"}, {Continue: "e30"}, {Continue: page.Continue, ResourceVersion: "5"},
	} {
		if _, err := maps.List(ctx, o); !apierrors.IsBadRequest(err) {
			t.Errorf("list with %+v = %v; want BadRequest", o, err)
		}
	}
	if _, err := maps.List(ctx, metav1.ListOptions{Continue: page.Continue, ResourceVersion: "0"}); err != nil {
		t.Errorf("continue with version 0 = %v; want it to be accepted", err)
	}
}

func TestSelectorsSelect(t *testing.T) {
	eachEncoding(t, func(t *testing.T, s *harktest.Server, c *kubernetes.Clientset) {
		for i, name := range []string{"a", "b", "c"} {
			p := pod("default", name)
			p.Labels = map[string]string{"n": fmt.Sprint(i), "app": "x"}
			p.Spec.NodeName = map[bool]string{true: "node-1"}[i == 1]
			p.Status.Phase = []corev1.PodPhase{corev1.PodRunning, corev1.PodPending, corev1.PodRunning}[i]
			if err := s.Preload(p, pod("kube-system", name)); err != nil {
				t.Fatal(err)
			}
		}
		for _, tc := range []struct{ namespace, labels, fields, want string }{
			{"", "", "", "default/a default/b default/c kube-system/a kube-system/b kube-system/c"},
			{"default", "", "", "default/a default/b default/c"},
			{"", "app=x,n!=1", "", "default/a default/c"},
			{"", "n in (1,2)", "", "default/b default/c"},
			{"", "!app", "", "kube-system/a kube-system/b kube-system/c"},
			{"", "", "metadata.name=b", "default/b kube-system/b"},
			{"", "", "metadata.namespace=kube-system,metadata.name!=a", "kube-system/b kube-system/c"},
			{"", "", "spec.nodeName=node-1", "default/b"},
			{"default", "", "status.phase!=Running", "default/b"},
			{"", "app", "status.phase=Running", "default/a default/c"},
			{"", "", "spec.nodeName=node-1,metadata.name=a", ""},
		} {
			list, err := c.CoreV1().Pods(tc.namespace).List(ctx, metav1.ListOptions{LabelSelector: tc.labels, FieldSelector: tc.fields})
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, p := range list.Items {
				names = append(names, p.Namespace+"/"+p.Name)
			}
			if got := strings.Join(names, " "); got != tc.want {
				t.Errorf("pods of %q with labels %q, fields %q = %s; want %s", tc.namespace, tc.labels, tc.fields, got, tc.want)
			}
		}
		_, err := c.CoreV1().Pods("").List(ctx, metav1.ListOptions{FieldSelector: "spec.nothing=1"})
		if !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), "field label not supported: spec.nothing") {
			t.Errorf("unknown field = %v; want BadRequest that names it", err)
		}
	})
}

func TestListsAreCompressedWhenTheyAreLarge(t *testing.T) {
	for _, o := range []harktest.Options{{}, {NoCompression: true}} {
		s := harktest.StartWith(t, o)
		for i := range 3 {
			create(t, s, configMap("default", fmt.Sprint(i), map[string]string{"x": strings.Repeat("y", 60_000)}))
		}
		for path, want := range map[string]bool{"/api/v1/configmaps": !o.NoCompression, "/api/v1/configmaps?limit=1": false} {
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL()+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Accept-Encoding", "gzip")
			response, err := httpClient(t, s).Do(r)
			if err != nil {
				t.Fatal(err)
			}
			response.Body.Close()
			if got := response.Header.Get("Content-Encoding") == "gzip"; got != want {
				t.Errorf("%s with %+v compressed: %v; want %v", path, o, got, want)
			}
		}
	}
}

func TestMetadataAloneAndTablesAreAnswered(t *testing.T) {
	s := harktest.Start(t)
	create(t, s, pod("default", "a"))
	for _, tc := range []struct{ path, accept, want string }{
		{"/api/v1/pods", "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1", `"kind":"PartialObjectMetadataList"`},
		{"/api/v1/namespaces/default/pods/a", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1", `"kind":"PartialObjectMetadata"`},
		{"/api/v1/namespaces/default/pods/a", "application/json;as=Table;g=meta.k8s.io;v=v1", `"cells":["a","0/1","Pending","0",`},
		{"/api/v1/pods", "application/json;as=Table;g=meta.k8s.io;v=v1", `"columnDefinitions":[{"name":"Name","type":"string","format":"name"`},
		{"/api/v1/pods?includeObject=None", "application/json;as=Table;g=meta.k8s.io;v=v1", `"object":null`},
		{"/api/v1/pods?includeObject=Object", "application/json;as=Table;g=meta.k8s.io;v=v1", `"object":{"kind":"Pod"`},
	} {
		code, body := request(t, s, http.MethodGet, tc.path, "", "Accept", tc.accept)
		if code != http.StatusOK || !strings.Contains(body, tc.want) || strings.Contains(body, `"containers"`) != strings.Contains(tc.path, "=Object") {
			t.Errorf("GET %s as %s = %d %s; want %s", tc.path, tc.accept, code, body, tc.want)
		}
	}
}
