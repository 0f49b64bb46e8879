package service

import (
	"errors"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gocampus/hark/harktest/internal/object"
)

// Bind assigns a pod to a node, as a scheduler asks.
func (s *Service) Bind(t Target, b *corev1.Binding, o WriteOptions) (*object.Version, error) {
	if b.Name != t.Name {
		return nil, BadRequest("name in URL does not match name in Binding object")
	}
	if b.Target.Name == "" {
		return nil, BadRequest("the target of a binding needs a name")
	}
	t.Subresource = "binding"
	return s.Update(t, func(current runtime.Object) (runtime.Object, error) {
		pod := current.(*corev1.Pod)
		switch {
		case b.UID != "" && b.UID != pod.UID:
			return nil, t.conflict(errors.New("the UID in the binding does not match the UID of the pod"))
		case pod.DeletionTimestamp != nil:
			return nil, t.bindingConflict(errors.New("pod " + pod.Name + " is being deleted, cannot be assigned to a host"))
		case pod.Spec.NodeName != "":
			return nil, t.bindingConflict(errors.New("pod " + pod.Name + " is already assigned to node \"" + pod.Spec.NodeName + "\""))
		}
		pod.Spec.NodeName = b.Target.Name
		if pod.Annotations == nil && len(b.Annotations) > 0 {
			pod.Annotations = map[string]string{}
		}
		maps.Copy(pod.Annotations, b.Annotations)
		setCondition(&pod.Status, corev1.PodScheduled)
		return pod, nil
	}, o)
}

func (t Target) bindingConflict(err error) error {
	return apierrors.NewConflict(schema.GroupResource{Resource: "pods/binding"}, t.Name, err)
}

func setCondition(status *corev1.PodStatus, kind corev1.PodConditionType) {
	now := metav1.Time{Time: time.Now().UTC().Truncate(time.Second)}
	for i := range status.Conditions {
		if c := &status.Conditions[i]; c.Type == kind {
			if c.Status != corev1.ConditionTrue {
				c.LastTransitionTime = now
			}
			c.Status, c.Reason, c.Message = corev1.ConditionTrue, "", ""
			return
		}
	}
	status.Conditions = append(status.Conditions, corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: now})
}
