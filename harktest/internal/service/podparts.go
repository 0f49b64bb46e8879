package service

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Two subresources of pods change a part of the spec that an update of the pod cannot.
const (
	ephemeralPart = "ephemeralcontainers"
	resizePart    = "resize"
)

// keepAllButPart restores all of a pod but what a subresource is about. What cannot be
// matched with the old pod stays, to be refused by its validation.
func keepAllButPart(part string, next, old *corev1.Pod) {
	spec := old.Spec.DeepCopy()
	switch part {
	case ephemeralPart:
		spec.EphemeralContainers = next.Spec.EphemeralContainers
	case resizePart:
		if len(next.Spec.Containers) != len(spec.Containers) || len(next.Spec.InitContainers) != len(spec.InitContainers) {
			return
		}
		spec.Containers = resized(next.Spec.Containers, spec.Containers)
		spec.InitContainers = resized(next.Spec.InitContainers, spec.InitContainers)
		if next.Spec.Resources != nil {
			spec.Resources = next.Spec.Resources
		}
	}
	next.Spec, next.Status = *spec, *old.Status.DeepCopy()
	metav1.ResetObjectMetaForStatus(next, old)
}

// resized returns the old containers with the new ones' resources.
func resized(next, old []corev1.Container) []corev1.Container {
	for i := range next {
		if next[i].Name != old[i].Name {
			return next
		}
	}
	for i := range next {
		old[i].Resources, old[i].ResizePolicy = next[i].Resources, next[i].ResizePolicy
	}
	return old
}

// validatePodPart checks what keepAllButPart has left.
func validatePodPart(part string, next, old *corev1.Pod) field.ErrorList {
	path := field.NewPath("spec")
	errs := validatePodSpec(&next.Spec, path)
	if part == ephemeralPart {
		return append(errs, validateEphemeralChange(next, old, path.Child("ephemeralContainers"))...)
	}
	return append(errs, validateResize(next, old, path)...)
}

// validateEphemeral checks what ephemeral containers must not have.
func validateEphemeral(e *corev1.EphemeralContainer, targets map[string]bool, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if e.TargetContainerName != "" && !targets[e.TargetContainerName] {
		errs = append(errs, field.NotFound(path.Child("targetContainerName"), e.TargetContainerName))
	}
	for _, banned := range []struct {
		name string
		set  bool
	}{
		{"ports", len(e.Ports) > 0},
		{"resources", !equality.Semantic.DeepEqual(e.Resources, corev1.ResourceRequirements{})},
		{"resizePolicy", len(e.ResizePolicy) > 0},
		{"restartPolicy", e.RestartPolicy != nil},
		{"restartPolicyRules", len(e.RestartPolicyRules) > 0},
		{"livenessProbe", e.LivenessProbe != nil},
		{"readinessProbe", e.ReadinessProbe != nil},
		{"startupProbe", e.StartupProbe != nil},
		{"lifecycle", e.Lifecycle != nil},
	} {
		if banned.set {
			errs = append(errs, field.Forbidden(path.Child(banned.name), "cannot be set for an Ephemeral Container"))
		}
	}
	for i, m := range e.VolumeMounts {
		if m.SubPath != "" {
			errs = append(errs, field.Forbidden(path.Child("volumeMounts").Index(i).Child("subPath"), "cannot be set for an Ephemeral Container"))
		}
	}
	return errs
}

// validateEphemeralChange lets ephemeral containers be added only.
func validateEphemeralChange(next, old *corev1.Pod, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, before := range old.Spec.EphemeralContainers {
		i := slices.IndexFunc(next.Spec.EphemeralContainers, func(e corev1.EphemeralContainer) bool { return e.Name == before.Name })
		if i < 0 {
			errs = append(errs, field.Forbidden(path, fmt.Sprintf("existing ephemeral containers %q may not be removed\n", before.Name)))
		} else if !equality.Semantic.DeepEqual(before, next.Spec.EphemeralContainers[i]) {
			errs = append(errs, field.Forbidden(path, fmt.Sprintf("existing ephemeral containers %q may not be changed\n", before.Name)))
		}
	}
	return errs
}

