package kube

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	restwatch "k8s.io/client-go/rest/watch"

	"github.com/gocampus/hark/watch"
	"github.com/gocampus/hark/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	podKind = Kind{
		GVR: corev1.SchemeGroupVersion.WithResource("pods"), GVK: corev1.SchemeGroupVersion.WithKind("Pod"),
		Singular: "pod", Namespaced: true, Protobuf: true, Watchable: true,
	}
	nodeKind = Kind{
		GVR: corev1.SchemeGroupVersion.WithResource("nodes"), GVK: corev1.SchemeGroupVersion.WithKind("Node"),
		Singular: "node", Protobuf: true, Watchable: true,
	}
	widgetKind = Kind{
		GVR:      schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"},
		GVK:      schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"},
		Singular: "widget", Namespaced: true, Watchable: true,
	}
)

// serve starts a server and returns a client for it.
func serve(t testing.TB, handler http.HandlerFunc) *Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return connect(t, &rest.Config{Host: server.URL}, Options{})
}

// connect returns a client that does not limit its rate.
func connect(t testing.TB, config *rest.Config, o Options) *Client {
	t.Helper()
	if config.QPS == 0 {
		config.QPS = -1
	}
	client, err := New(config, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.CloseIdle)
	return client
}

// transport answers requests without a network.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func (transport) CloseIdleConnections() {}

// answer makes a response of a transport.
func answer(code int, contentType, body string) *http.Response {
	return &http.Response{
		StatusCode: code, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {contentType}},
		Body:   io.NopCloser(strings.NewReader(body)),
	}
}

// items reads a list to its end.
func items(t testing.TB, source watch.Source, o watch.ListOptions) ([]*wire.Object, wire.ListMeta) {
	t.Helper()
	list, err := source.List(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer list.Close()
	var all []*wire.Object
	for {
		object, err := list.Next()
		if err == io.EOF {
			return all, list.Meta()
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, object)
	}
}

// listError returns what a list, opened and read to its end, fails with.
func listError(ctx context.Context, source watch.Source) error {
	list, err := source.List(ctx, watch.ListOptions{})
	if err != nil {
		return err
	}
	defer list.Close()
	for {
		if _, err := list.Next(); err != nil {
			return err
		}
	}
}

// watchError fails the test unless err is a *watch.Error.
func watchError(t testing.TB, err error) *watch.Error {
	t.Helper()
	e, ok := err.(*watch.Error)
	if !ok {
		t.Fatalf("the error is %T (%v); want a *watch.Error", err, err)
	}
	return e
}

func pod(name, version string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: name, UID: "uid-1", ResourceVersion: version,
			Labels: map[string]string{"app": name},
			ManagedFields: []metav1.ManagedFieldsEntry{{
				Manager: "kubectl", Operation: "Update", FieldsType: "FieldsV1",
				FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{}}`),
			}},
		},
		Spec:   corev1.PodSpec{NodeName: "node-1", Containers: []corev1.Container{{Name: "c", Image: "nginx:1.27"}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
}

// serializer returns the API server's own serializer for a media type.
func serializer(t testing.TB, mediaType string) runtime.SerializerInfo {
	t.Helper()
	info, ok := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), mediaType)
	if !ok {
		t.Fatalf("no serializer for %s", mediaType)
	}
	return info
}

// encode writes an object as the API server does, with envelope and kind.
func encode(t testing.TB, mediaType string, object runtime.Object) []byte {
	t.Helper()
	encoder := scheme.Codecs.EncoderForVersion(serializer(t, mediaType).Serializer, corev1.SchemeGroupVersion)
	raw, err := runtime.Encode(encoder, object)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// writeEvent writes one frame of a watch as the API server does.
func writeEvent(t testing.TB, w io.Writer, mediaType string, event apiwatch.EventType, object runtime.Object) {
	t.Helper()
	info := serializer(t, mediaType)
	frames := streaming.NewEncoder(info.StreamSerializer.Framer.NewFrameWriter(w), info.StreamSerializer.Serializer)
	embedded := scheme.Codecs.EncoderForVersion(info.Serializer, corev1.SchemeGroupVersion)
	if err := restwatch.NewEncoder(frames, embedded).Encode(&apiwatch.Event{Type: event, Object: object}); err != nil {
		t.Error(err) // the server's goroutine may not stop the test
	}
}

// both runs a test in each encoding.
func both(t *testing.T, f func(t *testing.T, mediaType string)) {
	t.Run("protobuf", func(t *testing.T) { f(t, wire.ContentTypeProtobuf) })
	t.Run("json", func(t *testing.T) { f(t, wire.ContentTypeJSON) })
}

// failure is the encoded Status of an API error.
func failure(t testing.TB, mediaType string, status metav1.Status) string {
	t.Helper()
	status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	if status.Status == "" {
		status.Status = metav1.StatusFailure
	}
	return string(encode(t, mediaType, &status))
}
