package harktest_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/gocampus/hark/harktest"
)

var ctx = context.Background()

// eachEncoding runs a test with a client of each encoding on a fresh server.
func eachEncoding(t *testing.T, test func(t *testing.T, s *harktest.Server, c *kubernetes.Clientset)) {
	t.Helper()
	for name, contentType := range encodings {
		t.Run(name, func(t *testing.T) {
			server := harktest.Start(t)
			test(t, server, clientset(t, server, contentType))
		})
	}
}

func deployment(name string, replicas int32) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: pod("", "").Spec},
		},
	}
}

func TestCreateFillsInWhatTheServerOwns(t *testing.T) {
	eachEncoding(t, func(t *testing.T, s *harktest.Server, c *kubernetes.Clientset) {
		in := pod("", "a")
		in.UID, in.Generation, in.Status.Phase = "forged", 7, corev1.PodRunning
		got, err := c.CoreV1().Pods("default").Create(ctx, in, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got.UID == "forged" || got.UID == "" || got.CreationTimestamp.IsZero() || got.Namespace != "default" {
			t.Errorf("metadata = %+v; want a fresh UID, a time and the namespace of the path", got.ObjectMeta)
		}
		if want := fmt.Sprint(s.Version()); got.ResourceVersion != want {
			t.Errorf("resourceVersion = %s; want the server's version %s", got.ResourceVersion, want)
		}
		if got.Generation != 1 || got.Status.Phase != corev1.PodPending || got.Status.QOSClass != corev1.PodQOSBestEffort {
			t.Errorf("generation %d, status %+v; want 1, Pending and BestEffort", got.Generation, got.Status)
		}
		if got.Spec.RestartPolicy != corev1.RestartPolicyAlways || got.Spec.Containers[0].ImagePullPolicy != corev1.PullIfNotPresent {
			t.Errorf("spec was not defaulted: %+v", got.Spec)
		}
	})
}

func TestGeneratedNamesAreDistinct(t *testing.T) {
	server := harktest.Start(t)
	seen := map[string]bool{}
	for range 50 {
		p := pod("default", "")
		p.GenerateName = strings.Repeat("x", 60) + "-"
		create(t, server, p)
		if seen[p.Name] || len(p.Name) != 63 || !strings.HasPrefix(p.Name, strings.Repeat("x", 58)) {
			t.Fatalf("generated name %q (of %d bytes); want a new one of 63 with the beginning kept", p.Name, len(p.Name))
		}
		seen[p.Name] = true
	}
}

func TestUpdateFromAnOldVersionIsAConflict(t *testing.T) {
	eachEncoding(t, func(t *testing.T, s *harktest.Server, c *kubernetes.Clientset) {
		maps := c.CoreV1().ConfigMaps("default")
		first, err := maps.Create(ctx, configMap("", "a", nil), metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		second := first.DeepCopy()
		second.Data = map[string]string{"a": "1"}
		if second, err = maps.Update(ctx, second, metav1.UpdateOptions{}); err != nil || second.ResourceVersion == first.ResourceVersion {
			t.Fatalf("Update = %+v, %v; want a new version", second, err)
		}
		first.Data = map[string]string{"a": "2"}
		_, err = maps.Update(ctx, first, metav1.UpdateOptions{})
		want := `Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again`
		if !apierrors.IsConflict(err) || err.Error() != want {
			t.Errorf("Update from the old version = %v; want %q", err, want)
		}
		first.ResourceVersion = ""
		if _, err := maps.Update(ctx, first, metav1.UpdateOptions{}); err != nil {
			t.Errorf("unconditional Update = %v", err)
		}
		first.ResourceVersion, first.UID = "", "another"
		if _, err := maps.Update(ctx, first, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
			t.Errorf("Update with another UID = %v; want a conflict", err)
		}
	})
}

func TestChangeOfNothingMakesNoVersion(t *testing.T) {
	eachEncoding(t, func(t *testing.T, s *harktest.Server, c *kubernetes.Clientset) {
		pods := c.CoreV1().Pods("default")
		created, err := pods.Create(ctx, pod("", "a"), metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		before := s.Version()
		updated, err := pods.Update(ctx, created, metav1.UpdateOptions{})
		if err != nil || updated.ResourceVersion != created.ResourceVersion {
			t.Errorf("Update = %v, %v; want the same version", updated.ResourceVersion, err)
		}
		patched, err := pods.Patch(ctx, "a", types.MergePatchType, []byte(`{"metadata":{"labels":null}}`), metav1.PatchOptions{})
		if err != nil || patched.ResourceVersion != created.ResourceVersion {
			t.Errorf("Patch = %v, %v; want the same version", patched.ResourceVersion, err)
		}
		if s.Version() != before {
			t.Errorf("server's version went from %d to %d", before, s.Version())
		}
	})
}

func TestGenerationCountsChangesOfTheSpec(t *testing.T) {
	server := harktest.Start(t)
	d := deployment("web", 1)
	create(t, server, d)
	for _, step := range []struct {
		what   string
		change func() error
		want   int64
	}{
		{"labels", func() error { return server.Change(ctx, d, func() { d.Labels["x"] = "y" }) }, 1},
		{"the status", func() error { return server.ChangeStatus(ctx, d, func() { d.Status.Replicas = 1 }) }, 1},
		{"the spec through the status", func() error { return server.ChangeStatus(ctx, d, func() { *d.Spec.Replicas = 9 }) }, 1},
		{"replicas", func() error { return server.Change(ctx, d, func() { *d.Spec.Replicas = 2 }) }, 2},
		{"annotations", func() error {
			return server.Change(ctx, d, func() { d.Annotations = map[string]string{"a": "b"} })
		}, 3},
		{"the status through the main resource", func() error { return server.Change(ctx, d, func() { d.Status.Replicas = 7 }) }, 3},
	} {
		if err := step.change(); err != nil {
			t.Fatalf("change of %s: %v", step.what, err)
		}
		if d.Generation != step.want {
			t.Errorf("generation after a change of %s = %d; want %d", step.what, d.Generation, step.want)
		}
	}
	if *d.Spec.Replicas != 2 || d.Status.Replicas != 1 {
		t.Errorf("spec.replicas %d, status.replicas %d; want 2 and 1: each has its own resource", *d.Spec.Replicas, d.Status.Replicas)
	}
}

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
	if _, err := apply("", `{}`, false); !apierrors.IsBadRequest(err) {
		t.Errorf("apply without a manager = %v; want BadRequest", err)
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

func TestDeleteHonoursPreconditionsAndFinalizers(t *testing.T) {
	eachEncoding(t, func(t *testing.T, s *harktest.Server, c *kubernetes.Clientset) {
		maps := c.CoreV1().ConfigMaps("default")
		held := configMap("default", "a", nil)
		held.Finalizers = []string{"example.com/hold"}
		create(t, s, held)
		if err := maps.Delete(ctx, "a", metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions("another")}); !apierrors.IsConflict(err) {
			t.Errorf("Delete with another UID = %v; want a conflict", err)
		}
		old := "1"
		if err := maps.Delete(ctx, "a", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{ResourceVersion: &old}}); !apierrors.IsConflict(err) {
			t.Errorf("Delete with another version = %v; want a conflict", err)
		}
		if err := maps.Delete(ctx, "a", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		got, err := maps.Get(ctx, "a", metav1.GetOptions{})
		if err != nil || got.DeletionTimestamp == nil || got.ResourceVersion == held.ResourceVersion {
			t.Fatalf("held object after Delete = %+v, %v; want it there, marked, in a new version", got, err)
		}
		before := s.Version()
		if err := maps.Delete(ctx, "a", metav1.DeleteOptions{}); err != nil || s.Version() != before {
			t.Errorf("a second Delete = %v, version %d; want no change of %d", err, s.Version(), before)
		}
		got.Finalizers = append(got.Finalizers, "example.com/more")
		if _, err := maps.Update(ctx, got, metav1.UpdateOptions{}); !apierrors.IsInvalid(err) {
			t.Errorf("a finalizer added while deleting = %v; want Invalid", err)
		}
		got.Finalizers = nil
		if _, err := maps.Update(ctx, got, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		if _, err := maps.Get(ctx, "a", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("Get after the last finalizer went = %v; want NotFound", err)
		}
	})
}

func TestPodsOnNodesHaveAGracePeriod(t *testing.T) {
	server := harktest.Start(t)
	running := pod("default", "a")
	create(t, server, running, pod("default", "unscheduled"))
	client := clientset(t, server, "application/json")
	if err := client.CoreV1().Pods("default").Bind(ctx, &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Target: corev1.ObjectReference{Name: "n"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "unscheduled"} {
		if err := server.Delete(ctx, pod("default", name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := server.Get(ctx, pod("default", "unscheduled")); !apierrors.IsNotFound(err) {
		t.Errorf("a pod without a node after Delete: %v; want NotFound", err)
	}
	if err := server.Get(ctx, running); err != nil || running.DeletionTimestamp == nil || *running.DeletionGracePeriodSeconds != 30 || running.Generation != 3 {
		t.Fatalf("a pod on a node after Delete = %+v, %v; want 30 s of grace and a new generation", running.ObjectMeta, err)
	}
	if err := server.Delete(ctx, running, metav1.DeleteOptions{GracePeriodSeconds: new(int64(60))}); err != nil || *running.DeletionGracePeriodSeconds != 30 {
		t.Errorf("a longer grace period: %v; want it to be ignored", err)
	}
	if err := server.Delete(ctx, running, metav1.DeleteOptions{GracePeriodSeconds: new(int64)}); err != nil {
		t.Fatal(err)
	}
	if err := server.Get(ctx, running); !apierrors.IsNotFound(err) {
		t.Errorf("a pod after Delete without grace: %v; want NotFound", err)
	}
}

func TestPropagationLeavesFinalizersForTheCollector(t *testing.T) {
	for policy, want := range map[metav1.DeletionPropagation]string{
		metav1.DeletePropagationForeground: metav1.FinalizerDeleteDependents, metav1.DeletePropagationOrphan: metav1.FinalizerOrphanDependents,
		metav1.DeletePropagationBackground: "",
	} {
		server := harktest.Start(t)
		d := deployment("web", 1)
		create(t, server, d)
		if err := server.Delete(ctx, d, metav1.DeleteOptions{PropagationPolicy: &policy}); err != nil {
			t.Fatal(err)
		}
		err := server.Get(ctx, d)
		if want == "" {
			if !apierrors.IsNotFound(err) {
				t.Errorf("%s: Get = %v; want NotFound", policy, err)
			}
			continue
		}
		if err != nil || len(d.Finalizers) != 1 || d.Finalizers[0] != want || d.DeletionTimestamp == nil {
			t.Errorf("%s: %+v, %v; want the finalizer %s", policy, d.ObjectMeta, err, want)
		}
	}
}

func TestDeleteCollectionDeletesWhatItSelects(t *testing.T) {
	eachEncoding(t, func(t *testing.T, s *harktest.Server, c *kubernetes.Clientset) {
		for _, name := range []string{"a", "b", "c"} {
			m := configMap("default", name, nil)
			m.Labels = map[string]string{"keep": fmt.Sprint(name == "b")}
			create(t, s, m)
		}
		err := c.CoreV1().ConfigMaps("default").DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "keep=false"})
		if err != nil {
			t.Fatal(err)
		}
		left, err := harktest.List[*corev1.ConfigMap](s, "default")
		if err != nil || len(left) != 1 || left[0].Name != "b" {
			t.Errorf("left = %v, %v; want b alone", left, err)
		}
	})
}

func TestNamespaceStaysTerminatingUntilItIsFinalized(t *testing.T) {
	server := harktest.Start(t)
	client := clientset(t, server, "application/json")
	n := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "x"}}
	create(t, server, n)
	if n.Labels["kubernetes.io/metadata.name"] != "x" {
		t.Errorf("labels = %v; want the namespace's own name", n.Labels)
	}
	if err := client.CoreV1().Namespaces().Delete(ctx, "x", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := server.Get(ctx, n); err != nil || n.Status.Phase != corev1.NamespaceTerminating {
		t.Fatalf("namespace after Delete = %s, %v; want Terminating", n.Status.Phase, err)
	}
	err := server.Create(ctx, configMap("x", "a", nil))
	if !apierrors.IsForbidden(err) || !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		t.Errorf("Create in a terminating namespace = %v; want Forbidden with its cause", err)
	}
	n.Spec.Finalizers = nil
	if _, err := client.CoreV1().Namespaces().Finalize(ctx, n, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := server.Get(ctx, n); !apierrors.IsNotFound(err) {
		t.Errorf("Get after Finalize = %v; want NotFound", err)
	}
}

func TestEvictionDeletesThePod(t *testing.T) {
	eachEncoding(t, func(t *testing.T, s *harktest.Server, c *kubernetes.Clientset) {
		create(t, s, pod("default", "a"))
		if err := c.CoreV1().Pods("default").EvictV1(ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "a"}}); err != nil {
			t.Fatal(err)
		}
		if err := s.Get(ctx, pod("default", "a")); !apierrors.IsNotFound(err) {
			t.Errorf("Get after the eviction = %v; want NotFound", err)
		}
	})
}

func TestTwoVersionsOfAKindAreOneObject(t *testing.T) {
	eachEncoding(t, func(t *testing.T, s *harktest.Server, c *kubernetes.Clientset) {
		event := &eventsv1.Event{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "e"}, Note: "hello", Reason: "R", Type: "Normal",
			Regarding: corev1.ObjectReference{Kind: "Pod", Name: "a", Namespace: "default"}, Action: "A", ReportingController: "c", ReportingInstance: "i",
		}
		if _, err := c.EventsV1().Events("default").Create(ctx, event, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		list, err := c.CoreV1().Events("default").List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.name=a,reportingComponent=c"})
		if err != nil || len(list.Items) != 1 || list.Items[0].Message != "hello" {
			t.Fatalf("core events = %+v, %v; want the one created in events.k8s.io", list, err)
		}
		hpa := &autoscalingv1.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Name: "h"}, Spec: autoscalingv1.HorizontalPodAutoscalerSpec{MaxReplicas: 3, TargetCPUUtilizationPercentage: new(int32(50))}}
		if _, err := c.AutoscalingV1().HorizontalPodAutoscalers("default").Create(ctx, hpa, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		two, err := c.AutoscalingV2().HorizontalPodAutoscalers("default").Get(ctx, "h", metav1.GetOptions{})
		if err != nil || len(two.Spec.Metrics) != 1 || *two.Spec.Metrics[0].Resource.Target.AverageUtilization != 50 {
			t.Fatalf("v2 = %+v, %v", two, err)
		}
		two.Spec.Metrics = append(two.Spec.Metrics, autoscalingv2.MetricSpec{Type: autoscalingv2.PodsMetricSourceType, Pods: &autoscalingv2.PodsMetricSource{Metric: autoscalingv2.MetricIdentifier{Name: "m"}, Target: autoscalingv2.MetricTarget{Type: autoscalingv2.ValueMetricType}}})
		if _, err := c.AutoscalingV2().HorizontalPodAutoscalers("default").Update(ctx, two, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		one, err := c.AutoscalingV1().HorizontalPodAutoscalers("default").Get(ctx, "h", metav1.GetOptions{})
		if err != nil || *one.Spec.TargetCPUUtilizationPercentage != 50 {
			t.Fatalf("v1 = %+v, %v", one, err)
		}
		one.Spec.MaxReplicas = 9
		if _, err := c.AutoscalingV1().HorizontalPodAutoscalers("default").Update(ctx, one, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		back := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "h"}}
		if err := s.Get(ctx, back); err != nil || len(back.Spec.Metrics) != 2 || back.Spec.MaxReplicas != 9 {
			t.Errorf("v2 after an update in v1 = %+v, %v; want both metrics and 9", back.Spec, err)
		}
	})
}

func TestDryRunStoresNothing(t *testing.T) {
	server := harktest.Start(t)
	client := clientset(t, server, "application/json")
	create(t, server, configMap("default", "a", nil))
	before := server.Version()
	all := []string{metav1.DryRunAll}
	maps := client.CoreV1().ConfigMaps("default")
	if got, err := maps.Create(ctx, configMap("", "b", nil), metav1.CreateOptions{DryRun: all}); err != nil || got.UID == "" {
		t.Errorf("Create = %+v, %v", got, err)
	}
	if _, err := maps.Create(ctx, configMap("", "a", nil), metav1.CreateOptions{DryRun: all}); !apierrors.IsAlreadyExists(err) {
		t.Errorf("Create of what exists = %v; want AlreadyExists", err)
	}
	if got, err := maps.Update(ctx, configMap("", "a", map[string]string{"x": "y"}), metav1.UpdateOptions{DryRun: all}); err != nil || got.Data["x"] != "y" {
		t.Errorf("Update = %+v, %v", got, err)
	}
	if _, err := maps.Patch(ctx, "a", types.MergePatchType, []byte(`{"data":{"x":"y"}}`), metav1.PatchOptions{DryRun: all}); err != nil {
		t.Errorf("Patch = %v", err)
	}
	if err := maps.Delete(ctx, "a", metav1.DeleteOptions{DryRun: all}); err != nil {
		t.Errorf("Delete = %v", err)
	}
	if server.Version() != before {
		t.Errorf("version went from %d to %d", before, server.Version())
	}
}

func TestPreloadKeepsObjectsAsTheyAre(t *testing.T) {
	server := harktest.Start(t)
	p := pod("elsewhere", "a")
	p.Status.Phase, p.UID = corev1.PodRunning, "kept"
	if err := server.Preload(p.DeepCopy(), pod("elsewhere", "b")); err != nil {
		t.Fatal(err)
	}
	got := pod("elsewhere", "a")
	if err := server.Get(ctx, got); err != nil || got.Status.Phase != corev1.PodRunning || got.UID != "kept" || got.ResourceVersion == "" || got.Generation != 1 {
		t.Errorf("preloaded pod = %+v, %v", got, err)
	}
	if err := server.Preload(pod("elsewhere", "b")); !apierrors.IsAlreadyExists(err) {
		t.Errorf("Preload of what exists = %v; want AlreadyExists", err)
	}
	list, err := clientset(t, server, "application/json").CoreV1().Pods("elsewhere").List(ctx, metav1.ListOptions{FieldSelector: "status.phase=Running"})
	if err != nil || len(list.Items) != 1 {
		t.Errorf("running pods = %+v, %v; want one", list, err)
	}
	if err := server.Change(ctx, got, func() { got.Labels = map[string]string{"a": "b"} }); err != nil || got.Status.Phase != corev1.PodRunning {
		t.Errorf("Change of a preloaded pod = %+v, %v", got, err)
	}
}