func validateResize(next, old *corev1.Pod, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if qosClass(&next.Spec) != qosClass(&old.Spec) {
		errs = append(errs, field.Invalid(path, next.Status.QOSClass, "Pod QOS Class may not change as a result of resizing"))
	}
	if !resizable(old) {
		errs = append(errs, field.Forbidden(path, "Pod running on node without support for resize"))
	}
	order := sameOrder(next.Spec.Containers, old.Spec.Containers, path, "containers")
	order = append(order, sameOrder(next.Spec.InitContainers, old.Spec.InitContainers, path, "initContainers")...)
	if len(order) > 0 {
		return append(errs, order...)
	}
	errs = append(errs, validateResized(next.Spec.InitContainers, old.Spec.InitContainers, path.Child("initContainers"))...)
	errs = append(errs, validateResized(next.Spec.Containers, old.Spec.Containers, path.Child("containers"))...)
	errs = append(errs, onlyResized(next.Spec.Containers, old.Spec.Containers, func(int) *field.Error {
		return field.Forbidden(path, "only cpu and memory resources are mutable")
	})...)
	return append(errs, onlyResized(next.Spec.InitContainers, old.Spec.InitContainers, func(i int) *field.Error {
		return field.Forbidden(path.Child("initContainers").Index(i), "only cpu and memory resources for init or sidecar containers are mutable")
	})...)
}

// resizable tells whether the pod's node, if it runs on one, reports the resources of
// its containers, without which it knows nothing of resizing.
func resizable(p *corev1.Pod) bool {
	for _, c := range p.Status.ContainerStatuses {
		if c.State.Running != nil {
			return c.Resources != nil
		}
	}
	return true
}

func sameOrder(next, old []corev1.Container, path *field.Path, name string) field.ErrorList {
	if len(next) != len(old) {
		return field.ErrorList{field.Forbidden(path.Child(name), name+" may not be added or removed on resize")}
	}
	var errs field.ErrorList
	for i := range old {
		if next[i].Name != old[i].Name {
			errs = append(errs, field.Forbidden(path.Child(name).Index(i).Child("name"), name+" may not be renamed or reordered on resize"))
		}
	}
	return errs
}

// validateResized refuses to take away a request or a limit.
func validateResized(next, old []corev1.Container, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range old {
		at := path.Index(i).Child("resources")
		if lacksKey(next[i].Resources.Requests, old[i].Resources.Requests) {
			errs = append(errs, field.Forbidden(at.Child("requests"), "resource requests cannot be removed"))
		}
		if lacksKey(next[i].Resources.Limits, old[i].Resources.Limits) {
			errs = append(errs, field.Forbidden(at.Child("limits"), "resource limits cannot be removed"))
		}
	}
	return errs
}

func lacksKey(next, old corev1.ResourceList) bool {
	for name := range old {
		if _, found := next[name]; !found {
			return true
		}
	}
	return false
}

// onlyResized refuses containers that differ by more than cpu and memory.
func onlyResized(next, old []corev1.Container, refuse func(i int) *field.Error) field.ErrorList {
	var errs field.ErrorList
	for i := range old {
		c := next[i]
		c.Resources.Requests = withComputeOf(c.Resources.Requests, old[i].Resources.Requests)
		c.Resources.Limits = withComputeOf(c.Resources.Limits, old[i].Resources.Limits)
		if !equality.Semantic.DeepEqual(c, old[i]) {
			errs = append(errs, refuse(i))
		}
	}
	return errs
}

// withComputeOf returns next with the cpu and memory of old.
func withComputeOf(next, old corev1.ResourceList) corev1.ResourceList {
	out := corev1.ResourceList{}
	maps.Copy(out, next)
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		delete(out, name)
		if quantity, found := old[name]; found {
			out[name] = quantity
		}
	}
	return out
}
