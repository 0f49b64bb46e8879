package object

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"

	"github.com/gocampus/hark/harktest/internal/kind"
)

var kinds = kind.NewRegistry()

func podKind() *kind.Kind { return kinds.ByResource(corev1.SchemeGroupVersion.WithResource("pods")) }

func samplePod(random *rand.Rand) *corev1.Pod {
	text := func(n int) string { return strings.Repeat("x", random.IntN(n)) }
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: "p" + text(200), UID: "uid", ResourceVersion: fmt.Sprint(random.Uint64N(1 << random.IntN(40))),
			Annotations: map[string]string{"a": text(400), `"resourceVersion":"7"`: "trap"}, Labels: map[string]string{"l": text(5)},
		},
		Spec: corev1.PodSpec{NodeName: text(10), Containers: []corev1.Container{{Name: "c", Image: text(30)}}},
	}
	p.Status.Message = text(1000)
	return p
}

func TestTouchedVersionDiffersByItsVersionAlone(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed=%d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 200 {
		original := samplePod(random)
		v := New(podKind(), original.DeepCopy())
		v.Packable()
		stamped := random.Uint64N(1 << random.IntN(60))
		v.Stamp(stamped)
		v.Pack()
		for range 3 {
			stamped += random.Uint64N(1 << random.IntN(60))
			v = v.Touched()
			v.Stamp(stamped)
			want := original.DeepCopy()
			want.ResourceVersion = fmt.Sprint(stamped)
			if d := cmp.Diff(runtime.Object(want), v.Object()); d != "" {
				t.Fatalf("object differs (-want +got):\n%s", d)
			}
			raw, err := v.JSON(v.kind)
			wantJSON, wantErr := json.Marshal(want)
			if err != nil || wantErr != nil || !bytes.Equal(raw, wantJSON) {
				t.Fatalf("JSON = %s, %v; want %s", raw, err, wantJSON)
			}
			if v.Meta().GetResourceVersion() != want.ResourceVersion {
				t.Fatalf("metadata has version %s; want %s", v.Meta().GetResourceVersion(), want.ResourceVersion)
			}
		}
	}
}

func TestPackedVersionReadsAsBefore(t *testing.T) {
	original := samplePod(rand.New(rand.NewPCG(1, 2)))
	v := New(podKind(), original.DeepCopy())
	v.Packable()
	v.Stamp(7)
	v.Pack()
	if v.object.Load() != nil {
		t.Fatal("the decoded object was kept")
	}
	original.ResourceVersion = "7"
	if d := cmp.Diff(runtime.Object(original), v.Object()); d != "" {
		t.Errorf("object differs (-want +got):\n%s", d)
	}
	if got := v.Fields()["metadata.name"]; got != original.Name {
		t.Errorf("field metadata.name = %q", got)
	}
	copied := v.Copy().(*corev1.Pod)
	copied.Name = "changed"
	if v.Object().(*corev1.Pod).Name == "changed" {
		t.Error("a change of a copy reached the version")
	}
}

func TestEnvelopeIsWhatTheSerializerWrites(t *testing.T) {
	for _, obj := range []runtime.Object{samplePod(rand.New(rand.NewPCG(3, 4))), &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "d"}}} {
		gvk := kinds.Of(obj).GVK
		raw, err := encodeProtobuf(obj)
		if err != nil {
			t.Fatal(err)
		}
		got := append(append(Envelope(nil, gvk, len(raw)), raw...), "\x1a\x00\x22\x00"...)
		typed := obj.DeepCopyObject()
		typed.GetObjectKind().SetGroupVersionKind(gvk)
		var want bytes.Buffer
		if err := protobuf.NewSerializer(kinds, kinds).Encode(typed, &want); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want.Bytes()) {
			t.Errorf("envelope of %s:\ngot  %q\nwant %q", gvk, got, want.Bytes())
		}
	}
}

func FuzzSpliceProtobuf(f *testing.F) {
	raw, err := samplePod(rand.New(rand.NewPCG(1, 1))).Marshal()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw, "12")
	f.Add([]byte{0x0a, 0xff}, "1")
	f.Fuzz(func(t *testing.T, raw []byte, version string) {
		out, err := spliceProtobuf(raw, version)
		if err != nil {
			return
		}
		_, metadata, ok := findField(out, metadataField)
		if _, got, found := findField(metadata, resourceVersionField); !ok || !found || string(got) != version {
			t.Errorf("version after the splice = %q; want %q", got, version)
		}
	})
}

func FuzzDecode(f *testing.F) {
	decoder := NewDecoder(kinds)
	raw, err := samplePod(rand.New(rand.NewPCG(1, 1))).Marshal()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(append(Envelope(nil, podKind().GVK, len(raw)), raw...), uint8(2))
	f.Add([]byte(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}}`), uint8(0))
	f.Add([]byte("kind: Pod\napiVersion: v1\n"), uint8(1))
	types := []string{MediaJSON, MediaYAML, MediaProtobuf}
	f.Fuzz(func(t *testing.T, body []byte, kind uint8) {
		obj, err := decoder.Decode(body, types[int(kind)%len(types)], podKind().GVK, kind > 100)
		if err == nil && kinds.Of(obj) == nil {
			t.Errorf("decoded %T of an unknown kind", obj)
		}
	})
}
