package harktest_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gocampus/hark/harktest"
)

// Put stores whatever it is given, as it is, and Drop takes it away.
func TestObjectsArePutAndDroppedAsTheyAre(t *testing.T) {
	server := harktest.Start(t)
	now := metav1.Now()
	dying := func(phase corev1.PodPhase) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "new", Name: "p", UID: "u", DeletionTimestamp: &now, Finalizers: []string{"example.com/x"}},
			Status:     corev1.PodStatus{Phase: phase},
		}
	}
	var versions []string
	for _, phase := range []corev1.PodPhase{corev1.PodPending, corev1.PodRunning} {
		if err := server.Put(dying(phase)); err != nil {
			t.Fatal(err)
		}
		got := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "new", Name: "p"}}
		if err := server.Get(t.Context(), got); err != nil || got.Status.Phase != phase || got.UID != "u" || got.DeletionTimestamp == nil {
			t.Errorf("%v, %v; want it as it was put, %s", got, err, phase)
		}
		versions = append(versions, got.ResourceVersion)
	}
	if versions[0] == versions[1] {
		t.Errorf("one version for two states: %v", versions)
	}
	gone := dying("")
	for range 2 {
		if err := server.Drop(gone); err != nil {
			t.Fatal(err)
		}
	}
	if err := server.Get(t.Context(), dying("")); !apierrors.IsNotFound(err) {
		t.Errorf("after Drop: %v", err)
	}
}
