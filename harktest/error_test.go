package harktest_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gocampus/hark/harktest"
)

const jsonType = "application/json"

func TestBadRequestsGetTheAPIsOwnErrors(t *testing.T) {
	s := harktest.Start(t)
	create(t, s, pod("default", "a"), configMap("default", "m", nil))
	valid := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"}}`
	maps := "/api/v1/namespaces/default/configmaps"
	for _, tc := range []struct {
		method, path, contentType, body string
		code                            int
		reason                          metav1.StatusReason
		message                         string
	}{
		{"GET", "/api/v1/namespaces/default/pods/b", "", "", 404, "NotFound", `pods "b" not found`},
		{"GET", "/apis/apps/v1/namespaces/default/deployments/b", "", "", 404, "NotFound", `deployments.apps "b" not found`},
		{"GET", "/api/v1/nothings", "", "", 404, "NotFound", "the server could not find the requested resource"},
		{"GET", "/api/v2", "", "", 404, "NotFound", "the server could not find the requested resource"},
		{"POST", maps + "/x", jsonType, valid, 405, "MethodNotAllowed", "the server does not allow this method on the requested resource"},
		{"PUT", maps, jsonType, valid, 405, "MethodNotAllowed", "the server does not allow this method on the requested resource"},
		{"GET", "/api/v1/pods/a", "", "", 404, "NotFound", "the server could not find the requested resource"},
		{"GET", "/api/v1/namespaces/default/nodes", "", "", 404, "NotFound", "the server could not find the requested resource"},
		{"GET", "/api/v1/namespaces/default/pods/a/nothing", "", "", 404, "NotFound", "the server could not find the requested resource"},
		{"POST", "/api/v1/namespaces/missing/configmaps", jsonType, valid, 404, "NotFound", `namespaces "missing" not found`},
		{"DELETE", "/api/v1/namespaces/default", "", "", 403, "Forbidden", `namespaces "default" is forbidden: this namespace may not be deleted`},
		{"DELETE", "/api/v1/namespaces", "", "", 405, "MethodNotAllowed", "the server does not allow this method on the requested resource"},
		{"PUT", "/api/v1/namespaces/default/pods/a/log", jsonType, "{}", 405, "MethodNotAllowed", "the server does not allow this method on the requested resource"},
		{"POST", maps, jsonType, strings.Replace(valid, `"x"`, `"m"`, 1), 409, "AlreadyExists", `configmaps "m" already exists`},
		{"POST", maps, "text/plain", valid, 415, "UnsupportedMediaType", "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf"},
		{"PATCH", maps + "/m", jsonType, "{}", 415, "UnsupportedMediaType", "415: Unsupported Media Type"},
		{"POST", maps, jsonType, `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"x"},"data":{"a":"` + strings.Repeat("x", 3<<20) + `"}}`, 413, "RequestEntityTooLarge", "Request entity too large: limit is 3145728"},
		{"POST", maps, jsonType, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"X_"}}`, 422, "Invalid", `ConfigMap "X_" is invalid: metadata.name: Invalid value: "X_": `},
		{"POST", maps, jsonType, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{}}`, 422, "Invalid", `ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required`},
		{"POST", maps, jsonType, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","resourceVersion":"1"}}`, 500, "", "resourceVersion should not be set on objects to be created"},
		{"POST", maps, jsonType, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","namespace":"other"}}`, 400, "BadRequest", "the namespace of the provided object does not match the namespace sent on the request"},
		{"POST", maps, jsonType, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x"}}`, 400, "BadRequest", `Pod in version "v1" cannot be handled as a ConfigMap`},
		{"POST", maps, jsonType, `{"apiVersion":"v2","kind":"ConfigMap","metadata":{"name":"x"}}`, 400, "BadRequest", `ConfigMap in version "v2" cannot be handled as a ConfigMap: `},
		{"POST", "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers", jsonType, `{"apiVersion":"autoscaling/v1","kind":"HorizontalPodAutoscaler","metadata":{"name":"x"}}`, 400, "BadRequest", "the API version in the data (autoscaling/v1) does not match the expected API version (autoscaling/v2)"},
		{"POST", maps, jsonType, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":5}}`, 400, "BadRequest", `ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field`},
		{"POST", maps, jsonType, `{`, 400, "BadRequest", "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: unexpected end of JSON input ({)"},
		{"POST", maps + "?fieldValidation=Strict", jsonType, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"dota":{}}`, 400, "BadRequest", `ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "dota"`},
		{"POST", maps + "?dryRun=Some", jsonType, valid, 422, "Invalid", "dryRun: Unsupported value"},
		{"PUT", maps + "/m", jsonType, valid, 400, "BadRequest", "the name of the object (x) does not match the name on the URL (m)"},
		{"PUT", maps + "/x", jsonType, valid, 404, "NotFound", `configmaps "x" not found`},
		{"PATCH", maps + "/m", "application/json-patch+json", `[{"op":"remove","path":"/nothing"}]`, 422, "Invalid", "the server rejected our request due to an error in our request"},
		{"PATCH", maps + "/m", "application/json-patch+json", `{}`, 400, "BadRequest", ""},
		{"PATCH", maps + "/m", "application/merge-patch+json", `[]`, 400, "BadRequest", ""},
		{"PATCH", maps + "/m", "application/merge-patch+json", `{"metadata":{"name":"other"}}`, 400, "BadRequest", "the name of the object (other) does not match the name on the URL (m)"},
		{"PATCH", maps + "/m", "application/merge-patch+json", `{"data":7}`, 422, "Invalid", ""},
		{"PATCH", maps + "/x", "application/merge-patch+json", `{}`, 404, "NotFound", `configmaps "x" not found`},
		{"GET", maps + "?labelSelector=a%20b%20c", "", "", 400, "BadRequest", "unable to parse requirement"},
		{"GET", maps + "?fieldSelector=x", "", "", 400, "BadRequest", "invalid selector"},
		{"GET", maps + "?limit=x", "", "", 400, "BadRequest", ""},
		{"DELETE", maps + "/m", jsonType, `{"propagationPolicy":"Sideways"}`, 422, "Invalid", `DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: `},
		{"POST", "/api/v1/namespaces/default/pods", jsonType, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x"},"spec":{}}`, 422, "Invalid", `Pod "x" is invalid: spec.containers: Required value`},
		{"PATCH", "/api/v1/namespaces/default/pods/a", "application/merge-patch+json", `{"spec":{"nodeName":"n"}}`, 422, "Invalid", `Pod "a" is invalid: spec: Forbidden: pod updates may not change fields other than`},
	} {
		var headers []string
		if tc.contentType != "" {
			headers = []string{"Content-Type", tc.contentType}
		}
		code, body := request(t, s, tc.method, tc.path, tc.body, headers...)
		what := fmt.Sprintf("%s %s %.60s", tc.method, tc.path, tc.body)
		if !strings.HasPrefix(body, "{") {
			t.Errorf("%s: body %q; want a Status", what, body)
			continue
		}
		got := status(t, body)
		if code != tc.code || int(got.Code) != tc.code || got.Reason != tc.reason || !strings.Contains(got.Message, tc.message) || got.Status != "Failure" {
			t.Errorf("%s:\ngot  %d %s %q\nwant %d %s %q", what, code, got.Reason, got.Message, tc.code, tc.reason, tc.message)
		}
	}
}

func TestUnknownGroupsAnswerPlainText(t *testing.T) {
	s := harktest.Start(t)
	for _, path := range []string{"/apis/example.com/v1/things", "/apis/example.com", "/apis/example.com/v1", "/nothing"} {
		code, body := request(t, s, http.MethodGet, path, "")
		if code != http.StatusNotFound || body != "404 page not found\n" {
			t.Errorf("GET %s = %d %q; want 404 page not found", path, code, body)
		}
	}
}

func TestUnknownFieldsAreWarnedOf(t *testing.T) {
	s := harktest.Start(t)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL()+"/api/v1/namespaces/default/configmaps",
		strings.NewReader(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"dota":{}}`))
	if err != nil {
		t.Fatal(err)
	}
	response, err := httpClient(t, s).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if got, want := response.Header.Get("Warning"), `299 - "unknown field \"dota\""`; response.StatusCode != http.StatusCreated || got != want {
		t.Errorf("answer = %d, Warning %q; want 201 and %q", response.StatusCode, got, want)
	}
}

func TestAnswersHaveTheFormThatIsAccepted(t *testing.T) {
	s := harktest.Start(t)
	create(t, s, configMap("default", "m", nil))
	path := "/api/v1/namespaces/default/configmaps/m"
	for accept, want := range map[string]string{
		"":                                    `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"m"`,
		"*/*":                                 `{"kind":"ConfigMap","apiVersion":"v1"`,
		"application/yaml":                    "apiVersion: v1\nkind: ConfigMap\n",
		"application/vnd.kubernetes.protobuf": "k8s\x00\n\x0f\n\x02v1\x12\tConfigMap\x12",
		"application/vnd.kubernetes.protobuf;q=0.5,application/json": `{"kind":"ConfigMap"`,
		"text/html": `"message":"406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf","reason":"NotAcceptable","details":{},"code":406}`,
	} {
		_, body := request(t, s, http.MethodGet, path, "", "Accept", accept)
		if !strings.Contains(body, want) {
			t.Errorf("Accept %q: %q; want %q", accept, body, want)
		}
	}
	for _, headers := range [][]string{{"User-Agent", "curl/8"}, {"Accept", "application/json"}} {
		_, body := request(t, s, http.MethodGet, path+"?pretty=true", "", headers...)
		if !strings.HasPrefix(body, "{\n  \"kind\": \"ConfigMap\",\n") {
			t.Errorf("pretty answer = %q", body)
		}
	}
}
