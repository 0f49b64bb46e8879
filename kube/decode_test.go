package kube

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gocampus/hark/wire"
)

// object keeps a bare object as a reader would hand it out.
func object(t testing.TB, encoding wire.Encoding, o interface{ Marshal() ([]byte, error) }) *wire.Object {
	t.Helper()
	raw, err := o.Marshal()
	if encoding == wire.JSON {
		raw, err = json.Marshal(o)
	}
	if err != nil {
		t.Fatal(err)
	}
	return keep(t, encoding, raw)
}

func keep(t testing.TB, encoding wire.Encoding, raw []byte) *wire.Object {
	t.Helper()
	kept, err := wire.NewObject(encoding, raw)
	if err != nil {
		t.Fatal(err)
	}
	return kept
}

// inBoth runs a test on a pod in each encoding.
func inBoth(t *testing.T, f func(t *testing.T, pod *wire.Object)) {
	for _, encoding := range []wire.Encoding{wire.Protobuf, wire.JSON} {
		t.Run(encoding.String(), func(t *testing.T) { f(t, object(t, encoding, pod("a", "7"))) })
	}
}

// wantPod is the pod of inBoth as every decoder has to return it.
func wantPod() *corev1.Pod {
	want := pod("a", "7")
	want.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
	return want
}

func TestAGeneratedTypeIsDecodedWithItsKind(t *testing.T) {
	inBoth(t, func(t *testing.T, kept *wire.Object) {
		got, err := As[corev1.Pod](kept)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(got, wantPod()); diff != "" {
			t.Errorf("As (-got +want):\n%s", diff)
		}
		into := &corev1.Pod{Spec: corev1.PodSpec{Hostname: "left over"}}
		if err := podKind.Decode(kept, into); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(into, wantPod()); diff != "" {
			t.Errorf("Decode into a used one (-got +want):\n%s", diff)
		}
	})
}

func TestUnstructuredIsWhatTheDynamicClientWouldReturn(t *testing.T) {
	want, err := runtime.DefaultUnstructuredConverter.ToUnstructured(wantPod())
	if err != nil {
		t.Fatal(err)
	}
	inBoth(t, func(t *testing.T, kept *wire.Object) {
		got := &unstructured.Unstructured{Object: map[string]any{"left": "over"}}
		if err := podKind.Decode(kept, got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(got.Object, want); diff != "" {
			t.Errorf("Decode (-got +want):\n%s", diff)
		}
	})
}

func TestUnstructuredNumbersAreThoseOfAPIMachinery(t *testing.T) {
	raw := `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"big":9007199254740993,"real":1.5,"whole":2.0}}`
	got, err := As[unstructured.Unstructured](keep(t, wire.JSON, []byte(raw)))
	if err != nil {
		t.Fatal(err)
	}
	var want unstructured.Unstructured
	if err := want.UnmarshalJSON([]byte(raw)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got.Object, want.Object); diff != "" {
		t.Errorf("As (-got +want):\n%s", diff)
	}
	if big, _, _ := unstructured.NestedInt64(got.Object, "spec", "big"); big != 1<<53+1 {
		t.Errorf("spec.big is %d; want %d", big, 1<<53+1)
	}
}

func TestMetadataAloneIsDecodedFromWholeObjects(t *testing.T) {
	inBoth(t, func(t *testing.T, kept *wire.Object) {
		got := &metav1.PartialObjectMetadata{}
		if err := podKind.Decode(kept, got); err != nil {
			t.Fatal(err)
		}
		want := &metav1.PartialObjectMetadata{TypeMeta: wantPod().TypeMeta, ObjectMeta: wantPod().ObjectMeta}
		if diff := cmp.Diff(got, want); diff != "" {
			t.Errorf("Decode (-got +want):\n%s", diff)
		}
	})
}

// gear is a type of a user's own, known to no scheme.
type gear struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Teeth int `json:"teeth"`
	} `json:"spec"`
}

