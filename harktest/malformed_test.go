package harktest_test

import (
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	utilrand "k8s.io/apimachinery/pkg/util/rand"

	"github.com/gocampus/hark/harktest"
)

func TestGeneratedNameThatIsTakenIsGeneratedAnew(t *testing.T) {
	s := harktest.Start(t)
	generated := func() error {
		utilrand.Seed(7) // so that the same names come
		return s.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "x-"}})
	}
	for range 8 { // each of which finds the names of those before taken
		if err := generated(); err != nil {
			t.Fatalf("Create with a generated name = %v", err)
		}
	}
	err := generated()
	if err == nil || !strings.Contains(err.Error(), "the server was not able to generate a unique name for the object") {
		t.Errorf("Create after eight names were taken = %v; want AlreadyExists in these words", err)
	}
}

func TestMalformedMetadataOfCustomResourcesIsRefused(t *testing.T) {
	s := harktest.Start(t)
	mustCode(t, s, 201, http.MethodPost, crdPath, definition("things", "Thing", ""))
	mustCode(t, s, 201, http.MethodPost, things, thing("v1", "a", ""))
	for _, wrong := range []string{
		`"labels":{"a":5}`, `"finalizers":5`, `"ownerReferences":[5]`, `"annotations":["x"]`, `"deletionTimestamp":5`,
		`"creationTimestamp":"x"`, `"managedFields":5`, `"generation":"x"`, `"uid":5`,
	} {
		body := mustCode(t, s, 400, http.MethodPost, things, thing("v1", "b", ","+wrong))
		if got := status(t, body).Message; !strings.HasPrefix(got, `Thing in version "v1" cannot be handled as a Thing: `) {
			t.Errorf("POST with %s: message %q", wrong, got)
		}
		mustCode(t, s, 400, http.MethodPut, things+"/a", thing("v1", "a", ","+wrong))
		mustCode(t, s, 422, http.MethodPatch, things+"/a", `{"metadata":{`+wrong+`}}`, "Content-Type", mergePatch)
	}
	mustCode(t, s, 400, http.MethodPost, things, `{"apiVersion":"x.example/v1","kind":"Thing","metadata":5}`)
	if code, body := request(t, s, http.MethodPatch, things+"/a?fieldManager=m", thing("v1", "a", `,"labels":{"a":5}`), "Content-Type", "application/apply-patch+yaml"); code == 200 {
		t.Errorf("apply of malformed labels = %d %s", code, body)
	}
	list := mustCode(t, s, 200, http.MethodGet, things, "")
	if strings.Count(list, `"uid"`) != 1 {
		t.Errorf("list = %s; want the one good object", list)
	}
}

func TestNothingIsStoredThatCannotBeEncoded(t *testing.T) {
	s := harktest.Start(t)
	service := func(name string, port intstr.IntOrString) *corev1.Service {
		return &corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
			Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80, TargetPort: port}}},
		}
	}
	send := func(method, path string, obj interface{ Marshal() ([]byte, error) }, kind string) {
		t.Helper()
		raw, err := obj.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		unknown := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "v1", Kind: kind}, Raw: raw}
		body, err := unknown.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		code, answer := request(t, s, method, path, "k8s\x00"+string(body), "Content-Type", runtime.ContentTypeProtobuf)
		if code < 400 || code >= 500 {
			t.Errorf("%s %s = %d %s; want 4xx", method, path, code, answer)
		}
	}
	const services, pods = "/api/v1/namespaces/default/services", "/api/v1/namespaces/default/pods"
	impossible := intstr.IntOrString{Type: 7}
	create(t, s, service("good", intstr.FromInt32(80)), pod("default", "a"))
	send(http.MethodPost, services, service("bad", impossible), "Service")
	send(http.MethodPut, services+"/good", service("good", impossible), "Service")
	probed := pod("default", "bad")
	probed.Spec.Containers[0].Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{HTTPGet: &corev1.HTTPGetAction{Port: impossible}}}
	send(http.MethodPost, pods, probed, "Pod")
	if err := s.Create(t.Context(), service("bad", impossible)); err == nil {
		t.Error("Create of a service that cannot be encoded = nil; want an error")
	}
	for _, path := range []string{services, pods} {
		if list := mustCode(t, s, 200, http.MethodGet, path, ""); strings.Contains(list, `"bad"`) {
			t.Errorf("list = %s; want the good ones alone", list)
		}
	}
}
