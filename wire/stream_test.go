package wire

import (
	"bytes"
	"encoding/json"
	"io"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	"k8s.io/client-go/kubernetes/scheme"
)

// serializers returns the API's own encoders: of objects, and of watch frames.
func serializers(encoding Encoding) (object, frame runtime.Serializer, framer runtime.Framer) {
	if encoding == Protobuf {
		return protobuf.NewSerializer(scheme.Scheme, scheme.Scheme),
			protobuf.NewRawSerializer(scheme.Scheme, scheme.Scheme),
			protobuf.LengthDelimitedFramer
	}
	s := kjson.NewSerializerWithOptions(kjson.DefaultMetaFactory, scheme.Scheme, scheme.Scheme, kjson.SerializerOptions{})
	return s, s, kjson.Framer
}

// withKind sets an object's apiVersion and kind, as the API server does.
func withKind[T runtime.Object](tb testing.TB, object T) T {
	tb.Helper()
	kinds, _, err := scheme.Scheme.ObjectKinds(object)
	if err != nil {
		tb.Fatal(err)
	}
	object.GetObjectKind().SetGroupVersionKind(kinds[0])
	return object
}

// sent is an event that a server sends.
type sent struct {
	eventType string
	object    runtime.Object
}

// watchStream returns the body of a watch, written by the API's own encoders.
func watchStream(tb testing.TB, encoding Encoding, events ...sent) []byte {
	tb.Helper()
	objects, frames, framer := serializers(encoding)
	var body bytes.Buffer
	stream := streaming.NewEncoder(framer.NewFrameWriter(&body), frames)
	for _, e := range events {
		var raw bytes.Buffer
		if err := objects.Encode(withKind(tb, e.object), &raw); err != nil {
			tb.Fatal(err)
		}
		event := &metav1.WatchEvent{Type: e.eventType, Object: runtime.RawExtension{Raw: raw.Bytes()}}
		if err := stream.Encode(event); err != nil {
			tb.Fatal(err)
		}
	}
	return body.Bytes()
}

// decoded decodes what Hark kept of an object into the type of like.
func decoded(tb testing.TB, o *Object, like runtime.Object) runtime.Object {
	tb.Helper()
	into := like.DeepCopyObject().(protoMarshaler)
	into.Reset()
	var err error
	if o.Encoding() == Protobuf {
		err = into.Unmarshal(o.AppendBytes(nil))
	} else {
		err = json.Unmarshal(o.AppendBytes(nil), into)
	}
	if err != nil {
		tb.Fatalf("decode %T: %v", like, err)
	}
	return into
}

// checkObject compares an Object with the object that was sent.
func checkObject(t *testing.T, o *Object, want protoMarshaler) {
	t.Helper()
	uncut := want
	want = want.DeepCopyObject().(protoMarshaler)
	want.SetManagedFields(nil)
	got := decoded(t, o, want)
	// The kind comes in the envelope, or in JSON.
	got.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	want.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	if !equality.Semantic.DeepEqual(got, want) {
		t.Errorf("%T (-want +got):\n%s", want, cmp.Diff(want, got))
	}
	if diff := diffMeta(o.Meta(), metaOf(uncut)); diff != "" {
		t.Errorf("meta of %T (-want +got):\n%s", want, diff)
	}
	if o.Key().Namespace != want.GetNamespace() || o.Key().Name != want.GetName() ||
		o.UID() != string(want.GetUID()) || o.ResourceVersion() != want.GetResourceVersion() ||
		o.OwnerUID() != o.Meta().Owner.UID || o.Deleting() != (want.GetDeletionTimestamp() != nil) {
		t.Errorf("got %v %s %s %s %v; want that of %s/%s", o.Key(), o.UID(), o.ResourceVersion(), o.OwnerUID(), o.Deleting(), want.GetNamespace(), want.GetName())
	}
}

