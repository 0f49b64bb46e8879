package wire

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// protoMarshaler is what the API's generated types can do.
type protoMarshaler interface {
	runtime.Object
	metav1.Object
	Marshal() ([]byte, error)
	Unmarshal([]byte) error
	Reset()
}

// pods returns the pods of ../internal/podgen/pods.ndjson, which carry managedFields.
func pods(tb testing.TB) []*corev1.Pod {
	tb.Helper()
	file, err := os.Open("../internal/podgen/pods.ndjson")
	if err != nil {
		tb.Fatal(err)
	}
	defer file.Close()
	var out []*corev1.Pod
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		pod := new(corev1.Pod)
		if err := json.Unmarshal(lines.Bytes(), pod); err != nil {
			tb.Fatal(err)
		}
		out = append(out, pod)
	}
	if err := lines.Err(); err != nil || len(out) != 3 {
		tb.Fatalf("read %d pods, %v; want 3", len(out), err)
	}
	return out
}

// samples returns objects of several kinds, with and without managedFields.
func samples(tb testing.TB) []protoMarshaler {
	tb.Helper()
	var out []protoMarshaler
	for _, pod := range pods(tb) {
		out = append(out, pod)
	}
	managed := out[0].GetManagedFields()
	deleted := metav1.NewTime(time.Date(2026, 5, 28, 20, 26, 47, 0, time.UTC))
	meta := func(namespace, name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{
			Namespace: namespace, Name: name, UID: types.UID("uid-" + name), ResourceVersion: "100",
			Generation: 7, Labels: map[string]string{"app": name, "empty": ""},
			Annotations: map[string]string{"note": "a \"quoted\"\n<line> \u2028"},
		}
	}
	deployment := &appsv1.Deployment{ObjectMeta: meta("default", "web")}
	deployment.ManagedFields = managed
	deployment.Spec.Replicas = new(int32)
	dying := &corev1.ConfigMap{ObjectMeta: meta("default", "dying"), Data: map[string]string{"metadata": `{"name":"decoy"}`}}
	dying.DeletionTimestamp, dying.DeletionGracePeriodSeconds, dying.Finalizers = &deleted, new(int64), []string{"keep"}
	secret := &corev1.Secret{ObjectMeta: meta("kube-system", "token"), Data: map[string][]byte{"bytes": {0, 1, 2, 255}}}
	secret.ManagedFields = managed[:1]
	secret.OwnerReferences = []metav1.OwnerReference{
		{APIVersion: "v1", Kind: "Node", Name: "not-the-controller", UID: "o1", Controller: new(bool)},
		{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "the-controller", UID: "o2", Controller: new(true), BlockOwnerDeletion: new(true)},
		{APIVersion: "v1", Kind: "Node", Name: "no-word-of-it", UID: "o3"},
	}
	event := &corev1.Event{ObjectMeta: meta("default", "web.17"), Reason: "Scheduled", Message: "到节点", LastTimestamp: deleted}
	event.ManagedFields = managed
	return append(out, deployment, dying, secret, event,
		&corev1.Node{ObjectMeta: meta("", "node-1"), Status: corev1.NodeStatus{Phase: corev1.NodeRunning}},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "x"}})
}

// encoded returns an object in the given encoding, bare.
func encoded(tb testing.TB, encoding Encoding, object protoMarshaler) []byte {
	tb.Helper()
	var raw []byte
	var err error
	if encoding == Protobuf {
		raw, err = object.Marshal()
	} else {
		raw, err = json.Marshal(object)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return raw
}

// metaOf is what Scan has to find, from the decoded metadata.
func metaOf(object metav1.Object) Meta {
	m := Meta{
		Namespace: object.GetNamespace(), Name: object.GetName(), UID: string(object.GetUID()),
		ResourceVersion: object.GetResourceVersion(), Generation: object.GetGeneration(),
	}
	if t := object.GetDeletionTimestamp(); t != nil {
		m.DeletionTimestamp = t.UTC()
	}
	for name, value := range object.GetLabels() {
		m.Labels = append(m.Labels, Label{name, value})
	}
	if owner := metav1.GetControllerOf(object); owner != nil {
		m.Owner = Owner{owner.APIVersion, owner.Kind, owner.Name, string(owner.UID)}
	}
	return m
}

// diffMeta compares labels as a decoder sees them: a map.
func diffMeta(got, want Meta) string {
	labels := func(m Meta) map[string]string {
		out := map[string]string{}
		for _, label := range m.Labels {
			out[label.Name] = label.Value
		}
		return out
	}
	diff := cmp.Diff(labels(want), labels(got))
	got.Labels, want.Labels = nil, nil
	return diff + cmp.Diff(want, got)
}

func bothEncodings(t *testing.T, test func(t *testing.T, encoding Encoding)) {
	for _, encoding := range []Encoding{Protobuf, JSON} {
		t.Run(encoding.String(), func(t *testing.T) { test(t, encoding) })
	}
}

func TestScanFindsWhatADecoderFinds(t *testing.T) {
	bothEncodings(t, func(t *testing.T, encoding Encoding) {
		for _, object := range samples(t) {
			var got Meta
			if err := Scan(encoding, encoded(t, encoding, object), &got); err != nil {
				t.Fatalf("Scan of %T: %v", object, err)
			}
			if diff := diffMeta(got, metaOf(object)); diff != "" {
				t.Errorf("Scan of %T (-want +got):\n%s", object, diff)
			}
		}
	})
}

func TestScanOfPrettyPrintedJSON(t *testing.T) {
	for _, object := range samples(t) {
		var pretty bytes.Buffer
		if err := json.Indent(&pretty, encoded(t, JSON, object), "\t", " \r"); err != nil {
			t.Fatal(err)
		}
		var got Meta
		if err := Scan(JSON, pretty.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if diff := diffMeta(got, metaOf(object)); diff != "" {
			t.Errorf("Scan of %T (-want +got):\n%s", object, diff)
		}
	}
}

// seeds returns samples that are small: a fuzzer gets nowhere with large ones.
func seeds(tb testing.TB, encoding Encoding) [][]byte {
	tb.Helper()
	var out [][]byte
	for _, object := range samples(tb) {
		if managed := object.GetManagedFields(); len(managed) > 0 {
			managed[0].FieldsV1 = metav1.NewFieldsV1("{}")
			object.SetManagedFields(managed[:1])
		}
		if raw := encoded(tb, encoding, object); len(raw) < 1000 {
			out = append(out, raw)
		}
	}
	return out
}
