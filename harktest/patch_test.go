package harktest_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/gocampus/hark/harktest"
)

func TestPatchesOfEveryTypeAreApplied(t *testing.T) {
	eachEncoding(t, func(t *testing.T, s *harktest.Server, c *kubernetes.Clientset) {
		create(t, s, pod("default", "a"))
		pods := c.CoreV1().Pods("default")
		for _, step := range []struct {
			patchType types.PatchType
			patch     string
			holds     func(*corev1.Pod) bool
		}{
			{types.JSONPatchType, `[{"op":"add","path":"/metadata/labels","value":{"a":"1"}}]`, func(p *corev1.Pod) bool { return p.Labels["a"] == "1" }},
			{types.MergePatchType, `{"metadata":{"labels":{"b":"2"}}}`, func(p *corev1.Pod) bool { return len(p.Labels) == 2 }},
			{types.StrategicMergePatchType, `{"spec":{"containers":[{"name":"main","image":"nginx:2"}]}}`, func(p *corev1.Pod) bool {
				return len(p.Spec.Containers) == 1 && p.Spec.Containers[0].Image == "nginx:2" && p.Spec.Containers[0].ImagePullPolicy != ""
			}},
		} {
			got, err := pods.Patch(ctx, "a", step.patchType, []byte(step.patch), metav1.PatchOptions{})
			if err != nil || !step.holds(got) {
				t.Errorf("%s %s = %+v, %v", step.patchType, step.patch, got, err)
			}
		}
	})
}

func TestApplyOwnsFieldsAndSeesConflicts(t *testing.T) {
	server := harktest.Start(t)
	client := clientset(t, server, "application/json")
	maps := client.CoreV1().ConfigMaps("default")
	apply := func(manager, data string, force bool) (*corev1.ConfigMap, error) {
		body := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":` + data + `}`
		return maps.Patch(ctx, "a", types.ApplyYAMLPatchType, []byte(body), metav1.PatchOptions{FieldManager: manager, Force: &force})
	}
	first, err := apply("one", `{"a":"1","b":"1"}`, false)
	if err != nil || first.Data["a"] != "1" || len(first.ManagedFields) != 1 || first.ManagedFields[0].Manager != "one" {
		t.Fatalf("apply by one = %+v, %v", first, err)
	}
	again, err := apply("one", `{"a":"1","b":"1"}`, false)
	if err != nil || again.ResourceVersion != first.ResourceVersion {
		t.Errorf("the same apply again = version %s, %v; want %s", again.ResourceVersion, err, first.ResourceVersion)
	}
	if _, err := apply("two", `{"a":"2"}`, false); !apierrors.IsConflict(err) || !strings.Contains(err.Error(), `conflict with "one"`) {
		t.Errorf("apply of another's field = %v; want a conflict with one", err)
	}
	taken, err := apply("two", `{"a":"2"}`, true)
	if err != nil || taken.Data["a"] != "2" || taken.Data["b"] != "1" {
		t.Errorf("forced apply = %+v, %v; want a taken and b kept", taken.Data, err)
	}
	dropped, err := apply("one", `{}`, false)
	if err != nil || dropped.Data["a"] != "2" || len(dropped.Data) != 1 {
		t.Errorf("apply of nothing by one = %+v, %v; want b gone and two's a kept", dropped.Data, err)
	}
	if _, err := apply("", `{}`, false); !apierrors.IsInvalid(err) {
		t.Errorf("apply without a manager = %v; want Invalid", err)
	}
}

func TestFieldsAreTrackedForEveryWriteOnRequest(t *testing.T) {
	server := harktest.StartWith(t, harktest.Options{TrackManagedFields: true})
	created, err := clientset(t, server, "application/json").AppsV1().Deployments("default").Create(ctx, deployment("web", 1), metav1.CreateOptions{FieldManager: "maker"})
	if err != nil || len(created.ManagedFields) != 1 || created.ManagedFields[0].Manager != "maker" || created.ManagedFields[0].Operation != metav1.ManagedFieldsOperationUpdate {
		t.Fatalf("managedFields = %+v, %v; want one Update by maker", created.ManagedFields, err)
	}
	if err := server.ChangeStatus(ctx, created, func() { created.Status.Replicas = 1 }); err != nil {
		t.Fatal(err)
	}
	ofStatus := slices.ContainsFunc(created.ManagedFields, func(e metav1.ManagedFieldsEntry) bool { return e.Subresource == "status" })
	if n := len(created.ManagedFields); n != 2 || !ofStatus {
		t.Errorf("managedFields after a change of the status = %+v; want a second entry for it", created.ManagedFields)
	}
}

