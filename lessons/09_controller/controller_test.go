package main

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gocampus/hark/harktest"
)

func TestReplicasAreThoseOfTheLabel(t *testing.T) {
	for label, want := range map[string]int32{"3": 3, "0": 0, "2147483647": 2147483647} {
		_, got, err := replicas(deployment("web", label))
		if err != nil || got != want {
			t.Errorf("label %q asks for %d, %v; want %d", label, got, err, want)
		}
	}
	for _, label := range []string{"", "three", "-1", "2147483648"} {
		if _, got, err := replicas(deployment("web", label)); err == nil {
			t.Errorf("label %q asks for %d; want an error", label, got)
		}
	}
	absent := deployment("web", "3")
	absent.Spec.Replicas = nil
	if have, _, _ := replicas(absent); have != 1 {
		t.Errorf("an absent number means %d replicas; want 1", have)
	}
}

func TestDeploymentGoesFromOneReplicaToThreeAndBackToThree(t *testing.T) {
	withBothEngines(t, func(t *testing.T, w *world) {
		web := deployment("web", "3")
		must(t, w.Create(t.Context(), web))
		time.Sleep(time.Second)
		w.wantReplicas(web, 3)

		// Somebody else has another opinion: no event is special to the controller.
		must(t, w.Change(t.Context(), web, func() { web.Spec.Replicas = new(int32(2)) }))
		time.Sleep(time.Second)
		w.wantReplicas(web, 3)

		must(t, w.Change(t.Context(), web, func() { web.Spec.Replicas = new(int32(5)) }))
		time.Sleep(time.Second)
		w.wantReplicas(web, 5) // "at least"
		w.wantLines("default/web 副本 1 → 3", "default/web 副本 2 → 3")
	})
}

func TestDeploymentThatWasThereBeforeIsScaledToo(t *testing.T) {
	for name, control := range engines {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				web := deployment("web", "3")
				must(t, w.Create(t.Context(), web))
				w.start(control)
				time.Sleep(time.Second)
				w.wantReplicas(web, 3)
			})
		})
	}
}

func TestDeploymentWithoutTheLabelIsLeftAlone(t *testing.T) {
	withBothEngines(t, func(t *testing.T, w *world) {
		other := deployment("other", "3")
		other.Labels = nil
		must(t, w.Create(t.Context(), other))
		time.Sleep(time.Minute)
		w.wantReplicas(other, 1)
		w.wantLines()
	})
}

func TestFailedCallIsRetriedAfterAPause(t *testing.T) {
	withBothEngines(t, func(t *testing.T, w *world) {
		w.Inject(harktest.Fault{Verb: "update", Subresource: "scale", Code: 403, Times: 2})
		web := deployment("web", "3")
		begin := time.Now()
		must(t, w.Create(t.Context(), web))
		time.Sleep(time.Second)
		if took := w.lastLine().Sub(begin); took != 30*time.Millisecond {
			t.Errorf("the third try came after %v; want 10 ms + 20 ms", took)
		}
		w.wantReplicas(web, 3)
		w.wantLines("default/web 失败，退避后重试", "default/web 失败，退避后重试", "default/web 副本 1 → 3")
	})
}

// TestOldCacheCostsATryAndUndoesNothing: while the first call is under way the
// Deployment changes. The call, made with the version read before, is refused.
func TestOldCacheCostsATryAndUndoesNothing(t *testing.T) {
	withBothEngines(t, func(t *testing.T, w *world) {
		w.Inject(harktest.Fault{Verb: "update", Subresource: "scale", Delay: time.Second, Times: 1})
		web := deployment("web", "3")
		must(t, w.Create(t.Context(), web))
		synctest.Wait() // the call waits at the server
		must(t, w.Change(t.Context(), web, func() { web.Spec.Replicas = new(int32(4)) }))
		time.Sleep(time.Minute)
		w.wantReplicas(web, 4)
		w.wantLines("default/web 失败，退避后重试")
	})
}

func TestBadLabelIsParkedUntilItIsMended(t *testing.T) {
	withBothEngines(t, func(t *testing.T, w *world) {
		web := deployment("web", "three")
		must(t, w.Create(t.Context(), web))
		time.Sleep(resyncPeriod / 2)
		w.wantLines("default/web 搁置，等待变化")
		must(t, w.Change(t.Context(), web, func() { web.Labels[minReplicas] = "3" }))
		time.Sleep(time.Second)
		w.wantReplicas(web, 3)
	})
}

func TestDeletedDeploymentNeedsNoWork(t *testing.T) {
	withBothEngines(t, func(t *testing.T, w *world) {
		web := deployment("web", "1")
		must(t, w.Create(t.Context(), web))
		synctest.Wait()
		must(t, w.Delete(t.Context(), web))
		time.Sleep(time.Minute)
		w.wantLines()
	})
}

func TestMissingPermissionIsSaidAndMendedWithoutARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		grant := w.Inject(harktest.Fault{Resource: "deployments.apps", Code: 403})
		w.start(controlWithHark)
		synctest.Wait()
		w.wantLines("暂时听不到，稍后重试")
		grant()
		web := deployment("web", "3")
		must(t, w.Create(t.Context(), web))
		time.Sleep(time.Minute)
		w.wantReplicas(web, 3)
	})
}

func TestRunThatNeverGotItsListSaysWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.Inject(harktest.Fault{Resource: "deployments.apps", Code: 403, Message: "you shall not list"})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := controlWithHark(ctx, w.Config(), "default", w.print)
		if err == nil || !strings.Contains(err.Error(), "you shall not list") {
			t.Errorf("the controller ended with %v; want the server's reason", err)
		}
	})
}

// world is a server, and what the controller that looks after it printed.
type world struct {
	*harktest.Server
	t *testing.T

	mu    sync.Mutex
	lines []string
	last  time.Time // when the last line was printed
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return &world{Server: harktest.StartWith(t, harktest.Options{InMemory: true}), t: t}
}

// withBothEngines runs a test for each engine, while it controls a world.
func withBothEngines(t *testing.T, test func(t *testing.T, w *world)) {
	for name, control := range engines {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.start(control)
				synctest.Wait()
				test(t, w)
			})
		})
	}
}

// start runs an engine until the test ends, and waits for its end.
func (w *world) start(control engine) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := control(ctx, w.Config(), "default", w.print); err != nil {
			w.t.Error(err)
		}
	})
	w.t.Cleanup(func() {
		cancel()
		running.Wait()
	})
}

func (w *world) print(line string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lines = append(w.lines, line)
	w.last = time.Now()
}

func (w *world) lastLine() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last
}

func (w *world) wantReplicas(d *appsv1.Deployment, want int32) {
	w.t.Helper()
	synctest.Wait()
	must(w.t, w.Get(w.t.Context(), d))
	if got := *d.Spec.Replicas; got != want {
		w.t.Errorf("%s has %d replicas; want %d", d.Name, got, want)
	}
}

// wantLines compares what was printed, up to the text of an error.
func (w *world) wantLines(want ...string) {
	w.t.Helper()
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	var got []string
	for _, line := range w.lines {
		line, _, _ = strings.Cut(line, ": ")
		got = append(got, line)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		w.t.Errorf("printed (-want +got):\n%s", diff)
	}
}

// deployment has one replica, and a label that asks for others.
func deployment(name, label string) *appsv1.Deployment {
	app := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: map[string]string{minReplicas: label}},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(1)),
			Selector: &metav1.LabelSelector{MatchLabels: app},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: app},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "nginx", Image: "nginx:1.27"}}},
			},
		},
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
