package harktest_test

import (
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gocampus/hark/harktest"
)

// owned makes "a>b" of a and b: b is owned by a and blocks its deletion; "a-b" does
// not block it. Each config map is named once in maps before it is an owner.
func owned(t *testing.T, s *harktest.Server, relations string) map[string]*corev1.ConfigMap {
	t.Helper()
	maps := map[string]*corev1.ConfigMap{}
	named := func(name string) *corev1.ConfigMap {
		if maps[name] == nil {
			maps[name] = configMap("default", name, nil)
			create(t, s, maps[name])
		}
		return maps[name]
	}
	for relation := range strings.FieldsSeq(relations) {
		owner, m := named(relation[:1]), named(relation[2:])
		if err := s.Change(ctx, m, func() {
			m.OwnerReferences = append(m.OwnerReferences, metav1.OwnerReference{
				APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID, BlockOwnerDeletion: new(relation[1] == '>'),
			})
		}); err != nil {
			t.Fatal(err)
		}
	}
	return maps
}

// What a real control plane does with the same objects stands in each line.
func TestForegroundDeletionEndsWhateverOwnsWhat(t *testing.T) {
	const foreground = metav1.DeletePropagationForeground
	for name, tc := range map[string]struct{ relations, deleted, left string }{
		"a chain":                            {"a>b b>c", "a", ""},
		"two that own each other":            {"a>b b>a", "a", ""},
		"without blocking":                   {"a-b b-a", "a", ""},
		"a ring of three":                    {"a>b b>c c>a", "a", ""},
		"a ring below what is deleted":       {"a>b b>c c>b", "a", "b c"}, // who still has an owner lives
		"one with another owner":             {"a>b c>b", "a", "b c"},
		"one whose other owner is gone, too": {"a>b c>b", "ac", ""},
		"one that does not block":            {"a-b a>c", "a", ""},
	} {
		t.Run(name, func(t *testing.T) {
			told(t, harktest.StoryOptions{}, func(t *testing.T, s *harktest.Server) {
				maps := owned(t, s, tc.relations)
				settle()
				for _, name := range tc.deleted {
					if err := s.Delete(ctx, maps[string(name)], metav1.DeleteOptions{PropagationPolicy: new(foreground)}); err != nil {
						t.Fatal(err)
					}
				}
				settle()
				left, err := harktest.List[*corev1.ConfigMap](s, "default")
				if err != nil {
					t.Fatal(err)
				}
				var names []string
				for _, m := range left {
					names = append(names, m.Name)
					for _, ref := range m.OwnerReferences {
						if strings.Contains(tc.deleted, ref.Name) {
							t.Errorf("%s is still owned by %s, which is gone", m.Name, ref.Name)
						}
					}
				}
				if got := strings.Join(names, " "); got != tc.left {
					t.Errorf("left: %q; want %q", got, tc.left)
				}
			})
		})
	}
}

// What the real garbage collector writes when it breaks a ring can be watched.
func TestRingIsBrokenByUnblocking(t *testing.T) {
	told(t, harktest.StoryOptions{}, func(t *testing.T, s *harktest.Server) {
		maps := owned(t, s, "a>b b>a")
		settle()
		w, err := clientset(t, s, jsonType).CoreV1().ConfigMaps("default").Watch(ctx, metav1.ListOptions{ResourceVersion: fmt.Sprint(s.Version())})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Stop()
		if err := s.Delete(ctx, maps["a"], metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationForeground)}); err != nil {
			t.Fatal(err)
		}
		var got []string
		for len(got) < 4 {
			e := <-w.ResultChan()
			m := e.Object.(*corev1.ConfigMap)
			got = append(got, fmt.Sprintf("%s %s %v blocks %v", e.Type, m.Name, m.Finalizers, *m.OwnerReferences[0].BlockOwnerDeletion))
		}
		diff(t, "events", got, []string{
			"MODIFIED a [foregroundDeletion] blocks true",
			"MODIFIED b [] blocks false",
			"DELETED a [foregroundDeletion] blocks true",
			"DELETED b [] blocks false",
		})
	})
}