func TestScaleIsReadAndWritten(t *testing.T) {
	eachEncoding(t, func(t *testing.T, s *harktest.Server, c *kubernetes.Clientset) {
		create(t, s, deployment("web", 2))
		deployments := c.AppsV1().Deployments("default")
		scale, err := deployments.GetScale(ctx, "web", metav1.GetOptions{})
		if err != nil || scale.Spec.Replicas != 2 || scale.Status.Selector != "app=web" {
			t.Fatalf("GetScale = %+v, %v", scale, err)
		}
		stale := scale.DeepCopy()
		scale.Spec.Replicas = 5
		if scale, err = deployments.UpdateScale(ctx, "web", scale, metav1.UpdateOptions{}); err != nil || scale.Spec.Replicas != 5 {
			t.Fatalf("UpdateScale = %+v, %v", scale, err)
		}
		if _, err := deployments.UpdateScale(ctx, "web", stale, metav1.UpdateOptions{}); err != nil && !apierrors.IsConflict(err) || err == nil {
			t.Errorf("UpdateScale from an old version = %v; want a conflict", err)
		}
		d, err := deployments.Get(ctx, "web", metav1.GetOptions{})
		if err != nil || *d.Spec.Replicas != 5 || d.Generation != 2 {
			t.Errorf("deployment after scaling = %d replicas, generation %d, %v; want 5 and 2", *d.Spec.Replicas, d.Generation, err)
		}
		_, err = deployments.UpdateScale(ctx, "web", &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: autoscalingv1.ScaleSpec{Replicas: -1}}, metav1.UpdateOptions{})
		if !apierrors.IsInvalid(err) {
			t.Errorf("UpdateScale to -1 = %v; want Invalid", err)
		}
	})
}

func TestApplyOfNothingNewMakesNoVersionLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := harktest.StartWith(t, harktest.Options{InMemory: true})
		for body, obj := range map[string]harktest.Object{
			`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"x":"y"}}`: configMap("default", "a", nil),
			// The stored object never holds stringData, so that each apply merges it anew.
			`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"},"stringData":{"x":"y"}}`: &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "a"}},
		} {
			if err := s.Patch(ctx, obj, types.ApplyYAMLPatchType, []byte(body)); err != nil {
				t.Fatal(err)
			}
			before := obj.GetResourceVersion()
			time.Sleep(time.Minute) // the times in managedFields would differ
			if err := s.Patch(ctx, obj, types.ApplyYAMLPatchType, []byte(body)); err != nil || obj.GetResourceVersion() != before {
				t.Errorf("apply of %s a minute later = version %s, %v; want %s", body, obj.GetResourceVersion(), err, before)
			}
		}
	})
}

func TestPatchThatCopiesTheWholeAgainAndAgainIsRefused(t *testing.T) {
	s := harktest.Start(t)
	create(t, s, pod("default", "a"))
	operations := []string{`{"op":"add","path":"/spec/x","value":{"a":"b"}}`}
	for i := range 18 { // each doubles what is there
		operations = append(operations, fmt.Sprintf(`{"op":"copy","from":"/spec","path":"/spec/x/y%d"}`, i))
	}
	code, body := request(t, s, http.MethodPatch, "/api/v1/namespaces/default/pods/a", "["+strings.Join(operations, ",")+"]", "Content-Type", "application/json-patch+json")
	if code != http.StatusUnprocessableEntity || len(body) > 1000 {
		t.Errorf("answer = %d, %d bytes; want a short one of 422", code, len(body))
	}
	code, body = request(t, s, http.MethodPatch, "/api/v1/namespaces/default/pods/a", `[{"op":"add","path":"/metadata/labels","value":{"a":"b"}},{"op":"copy","from":"/metadata/labels","path":"/metadata/annotations"}]`, "Content-Type", "application/json-patch+json")
	if code != http.StatusOK {
		t.Errorf("a copy within the bound = %d %s; want 200", code, body)
	}
}
