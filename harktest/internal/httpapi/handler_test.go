package httpapi

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gocampus/hark/harktest/internal/fault"
	"github.com/gocampus/hark/harktest/internal/kind"
	"github.com/gocampus/hark/harktest/internal/mvcc"
	"github.com/gocampus/hark/harktest/internal/object"
	"github.com/gocampus/hark/harktest/internal/service"
)

func newHandler(t testing.TB) *Handler {
	t.Helper()
	s := service.New(kind.NewRegistry(), mvcc.New[*object.Version](mvcc.Options{}), service.Options{})
	if err := s.CreateNamespaces("default"); err != nil {
		t.Fatal(err)
	}
	return New(s, Options{BookmarkInterval: time.Minute, WatchTimeout: time.Millisecond, Faults: &fault.Set{}})
}

// FuzzServe sends requests of any kind and expects an answer: never a panic, and
// never an answer of 500, which would be a mistake of the server's own.
func FuzzServe(f *testing.F) {
	const pods = "/api/v1/namespaces/default/pods"
	for _, seed := range [][4]string{
		{"GET", pods, "", ""},
		{"POST", pods, "application/json", `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"containers":[{"name":"c","image":"i"}]}}`},
		{"PATCH", pods + "/seed", "application/strategic-merge-patch+json", `{"spec":{"containers":[{"name":"main","image":"x"}]}}`},
		{"PATCH", pods + "/seed", "application/json-patch+json", `[{"op":"replace","path":"/spec/containers/0/image","value":"x"}]`},
		{"PATCH", pods + "/seed?fieldManager=f", "application/apply-patch+yaml", `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"seed"}}`},
		{"PUT", pods + "/seed/status", "application/json", `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"seed"},"status":{"phase":"Running"}}`},
		{"DELETE", pods + "/seed?gracePeriodSeconds=0", "application/json", `{"propagationPolicy":"Foreground"}`},
		{"POST", "/apis/apps/v1/namespaces/default/deployments", "application/json", `{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}}}}`},
		{"PATCH", "/apis/apps/v1/namespaces/default/deployments/d/scale", "application/merge-patch+json", `{"spec":{"replicas":2}}`},
		{"POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "application/yaml", "kind: CustomResourceDefinition\napiVersion: apiextensions.k8s.io/v1\nmetadata: {name: as.b}\nspec: {group: b, scope: Cluster, names: {plural: as, kind: A}, versions: [{name: v1, served: true, storage: true}]}"},
		{"GET", "/api/v1/pods?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=1", "", ""},
		{"GET", "/apis", "", ""}, {"GET", "/openapi/v3/api/v1", "", ""},
	} {
		f.Add(seed[0], seed[1], seed[2], "", seed[3])
	}
	f.Add("GET", pods+"?limit=1&continue=e30", "", "application/json;as=Table;v=v1;g=meta.k8s.io", "")
	f.Fuzz(func(t *testing.T, method, target, contentType, accept, body string) {
		r, err := http.NewRequest(method, target, strings.NewReader(body))
		if err != nil || !strings.HasPrefix(target, "/") {
			return // no client can send it
		}
		r.Header.Set("Content-Type", contentType)
		r.Header.Set("Accept", accept)
		h := newHandler(t)
		seed := httptest.NewRequest("POST", pods, strings.NewReader(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"seed"},"spec":{"containers":[{"name":"main","image":"i"}]}}`))
		h.ServeHTTP(httptest.NewRecorder(), seed)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code < 200 || w.Code > 599 {
			t.Errorf("%s %s: code %d", method, target, w.Code)
		}
		if w.Code == http.StatusInternalServerError && !strings.Contains(w.Body.String(), "resourceVersion should not be set") {
			t.Errorf("%s %s %q: %s", method, target, body, w.Body)
		}
	})
}
