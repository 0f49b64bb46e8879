package harktest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gocampus/hark/harktest"
)

// told runs a test beside a story, in virtual time.
func told(t *testing.T, o harktest.StoryOptions, test func(t *testing.T, s *harktest.Server)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		test(t, harktest.StartWith(t, harktest.Options{InMemory: true, Story: &o}))
	})
}

// podLine says where a pod is: "Running node-1 10.244.0.1 1/1".
func podLine(p *corev1.Pod) string {
	ready := 0
	for _, c := range p.Status.ContainerStatuses {
		if c.Ready && c.State.Running != nil {
			ready++
		}
	}
	line := fmt.Sprintf("%s %s %s %d/%d", p.Status.Phase, p.Spec.NodeName, p.Status.PodIP, ready, len(p.Spec.Containers))
	if p.DeletionTimestamp != nil {
		line += " terminating"
	}
	return line
}

func TestPodIsScheduledStartedAndStopped(t *testing.T) {
	told(t, harktest.StoryOptions{}, func(t *testing.T, s *harktest.Server) {
		w, err := clientset(t, s, jsonType).CoreV1().Pods("default").Watch(ctx, metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Stop()
		start := time.Now()
		var got []string
		next := func() {
			e := <-w.ResultChan()
			got = append(got, fmt.Sprintf("%v %s %s", time.Since(start), e.Type, podLine(e.Object.(*corev1.Pod))))
		}
		create(t, s, pod("default", "tmp"))
		next()
		next()
		next()
		start = time.Now()
		if err := s.Delete(ctx, pod("default", "tmp")); err != nil {
			t.Fatal(err)
		}
		next()
		next()
		next()
		diff(t, "the pod's life", got, []string{
			"0s ADDED Pending   0/1",
			"200ms MODIFIED Pending node-1  0/1",
			"1s MODIFIED Running node-1 10.244.0.1 1/1",
			"0s MODIFIED Running node-1 10.244.0.1 1/1 terminating",
			"500ms MODIFIED Running node-1 10.244.0.1 1/1 terminating", // without grace
			"500ms DELETED Running node-1 10.244.0.1 1/1 terminating",
		})
		events, err := harktest.List[*corev1.Event](s, "default")
		if err != nil || len(events) != 5 {
			t.Errorf("%d Events, %v; want Scheduled, Pulled, Created, Started, Killing", len(events), err)
		}
	})
}

func TestDelaysAndNodesCanBeSet(t *testing.T) {
	told(t, harktest.StoryOptions{Nodes: 3, ScheduleDelay: time.Hour, StartDelay: time.Minute, StopDelay: time.Second}, func(t *testing.T, s *harktest.Server) {
		for i := range 3 {
			create(t, s, pod("default", fmt.Sprint(i)))
		}
		time.Sleep(time.Hour + time.Minute + time.Millisecond)
		nodes := map[string]bool{}
		pods, err := harktest.List[*corev1.Pod](s, "default")
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range pods {
			if p.Status.Phase != corev1.PodRunning {
				t.Errorf("pod %s is %s", p.Name, p.Status.Phase)
			}
			nodes[p.Spec.NodeName] = true
		}
		if len(nodes) != 3 {
			t.Errorf("pods are on %v; want three nodes", nodes)
		}
	})
}

// settle lets the story go on until nothing is left to do.
func settle() { time.Sleep(10 * time.Second); synctest.Wait() }

// names of the live pods of a server.
func livePods(t *testing.T, s *harktest.Server, namespace string) (names []string) {
	t.Helper()
	pods, err := harktest.List[*corev1.Pod](s, namespace)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pods {
		names = append(names, p.Name)
	}
	return names
}

func TestDeploymentScalesAndRollsOut(t *testing.T) {
	told(t, harktest.StoryOptions{}, func(t *testing.T, s *harktest.Server) {
		d := deployment("web", 2)
		create(t, s, d)
		check := func(what string, replicas int32, image string) {
			t.Helper()
			settle()
			if err := s.Get(ctx, d); err != nil {
				t.Fatal(err)
			}
			got := fmt.Sprint(d.Status.Replicas, d.Status.ReadyReplicas, d.Status.UpdatedReplicas, d.Status.AvailableReplicas, d.Status.ObservedGeneration == d.Generation)
			if want := fmt.Sprint(replicas, replicas, replicas, replicas, true); got != want {
				t.Errorf("%s: status %s; want %s", what, got, want)
			}
			pods, err := harktest.List[*corev1.Pod](s, "default")
			if err != nil || len(pods) != int(replicas) {
				t.Errorf("%s: %d pods, %v; want %d", what, len(pods), err, replicas)
			}
			for _, p := range pods {
				if p.Spec.Containers[0].Image != image || p.Status.Phase != corev1.PodRunning {
					t.Errorf("%s: pod %s has %s and is %s; want %s, Running", what, p.Name, p.Spec.Containers[0].Image, p.Status.Phase, image)
				}
			}
		}
		check("created", 2, "nginx:1.27")
		if err := s.Change(ctx, d, func() { *d.Spec.Replicas = 3 }); err != nil {
			t.Fatal(err)
		}
		check("scaled up", 3, "nginx:1.27")
		if err := s.Change(ctx, d, func() { d.Spec.Template.Spec.Containers[0].Image = "nginx:2" }); err != nil {
			t.Fatal(err)
		}
		check("rolled out", 3, "nginx:2")
		if err := s.Change(ctx, d, func() { *d.Spec.Replicas = 1 }); err != nil {
			t.Fatal(err)
		}
		check("scaled down", 1, "nginx:2")
		if err := s.Delete(ctx, pod("default", livePods(t, s, "default")[0])); err != nil {
			t.Fatal(err)
		}
		check("a pod deleted", 1, "nginx:2")
		if d.Annotations["deployment.kubernetes.io/revision"] != "2" {
			t.Errorf("annotations = %v; want revision 2", d.Annotations)
		}
	})
}

func TestOwnedObjectsGoWithTheirOwners(t *testing.T) {
	for policy, want := range map[metav1.DeletionPropagation]int{
		metav1.DeletePropagationBackground: 0, metav1.DeletePropagationForeground: 0, metav1.DeletePropagationOrphan: 2,
	} {
		t.Run(string(policy), func(t *testing.T) {
			told(t, harktest.StoryOptions{}, func(t *testing.T, s *harktest.Server) {
				d := deployment("web", 2)
				create(t, s, d)
				settle()
				if err := s.Delete(ctx, d, metav1.DeleteOptions{PropagationPolicy: &policy}); err != nil {
					t.Fatal(err)
				}
				settle()
				if err := s.Get(ctx, d); !apierrors.IsNotFound(err) {
					t.Errorf("the owner: %v; want NotFound", err)
				}
				sets, err := harktest.List[*appsv1.ReplicaSet](s, "default")
				if err != nil || len(sets) != min(want, 1) {
					t.Errorf("%d replica sets, %v; want %d", len(sets), err, min(want, 1))
				}
				if got := len(livePods(t, s, "default")); got != want {
					t.Errorf("%d pods; want %d", got, want)
				}
				if want > 0 && len(sets) == 1 && len(sets[0].OwnerReferences) != 0 {
					t.Errorf("the orphan still has owners: %v", sets[0].OwnerReferences)
				}
			})
		})
	}
}

func TestObjectOfAnOwnerThatNeverWasIsCollected(t *testing.T) {
	told(t, harktest.StoryOptions{}, func(t *testing.T, s *harktest.Server) {
		m := configMap("default", "a", nil)
		m.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "b", UID: "gone"}}
		create(t, s, m)
		settle()
		if err := s.Get(ctx, m); !apierrors.IsNotFound(err) {
			t.Errorf("Get = %v; want NotFound", err)
		}
	})
}

