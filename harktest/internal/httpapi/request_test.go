package httpapi

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPathsSayWhatARequestIsAbout(t *testing.T) {
	for _, tc := range []struct {
		method, target string
		want           Info
	}{
		{"GET", "/", Info{Verb: "get"}},
		{"GET", "/api/v1", Info{Verb: "get"}},
		{"GET", "/api/v1/pods", Info{Verb: "list", Version: "v1", Resource: "pods"}},
		{"GET", "/api/v1/pods/?watch=1", Info{Verb: "watch", Version: "v1", Resource: "pods"}},
		{"GET", "/api/v1/pods?watch=false", Info{Verb: "list", Version: "v1", Resource: "pods"}},
		{"GET", "/api/v1/watch/namespaces/ns/pods/a", Info{Verb: "watch", Version: "v1", Resource: "pods", Namespace: "ns", Name: "a"}},
		{"GET", "/api/v1/namespaces/ns/pods/a?watch=true", Info{Verb: "get", Version: "v1", Resource: "pods", Namespace: "ns", Name: "a"}},
		{"HEAD", "/api/v1/namespaces/ns/pods/a", Info{Verb: "head", Version: "v1", Resource: "pods", Namespace: "ns", Name: "a"}},
		{"GET", "/api/v1/namespaces", Info{Verb: "list", Version: "v1", Resource: "namespaces"}},
		{"GET", "/api/v1/namespaces/ns", Info{Verb: "get", Version: "v1", Resource: "namespaces", Name: "ns"}},
		{"PUT", "/api/v1/namespaces/ns/finalize", Info{Verb: "update", Version: "v1", Resource: "namespaces", Name: "ns", Subresource: "finalize"}},
		{"PATCH", "/api/v1/namespaces/ns/status", Info{Verb: "patch", Version: "v1", Resource: "namespaces", Name: "ns", Subresource: "status"}},
		{"POST", "/apis/apps/v1/namespaces/ns/deployments", Info{Verb: "create", Group: "apps", Version: "v1", Resource: "deployments", Namespace: "ns"}},
		{"DELETE", "/apis/apps/v1/namespaces/ns/deployments", Info{Verb: "deletecollection", Group: "apps", Version: "v1", Resource: "deployments", Namespace: "ns"}},
		{"DELETE", "/apis/apps/v1/namespaces/ns/deployments/web", Info{Verb: "delete", Group: "apps", Version: "v1", Resource: "deployments", Namespace: "ns", Name: "web"}},
		{"GET", "/api/v1/namespaces/ns/services/s/proxy/a/b", Info{Verb: "get", Version: "v1", Resource: "services", Namespace: "ns", Name: "s", Subresource: "proxy", Rest: "a/b"}},
		{"OPTIONS", "/api/v1/pods", Info{Verb: "options", Version: "v1", Resource: "pods"}},
	} {
		r := httptest.NewRequest(tc.method, tc.target, nil)
		if d := cmp.Diff(tc.want, readInfo(r, r.URL.Query())); d != "" {
			t.Errorf("%s %s (-want +got):\n%s", tc.method, tc.target, d)
		}
	}
}

func TestAcceptIsReadByQuality(t *testing.T) {
	var got []string
	for _, c := range parseAccept("text/html;q=0.1, application/json;as=Table;g=meta.k8s.io;v=v1;q=0.5,bad;;,application/yaml") {
		got = append(got, c.mediaType+" "+c.params["as"])
	}
	if want := "application/yaml |application/json Table|text/html "; strings.Join(got, "|") != want {
		t.Errorf("clauses = %q; want %q", strings.Join(got, "|"), want)
	}
}

func FuzzReadInfo(f *testing.F) {
	f.Add("GET", "/api/v1/namespaces/a/pods/b/status", "watch=1")
	f.Add("DELETE", "/apis///", "watch")
	f.Fuzz(func(t *testing.T, method, path, query string) {
		values, _ := url.ParseQuery(query)
		info := readInfo(&http.Request{Method: method, URL: &url.URL{Path: path}}, values)
		if info.Subresource != "" && info.Resource == "" {
			t.Errorf("%s %s: a subresource without a resource: %+v", method, path, info)
		}
	})
}

func FuzzParseAccept(f *testing.F) {
	f.Add("application/json;as=Table;g=meta.k8s.io;v=v1,*/*;q=0.1")
	f.Fuzz(func(t *testing.T, header string) {
		for _, c := range parseAccept(header) {
			if form, ok := c.form(); ok && form == asTable && c.mediaType == "application/vnd.kubernetes.protobuf" {
				t.Errorf("a table in protobuf was accepted of %q", header)
			}
		}
	})
}