func TestATypeOfOnesOwnIsDecodedFromJSON(t *testing.T) {
	raw := `{"apiVersion":"example.com/v1","kind":"Gear","metadata":{"name":"g"},"spec":{"teeth":12,"Teeth":99}}`
	got, err := As[gear](keep(t, wire.JSON, []byte(raw)))
	if err != nil {
		t.Fatal(err)
	}
	if got.Spec.Teeth != 12 || got.Kind != "Gear" || got.Name != "g" {
		t.Errorf("As = %+v; want 12 teeth (names are exact), kind Gear", got)
	}
}

func TestResultsAreSharedWithNobody(t *testing.T) {
	inBoth(t, func(t *testing.T, kept *wire.Object) {
		first, err := As[corev1.Pod](kept)
		if err != nil {
			t.Fatal(err)
		}
		first.Labels["app"] = "changed"
		first.ManagedFields[0].FieldsV1.SetRawString("changed")
		first.Spec.Containers[0].Image = "changed"
		for range 100 { // the buffers of decoding are used again
			second, err := As[corev1.Pod](kept)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(second, wantPod()); diff != "" {
				t.Fatalf("a later result (-got +want):\n%s", diff)
			}
		}
		if first.Name != "a" || first.Spec.NodeName != "node-1" {
			t.Errorf("an earlier result changed: %+v", first)
		}
	})
}

func TestErrorsOfDecodingNameTheObjectAndItsVersion(t *testing.T) {
	wrong := keep(t, wire.JSON, []byte(`{"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"default","name":"bad","resourceVersion":"9"},"spec":{"priority":"high"}}`))
	broken := object(t, wire.Protobuf, pod("bad", "9")).AppendBytes(nil)
	broken = append(broken, 0x12, 0x02, 0xff, 0xff) // a spec that is no message
	unnamed := keep(t, wire.JSON, []byte(`{"metadata":{"namespace":"default","name":"bad","resourceVersion":"9"}}`))
	good := object(t, wire.Protobuf, pod("bad", "9"))
	for _, tc := range []struct {
		name   string
		decode func() error
		want   string
	}{
		{"a string for a number", func() error { _, err := As[corev1.Pod](wrong); return err }, "into *v1.Pod: "},
		{"broken protobuf", func() error { _, err := As[corev1.Pod](keep(t, wire.Protobuf, broken)); return err }, "into *v1.Pod: "},
		{"another type", func() error { return deploymentKind.Decode(good, new(corev1.Pod)) }, "the object is apps/v1 Deployment"},
		{"a pointer to nothing", func() error { return podKind.Decode(good, (*corev1.Pod)(nil)) }, "a non-nil pointer"},
		{"no pointer", func() error { return podKind.Decode(good, corev1.Pod{}) }, "a non-nil pointer"},
		{"nothing", func() error { return podKind.Decode(good, nil) }, "a non-nil pointer"},
		{"a type without protobuf", func() error { return podKind.Decode(good, new(gear)) }, "wire.JSON"},
		{"unstructured of no kind, protobuf", func() error { _, err := As[unstructured.Unstructured](good); return err }, "Kind.Decode"},
		{"unstructured of no kind, JSON", func() error { _, err := As[unstructured.Unstructured](unnamed); return err }, "Kind.Decode"},
		{"unstructured of an unknown kind", func() error { return widgetKind.Decode(good, new(unstructured.Unstructured)) }, "example.com/v1"},
		{"JSON of an unknown kind", func() error { _, err := widgetKind.JSON(good); return err }, "example.com/v1"},
	} {
		err := tc.decode()
		if err == nil || !strings.Contains(err.Error(), "default/bad at version 9") || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v; want the object, its version and %q", tc.name, err, tc.want)
		}
	}
	if err := podKind.Decode(nil, new(corev1.Pod)); err == nil {
		t.Error("no object at all was decoded")
	}
}