func TestDeletedNamespaceIsEmptiedAndGoes(t *testing.T) {
	told(t, harktest.StoryOptions{}, func(t *testing.T, s *harktest.Server) {
		n := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "x"}}
		create(t, s, n, configMap("x", "a", nil), pod("x", "p"))
		d := deployment("web", 2)
		d.Namespace = "x"
		create(t, s, d)
		settle()
		if err := s.Delete(ctx, n); err != nil {
			t.Fatal(err)
		}
		settle()
		if err := s.Get(ctx, n); !apierrors.IsNotFound(err) {
			t.Errorf("Get = %v; want NotFound; pods left: %v", err, livePods(t, s, "x"))
		}
		if left := livePods(t, s, "x"); len(left) != 0 {
			t.Errorf("pods left: %v", left)
		}
	})
}

func TestStoryEndsWithItsContext(t *testing.T) {
	s := harktest.Start(t)
	stopped := errors.New("enough")
	storyCtx, cancel := context.WithCancelCause(context.Background())
	cancel(stopped)
	if err := s.RunStory(storyCtx, harktest.StoryOptions{}); !errors.Is(err, stopped) {
		t.Errorf("RunStory = %v; want the context's cause", err)
	}
	nodes, err := harktest.List[*corev1.Node](s, "")
	if err != nil || len(nodes) != 1 || !strings.HasPrefix(nodes[0].Name, "node-") {
		t.Errorf("nodes = %v, %v; want node-1", nodes, err)
	}
}

// Whoever shows the story holds it back until a cause is shown: the pods of a
// deployment do not come before the deployment was let through.
func TestStoryWaitsBeforeItReacts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shown := make(chan struct{})
		before := func(ctx context.Context, resource schema.GroupVersionResource, _ metav1.Object) {
			if resource.Resource == "deployments" {
				select {
				case <-shown:
				case <-ctx.Done():
				}
			}
		}
		s := harktest.StartWith(t, harktest.Options{InMemory: true, Story: &harktest.StoryOptions{BeforeReaction: before}})
		create(t, s, deployment("web", 1))
		settle()
		if pods := livePods(t, s, "default"); len(pods) != 0 {
			t.Errorf("pods %v before the deployment was let through", pods)
		}
		close(shown)
		settle()
		if pods := livePods(t, s, "default"); len(pods) != 1 {
			t.Errorf("pods %v after it; want one", pods)
		}
	})
}
