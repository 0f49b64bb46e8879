package kube

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestEncodedObjectsDecodeToWhatTheyWere(t *testing.T) {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a", UID: "u", ResourceVersion: "7"},
		Spec:       corev1.PodSpec{NodeName: "n"},
	}
	encoded, err := Encode(pod)
	if err != nil {
		t.Fatal(err)
	}
	if encoded.String() != "ns/a@7" || encoded.UID() != "u" {
		t.Errorf("encoded as %s, UID %s", encoded, encoded.UID())
	}
	back, err := As[corev1.Pod](encoded)
	if err != nil {
		t.Fatal(err)
	}
	pod.APIVersion, pod.Kind = "v1", "Pod" // a typed client leaves them out
	if diff := cmp.Diff(pod, back); diff != "" {
		t.Errorf("decoded (-want +got)\n%s", diff)
	}
	widget := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Widget",
		"metadata": map[string]any{"name": "w", "resourceVersion": "8"}, "spec": map[string]any{"size": int64(3)}}}
	if encoded, err = Encode(widget); err != nil {
		t.Fatal(err)
	}
	var other unstructured.Unstructured
	if err := widgetKind.Decode(encoded, &other); err != nil || cmp.Diff(widget.Object, other.Object) != "" {
		t.Errorf("decoded %v, %v", other.Object, err)
	}
}

func TestWhatIsNoObjectDoesNotEncode(t *testing.T) {
	for _, object := range []any{nil, 7, func() {}, &corev1.Pod{}, &unstructured.Unstructured{}} {
		if encoded, err := Encode(object); err == nil || !strings.HasPrefix(err.Error(), "encode ") {
			t.Errorf("Encode(%T) = %v, %v; want an error", object, encoded, err)
		}
	}
}
