package harktest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
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
		hpa := &autoscalingv1.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Name: "h"}, Spec: autoscalingv1.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv1.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "d"}, MaxReplicas: 3, TargetCPUUtilizationPercentage: new(int32(50))}}
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

func TestAPreloadedPodWithoutAPhaseIsPending(t *testing.T) {
	server := harktest.Start(t)
	if err := server.Preload(pod("default", "a")); err != nil {
		t.Fatal(err)
	}
	got := pod("default", "a")
	if err := server.Get(ctx, got); err != nil || got.Status.Phase != corev1.PodPending {
		t.Errorf("phase %q, %v; want Pending", got.Status.Phase, err)
	}
}

// The server has "default" from the start, and a dump has it too.
func TestAPreloadedNamespaceReplacesTheOneThatExists(t *testing.T) {
	server := harktest.Start(t)
	n := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default", UID: "of the dump", Labels: map[string]string{"a": "b"}}}
	if err := server.Preload(pod("other", "a"), n, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "other", UID: "too"}}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]types.UID{"default": "of the dump", "other": "too"} {
		got := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if err := server.Get(ctx, got); err != nil || got.UID != want || name == "default" && got.Labels["a"] != "b" {
			t.Errorf("namespace %s: %+v, %v; want UID %q", name, got, err, want)
		}
	}
}

func TestSetupIsDoneBeforeTheServerListens(t *testing.T) {
	server := harktest.StartWith(t, harktest.Options{Setup: func(s *harktest.Server) error {
		if s.URL() != "http://" {
			t.Errorf("the server listens already, at %s", s.URL())
		}
		return s.Preload(pod("default", "a"))
	}})
	if err := server.Get(ctx, pod("default", "a")); err != nil {
		t.Error(err)
	}
	wrong := errors.New("wrong")
	if _, err := harktest.New(harktest.Options{Setup: func(*harktest.Server) error { return wrong }}); err != wrong {
		t.Errorf("New = %v; want the error of Setup", err)
	}
}

func TestLoadReadsJSONAndYAML(t *testing.T) {
	const documents = `
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
---
---
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: b, namespace: other}}
- {apiVersion: v1, kind: Node, metadata: {name: one, resourceVersion: "77"}}
`
	for text, want := range map[string]int{
		documents: 3,
		`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"}}` + "\n" + `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"q"}}`: 2,
		"": 0,
	} {
		s := harktest.Start(t)
		if n, err := s.Load(strings.NewReader(text)); err != nil || n != want {
			t.Errorf("Load(%.30q) = %d, %v; want %d", text, n, err, want)
		}
	}
	for _, text := range []string{"{", "kind: Nothing\napiVersion: v1\nmetadata: {name: a}", "- a", "kind: Pod\napiVersion: v1"} {
		s := harktest.Start(t)
		if n, err := s.Load(strings.NewReader(text)); err == nil || n != 0 {
			t.Errorf("Load(%q) = %d, %v; want an error", text, n, err)
		}
	}
}

func TestLoadedDefinitionServesTheObjectsBelowIt(t *testing.T) {
	s := harktest.Start(t)
	n, err := s.Load(strings.NewReader(colours + "\n---\n{apiVersion: example.com/v1, kind: Colour, metadata: {name: red}}\n"))
	if err != nil || n != 2 {
		t.Fatalf("Load = %d, %v; want 2", n, err)
	}
}