// slowly returns the ways in which a network may hand out the same bytes.
func slowly(body []byte) map[string]io.Reader {
	return map[string]io.Reader{
		"whole":   bytes.NewReader(body),
		"onebyte": iotest.OneByteReader(bytes.NewReader(body)),
		"half":    iotest.HalfReader(bytes.NewReader(body)),
		"dataerr": iotest.DataErrReader(bytes.NewReader(body)),
	}
}

func TestWatchReaderReadsWhatTheServerEncodes(t *testing.T) {
	bothEncodings(t, func(t *testing.T, encoding Encoding) {
		objects := samples(t)
		types := []string{"ADDED", "MODIFIED", "DELETED"}
		var events []sent
		for i, object := range objects {
			events = append(events, sent{types[i%3], object})
		}
		for name, body := range slowly(watchStream(t, encoding, events...)) {
			t.Run(name, func(t *testing.T) {
				r := NewWatchReader(body, encoding, Options{})
				for i, object := range objects {
					e, err := r.Next()
					if err != nil {
						t.Fatal(err)
					}
					if e.Type != types[i%3] || e.Status != nil || e.ResourceVersion != "" || e.InitialEventsEnd {
						t.Errorf("event = %+v; want %s of an object", e, types[i%3])
					}
					checkObject(t, e.Object, object)
				}
				for range 2 {
					if e, err := r.Next(); err != io.EOF {
						t.Fatalf("after the last event: %+v, %v; want io.EOF", e, err)
					}
				}
			})
		}
	})
}

// listOf returns a list of pods or of deployments.
func listBody(tb testing.TB, encoding Encoding, list runtime.Object) []byte {
	tb.Helper()
	objects, _, _ := serializers(encoding)
	var body bytes.Buffer
	if err := objects.Encode(withKind(tb, list), &body); err != nil {
		tb.Fatal(err)
	}
	return body.Bytes()
}

func podList(tb testing.TB) *corev1.PodList {
	list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "4711", Continue: "token\"", RemainingItemCount: new(int64(99))}}
	for _, pod := range pods(tb) {
		pod.TypeMeta = metav1.TypeMeta{}
		list.Items = append(list.Items, *pod)
	}
	return list
}

func TestListReaderReadsWhatTheServerEncodes(t *testing.T) {
	bothEncodings(t, func(t *testing.T, encoding Encoding) {
		want := podList(t)
		for name, body := range slowly(listBody(t, encoding, want)) {
			t.Run(name, func(t *testing.T) {
				r := NewListReader(body, encoding, Options{})
				for i := range want.Items {
					o, err := r.Next()
					if err != nil {
						t.Fatal(err)
					}
					checkObject(t, o, &want.Items[i])
				}
				for range 2 {
					if o, err := r.Next(); err != io.EOF {
						t.Fatalf("after the last item: %v, %v; want io.EOF", o, err)
					}
				}
				wantMeta := ListMeta{ResourceVersion: "4711", Continue: "token\"", RemainingItemCount: 99}
				if diff := cmp.Diff(wantMeta, r.Meta()); diff != "" {
					t.Errorf("Meta (-want +got):\n%s", diff)
				}
			})
		}
	})
}

func TestListReaderReadsAnEmptyList(t *testing.T) {
	bothEncodings(t, func(t *testing.T, encoding Encoding) {
		for _, list := range []*appsv1.DeploymentList{
			{ListMeta: metav1.ListMeta{ResourceVersion: "1"}},
			{ListMeta: metav1.ListMeta{ResourceVersion: "1"}, Items: []appsv1.Deployment{}},
		} {
			r := NewListReader(bytes.NewReader(listBody(t, encoding, list)), encoding, Options{})
			if o, err := r.Next(); err != io.EOF || r.Meta().ResourceVersion != "1" {
				t.Errorf("Next = %v, %v, Meta %+v; want io.EOF, resourceVersion 1", o, err, r.Meta())
			}
		}
	})
}