// An owner in foreground deletion does not wait for one that a client took from it.
func TestForegroundDeletionGoesOnWhenADependentIsSetFree(t *testing.T) {
	told(t, harktest.StoryOptions{}, func(t *testing.T, s *harktest.Server) {
		maps := owned(t, s, "a>b")
		b := maps["b"]
		if err := s.Change(ctx, b, func() { b.Finalizers = []string{"example.com/held"} }); err != nil {
			t.Fatal(err)
		}
		if err := s.Delete(ctx, maps["a"], metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationForeground)}); err != nil {
			t.Fatal(err)
		}
		settle()
		if err := s.Get(ctx, maps["a"]); err != nil {
			t.Fatalf("the owner: %v; want it to wait", err)
		}
		if err := s.Change(ctx, b, func() { b.OwnerReferences = nil }); err != nil {
			t.Fatal(err)
		}
		settle()
		if err := s.Get(ctx, maps["a"]); !apierrors.IsNotFound(err) {
			t.Errorf("the owner: %v; want NotFound", err)
		}
	})
}

func TestDeploymentWithALongNameHasPodsAndEvents(t *testing.T) {
	told(t, harktest.StoryOptions{}, func(t *testing.T, s *harktest.Server) {
		for _, length := range []int{253, 245, 100} {
			d := deployment("web", 1)
			d.Name = strings.Repeat("d", length)
			create(t, s, d)
			settle()
			sets, err := harktest.List[*appsv1.ReplicaSet](s, "default")
			if err != nil || len(sets) != 1 || len(sets[0].Name) > 253 || !strings.HasSuffix(sets[0].Name, "-"+sets[0].Labels[appsv1.DefaultDeploymentUniqueLabelKey]) {
				t.Fatalf("replica sets of a name of %d characters = %v, %v; want one with its hash", length, sets, err)
			}
			pods, err := harktest.List[*corev1.Pod](s, "default")
			if err != nil || len(pods) != 1 || len(pods[0].Name) != 63 {
				t.Fatalf("%d pods of a name of %d characters, %v; want one of 63", len(pods), length, err)
			}
			if err := s.Get(ctx, d); err != nil || d.Status.AvailableReplicas != 1 || len(d.Status.Conditions) == 0 {
				t.Errorf("status of a name of %d characters = %+v, %v; want it available", length, d.Status, err)
			}
			if err := s.Delete(ctx, d, metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)}); err != nil {
				t.Fatal(err)
			}
			settle()
		}
	})
}

// A replica set that cannot be made, here for its template, shows in the deployment.
func TestDeploymentSaysWhyItHasNoReplicaSet(t *testing.T) {
	told(t, harktest.StoryOptions{}, func(t *testing.T, s *harktest.Server) {
		d := deployment("web", 1)
		d.Spec.Template.Spec.Containers = nil
		if err := s.Preload(d); err != nil { // which does not validate
			t.Fatal(err)
		}
		settle()
		d = deployment("web", 1)
		if err := s.Get(ctx, d); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range d.Status.Conditions {
			got = append(got, fmt.Sprintf("%s %s %s", c.Type, c.Status, c.Reason))
		}
		diff(t, "conditions", got, []string{"Progressing False ReplicaSetCreateError"})
		events, err := harktest.List[*corev1.Event](s, "default")
		if err != nil || len(events) != 1 || events[0].Reason != "ReplicaSetCreateError" || events[0].InvolvedObject.Kind != "Deployment" {
			t.Errorf("Events = %v, %v; want one ReplicaSetCreateError", events, err)
		}
	})
}

func TestPodWithALongNameHasEvents(t *testing.T) {
	told(t, harktest.StoryOptions{}, func(t *testing.T, s *harktest.Server) {
		create(t, s, pod("default", strings.Repeat("p", 253)))
		settle()
		events, err := harktest.List[*corev1.Event](s, "default")
		if err != nil || len(events) != 4 {
			t.Errorf("%d Events, %v; want Scheduled, Pulled, Created, Started", len(events), err)
		}
	})
}
