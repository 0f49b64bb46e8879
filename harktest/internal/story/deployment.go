package story

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/gocampus/hark/key"
)

// revisionAnnotation numbers the templates of a deployment.
const revisionAnnotation = "deployment.kubernetes.io/revision"

// playDeployment keeps one replica set for the deployment's template and gives
// it the replicas of older ones as its own pods become ready.
func (s *Story) playDeployment(it item) time.Duration {
	d := get[appsv1.Deployment](s, it)
	if d == nil || d.DeletionTimestamp != nil || d.Spec.Selector == nil {
		return 0
	}
	sets := s.setsOf(d)
	hash := templateHash(&d.Spec.Template)
	i := slices.IndexFunc(sets, func(set *appsv1.ReplicaSet) bool { return set.Labels[appsv1.DefaultDeploymentUniqueLabelKey] == hash })
	if i < 0 {
		if d.Spec.Paused {
			return 0
		}
		return s.roll(it, d, hash, nextRevision(sets))
	}
	newest := sets[i]
	old := slices.Delete(slices.Clone(sets), i, i+1)
	want := *d.Spec.Replicas
	s.scaleSet(newest, want)
	spare := max(0, want-newest.Status.ReadyReplicas) // old pods that are still needed
	for _, set := range old {
		keep := min(*set.Spec.Replicas, spare)
		spare -= keep
		s.scaleSet(set, keep)
	}
	s.reportDeployment(it, newest, sets)
	return 0
}

// roll makes the replica set of a new template, whose event brings us here again. The
// deployment says when that fails.
func (s *Story) roll(it item, d *appsv1.Deployment, hash string, revision int) time.Duration {
	name := setName(d.Name, hash)
	err := s.createSet(d, name, hash, revision)
	if err == nil {
		return 0
	}
	s.reportFailure(it, fmt.Sprintf("Failed to create new replica set %q: %v", name, err))
	if apierrors.IsInvalid(err) {
		return 0 // until somebody changes it
	}
	return retry
}

// setName shortens a deployment's name so that the hash has room behind it, as the
// controller does.
func setName(deployment, hash string) string {
	return deployment[:min(len(deployment), validation.DNS1123SubdomainMaxLength-len(hash)-1)] + "-" + hash
}

func (s *Story) setsOf(d *appsv1.Deployment) []*appsv1.ReplicaSet {
	var sets []*appsv1.ReplicaSet
	for dependent := range s.owned[d.UID] {
		if dependent.kind.Storage() != "replicasets.apps" {
			continue
		}
		if set := get[appsv1.ReplicaSet](s, dependent); set != nil && set.DeletionTimestamp == nil && metav1.IsControlledBy(set, d) {
			sets = append(sets, set)
		}
	}
	slices.SortFunc(sets, func(a, b *appsv1.ReplicaSet) int { return revision(a) - revision(b) })
	return sets
}

func revision(set *appsv1.ReplicaSet) int {
	n, err := strconv.Atoi(set.Annotations[revisionAnnotation])
	if err != nil {
		return 0 // not ours
	}
	return n
}

func nextRevision(sets []*appsv1.ReplicaSet) int {
	last := 0
	for _, set := range sets {
		last = max(last, revision(set))
	}
	return last + 1
}

// templateHash names a template.
func templateHash(t *corev1.PodTemplateSpec) string {
	data, err := json.Marshal(t)
	if err != nil {
		panic("story: a pod template does not encode: " + err.Error())
	}
	h := fnv.New32a()
	_, _ = h.Write(data)
	return rand.SafeEncodeString(fmt.Sprint(h.Sum32()))
}

func (s *Story) createSet(d *appsv1.Deployment, name, hash string, revision int) error {
	label := func(m map[string]string) map[string]string {
		m = maps.Clone(m)
		if m == nil {
			m = map[string]string{}
		}
		m[appsv1.DefaultDeploymentUniqueLabelKey] = hash
		return m
	}
	set := &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: d.Namespace, Labels: label(d.Spec.Template.Labels),
			Annotations:     map[string]string{revisionAnnotation: strconv.Itoa(revision)},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(d, appsv1.SchemeGroupVersion.WithKind("Deployment"))},
		},
		Spec: appsv1.ReplicaSetSpec{
			Replicas: new(*d.Spec.Replicas), Selector: d.Spec.Selector.DeepCopy(), Template: *d.Spec.Template.DeepCopy(), MinReadySeconds: d.Spec.MinReadySeconds,
		},
	}
	set.Spec.Selector.MatchLabels = label(set.Spec.Selector.MatchLabels)
	set.Spec.Template.Labels = label(set.Spec.Template.Labels)
	t := item{s.kindOf(appsv1.SchemeGroupVersion, "replicasets"), key.Key{Namespace: d.Namespace, Name: set.Name}}.target()
	_, err := s.service.Create(t, set, s.write())
	return err
}

