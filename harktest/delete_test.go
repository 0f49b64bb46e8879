package harktest_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/gocampus/hark/harktest"
)

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
	if err := server.Get(ctx, running); err != nil || running.DeletionTimestamp == nil || *running.DeletionGracePeriodSeconds != 30 || running.Generation != 2 {
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