func TestJSONIsOneLineWithTheKindFirst(t *testing.T) {
	inBoth(t, func(t *testing.T, kept *wire.Object) {
		got, err := podKind.JSON(kept)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(got), `{"apiVersion":"v1","kind":"Pod","metadata":{`) || strings.Contains(string(got), "\n") {
			t.Errorf("JSON = %s; want apiVersion and kind first, on one line", got)
		}
		decoded := new(corev1.Pod)
		if err := json.Unmarshal(got, decoded); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(decoded, wantPod()); diff != "" {
			t.Errorf("what it holds (-got +want):\n%s", diff)
		}
	})
}

func TestJSONKeepsOrderNumbersAndTheDocumentsOwnKind(t *testing.T) {
	for raw, want := range map[string]string{
		`{ "metadata" : { "name":"w" }, "spec": {"n": 1e2, "big": 123456789012345678901234567890},
		   "kind":"Gizmo", "apiVersion":"example.com/v9", "a<b":"\u003c" }`: `{"apiVersion":"example.com/v9","kind":"Gizmo","metadata":{"name":"w"},` +
			`"spec":{"n":1e2,"big":123456789012345678901234567890},"a\u003cb":"\u003c"}`,
		`{"metadata":{"name":"w"}}`: `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"}}`,
	} {
		got, err := widgetKind.JSON(keep(t, wire.JSON, []byte(raw)))
		if err != nil || string(got) != want {
			t.Errorf("JSON = %s, %v; want %s", got, err, want)
		}
	}
}

func TestAnEmptyProtobufObjectIsStillADocument(t *testing.T) {
	minimal := object(t, wire.Protobuf, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "w"}})
	got, err := deploymentKind.JSON(minimal)
	if err != nil || !json.Valid(got) {
		t.Errorf("JSON = %s, %v", got, err)
	}
}

func FuzzDecodingNeverPanics(f *testing.F) {
	whole, err := pod("a", "1").Marshal()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole, true)
	f.Add([]byte(`{"kind":"Pod","metadata":{"name":"x","labels":{"a":"b"}},"spec":{"priority":3}}`), false)
	f.Add([]byte(`{"metadata":{"name":"x"},"apiVersion":1}`), false)
	f.Fuzz(func(t *testing.T, raw []byte, protobuf bool) {
		encoding := wire.JSON
		if protobuf {
			encoding = wire.Protobuf
		}
		kept, err := wire.NewObject(encoding, raw)
		if err != nil {
			return
		}
		typed, err := As[corev1.Pod](kept)
		if err == nil && typed.Name != kept.Key().Name {
			t.Errorf("the decoder reads the name %q; the scan %q", typed.Name, kept.Key().Name)
		}
		podKind.Decode(kept, new(unstructured.Unstructured))
		podKind.Decode(kept, new(metav1.PartialObjectMetadata))
		if document, err := podKind.JSON(kept); err == nil && !json.Valid(document) {
			t.Errorf("JSON returned %q, which is none", document)
		}
	})
}

func FuzzAnExcerptIsShortAndOnOneLine(f *testing.F) {
	f.Add([]byte("<html><title> x\n</title>"))
	f.Add([]byte("\x1b[31m\xff\u2028"))
	f.Fuzz(func(t *testing.T, body []byte) {
		got := excerpt(body)
		if strings.ContainsAny(got, "\n\r\x1b") || len(got) > maxExcerpt*10+8 {
			t.Errorf("excerpt(%q) = %q", body, got)
		}
	})
}

func TestSchemaKindsOfTheTestsAreTrue(t *testing.T) {
	for _, kind := range []Kind{podKind, nodeKind, widgetKind, deploymentKind} {
		if got := hasProtobuf(kind.GVK); got != kind.Protobuf {
			t.Errorf("hasProtobuf(%s) = %v; want %v", kind.GVK, got, kind.Protobuf)
		}
	}
	if hasProtobuf(schema.GroupVersionKind{Group: "apps", Version: "v9", Kind: "Deployment"}) {
		t.Error("a version newer than client-go has protobuf")
	}
}
