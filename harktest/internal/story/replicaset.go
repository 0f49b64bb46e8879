package story

import (
	"cmp"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// playReplicaSet brings the number of a replica set's pods to what it wants.
func (s *Story) playReplicaSet(it item) time.Duration {
	set := get[appsv1.ReplicaSet](s, it)
	if set == nil {
		return 0
	}
	pods := s.podsOf(set)
	if set.DeletionTimestamp == nil && !s.scalePods(set, pods) {
		return retry
	}
	ready := 0
	for _, p := range pods {
		if isReady(p) {
			ready++
		}
	}
	s.reportReplicaSet(it, int32(len(pods)), int32(ready))
	return 0
}

// podsOf returns the live pods of a replica set, those that are to be deleted first in front.
func (s *Story) podsOf(set *appsv1.ReplicaSet) []*corev1.Pod {
	var pods []*corev1.Pod
	for dependent := range s.owned[set.UID] {
		if dependent.kind.Storage() != "pods" {
			continue
		}
		pod := get[corev1.Pod](s, dependent)
		if pod == nil || pod.DeletionTimestamp != nil || pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded {
			continue
		}
		if metav1.IsControlledBy(pod, set) {
			pods = append(pods, pod)
		}
	}
	slices.SortFunc(pods, func(a, b *corev1.Pod) int {
		if x, y := isReady(a), isReady(b); x != y {
			return map[bool]int{true: 1, false: -1}[x]
		}
		return cmp.Or(b.CreationTimestamp.Compare(a.CreationTimestamp.Time), cmp.Compare(b.Name, a.Name))
	})
	return pods
}

func isReady(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// scalePods creates or deletes pods; it returns false when that failed.
func (s *Story) scalePods(set *appsv1.ReplicaSet, pods []*corev1.Pod) bool {
	want := int(*set.Spec.Replicas)
	t := item{kind: s.podKind()}.target()
	t.Namespace = set.Namespace
	for range want - len(pods) {
		pod := &corev1.Pod{ObjectMeta: *set.Spec.Template.ObjectMeta.DeepCopy(), Spec: *set.Spec.Template.Spec.DeepCopy()}
		pod.GenerateName, pod.Name, pod.Namespace = set.Name+"-", "", set.Namespace
		pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("ReplicaSet"))}
		if _, err := s.service.Create(t, pod, s.write()); err != nil {
			return false
		}
	}
	for _, pod := range pods[:max(0, len(pods)-want)] {
		t.Name = pod.Name
		// One that is gone already is as good.
		_, _, _ = s.service.Delete(t, metav1.DeleteOptions{}, false)
	}
	return true
}

func (s *Story) reportReplicaSet(it item, replicas, ready int32) {
	t := it.target()
	t.Subresource = "status"
	// A set that is gone needs no status.
	_, _ = s.service.Update(t, func(current runtime.Object) (runtime.Object, error) {
		set := current.(*appsv1.ReplicaSet)
		set.Status.Replicas, set.Status.FullyLabeledReplicas = replicas, replicas
		set.Status.ReadyReplicas, set.Status.AvailableReplicas = ready, ready
		set.Status.ObservedGeneration = set.Generation
		return set, nil
	}, s.write())
}
