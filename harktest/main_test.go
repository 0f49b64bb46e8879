package harktest_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/gocampus/hark/harktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func pod(namespace, name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx:1.27"}}},
	}
}

func configMap(namespace, name string, data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Data: data}
}

// encodings are the two ways in which client-go speaks.
var encodings = map[string]string{"json": runtime.ContentTypeJSON, "protobuf": runtime.ContentTypeProtobuf}

// clientset returns a client of a server; its connections end with the test.
func clientset(t *testing.T, s *harktest.Server, contentType string) *kubernetes.Clientset {
	t.Helper()
	client, err := kubernetes.NewForConfigAndClient(withEncoding(s, contentType), httpClient(t, s))
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func withEncoding(s *harktest.Server, contentType string) *rest.Config {
	c := s.Config()
	c.ContentType = contentType
	c.AcceptContentTypes = contentType + ",application/json"
	return c
}

// httpClient returns an HTTP client of a server whose idle connections end with the test.
func httpClient(t *testing.T, s *harktest.Server) *http.Client {
	t.Helper()
	tlsConfig, err := rest.TLSConfigFor(s.Config())
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{TLSClientConfig: tlsConfig, ForceAttemptHTTP2: true, DialContext: s.Config().Dial}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func create(t *testing.T, s *harktest.Server, objects ...harktest.Object) {
	t.Helper()
	for _, obj := range objects {
		if err := s.Create(context.Background(), obj); err != nil {
			t.Fatalf("Create(%T %s): %v", obj, obj.GetName(), err)
		}
	}
}

// request sends one raw request and returns the status code and the body.
func request(t *testing.T, s *harktest.Server, method, path, body string, headers ...string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.URL()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	response, err := httpClient(t, s).Do(r)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("%s %s: body: %v", method, path, err)
	}
	return response.StatusCode, string(data)
}

// status reads a body as a Status.
func status(t *testing.T, body string) metav1.Status {
	t.Helper()
	var s metav1.Status
	if err := json.Unmarshal([]byte(body), &s); err != nil || s.Kind != "Status" {
		t.Fatalf("body is no Status (%v): %s", err, body)
	}
	return s
}

func diff(t *testing.T, what string, got, want any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s differs (-want +got):\n%s", what, d)
	}
}