func (s *Story) scaleSet(set *appsv1.ReplicaSet, replicas int32) {
	if *set.Spec.Replicas == replicas {
		return
	}
	t := item{s.kindOf(appsv1.SchemeGroupVersion, "replicasets"), key.Key{Namespace: set.Namespace, Name: set.Name}}.target()
	// A set that is gone is made anew when its event is seen.
	_, _ = s.service.Update(t, func(current runtime.Object) (runtime.Object, error) {
		changed := current.(*appsv1.ReplicaSet)
		changed.Spec.Replicas = &replicas
		return changed, nil
	}, s.write())
}

func (s *Story) reportDeployment(it item, newest *appsv1.ReplicaSet, sets []*appsv1.ReplicaSet) {
	t := it.target()
	t.Subresource = "status"
	// A deployment that is gone needs no status.
	_, _ = s.service.Update(t, func(current runtime.Object) (runtime.Object, error) {
		d := current.(*appsv1.Deployment)
		if d.Annotations == nil {
			d.Annotations = map[string]string{}
		}
		d.Annotations[revisionAnnotation] = strconv.Itoa(revision(newest))
		status := &d.Status
		status.Replicas, status.ReadyReplicas = 0, 0
		for _, set := range sets {
			status.Replicas += set.Status.Replicas
			status.ReadyReplicas += set.Status.ReadyReplicas
		}
		status.AvailableReplicas = status.ReadyReplicas
		status.UpdatedReplicas = newest.Status.Replicas
		status.UnavailableReplicas = max(0, *d.Spec.Replicas-status.AvailableReplicas)
		status.ObservedGeneration = d.Generation
		available := status.AvailableReplicas >= *d.Spec.Replicas
		condition(status, appsv1.DeploymentAvailable, available, map[bool]string{true: "MinimumReplicasAvailable", false: "MinimumReplicasUnavailable"}[available], "")
		complete := available && newest.Status.ReadyReplicas == *d.Spec.Replicas
		condition(status, appsv1.DeploymentProgressing, true, map[bool]string{true: "NewReplicaSetAvailable", false: "ReplicaSetUpdated"}[complete], "")
		return d, nil
	}, s.write())
}

// setFailed is the reason, of a condition and an Event, when no replica set can be made.
const setFailed = "ReplicaSetCreateError"

// reportFailure says in the status, and once in an Event, why a deployment does not go on.
func (s *Story) reportFailure(it item, message string) {
	d := get[appsv1.Deployment](s, it)
	if d == nil || slices.ContainsFunc(d.Status.Conditions, func(c appsv1.DeploymentCondition) bool { return c.Reason == setFailed && c.Message == message }) {
		return
	}
	t := it.target()
	t.Subresource = "status"
	_, err := s.service.Update(t, func(current runtime.Object) (runtime.Object, error) {
		failed := current.(*appsv1.Deployment)
		condition(&failed.Status, appsv1.DeploymentProgressing, false, setFailed, message)
		failed.Status.ObservedGeneration = failed.Generation
		return failed, nil
	}, s.write())
	if err == nil { // otherwise it is gone
		s.tell(about{kind: appsv1.SchemeGroupVersion.WithKind("Deployment"), object: d}, corev1.EventTypeWarning, setFailed, "deployment-controller", message)
	}
}

// condition sets a condition; its times change only when it does.
func condition(status *appsv1.DeploymentStatus, kind appsv1.DeploymentConditionType, holds bool, reason, message string) {
	value := corev1.ConditionFalse
	if holds {
		value = corev1.ConditionTrue
	}
	at := now()
	for i := range status.Conditions {
		c := &status.Conditions[i]
		if c.Type != kind {
			continue
		}
		if c.Status != value {
			c.LastTransitionTime = at
		}
		if c.Status != value || c.Reason != reason {
			c.LastUpdateTime = at
		}
		c.Status, c.Reason, c.Message = value, reason, message
		return
	}
	status.Conditions = append(status.Conditions, appsv1.DeploymentCondition{
		Type: kind, Status: value, Reason: reason, Message: message, LastTransitionTime: at, LastUpdateTime: at,
	})
}
