package service

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/gocampus/hark/harktest/internal/kind"
	"github.com/gocampus/hark/harktest/internal/object"
)

// nameRule returns how names of a kind are checked.
func nameRule(k *kind.Kind) validation.ValidateNameFunc {
	switch {
	case k.Storage() == "namespaces":
		return validation.NameIsDNSLabel
	case k.Storage() == "services":
		return validation.NameIsDNSLabel
	case k.GVK.Group == "rbac.authorization.k8s.io":
		return pathSegment
	}
	return validation.NameIsDNSSubdomain
}

func pathSegment(name string, prefix bool) []string {
	if prefix {
		return content.IsPathSegmentPrefix(name)
	}
	return content.IsPathSegmentName(name)
}

func validateCreate(k *kind.Kind, obj runtime.Object, m metav1.Object) field.ErrorList {
	errs := validateMeta(k, m)
	if definition, ok := obj.(*unstructured.Unstructured); ok && k.Storage() == crdStorage {
		errs = append(errs, validateDefinitionName(definition)...)
		errs = append(errs, validateSpec(obj)...)
		return append(errs, validateDefinitionStored(definition)...)
	}
	errs = append(errs, validateSpec(obj)...)
	if pod, ok := obj.(*corev1.Pod); ok {
		errs = append(errs, validateNewPod(&pod.Spec, field.NewPath("spec"))...)
	}
	return errs
}

func validateMeta(k *kind.Kind, m metav1.Object) field.ErrorList {
	path := field.NewPath("metadata")
	errs := validation.ValidateObjectMetaAccessor(m, k.Namespaced, nameRule(k), path)
	if k.Unstructured() {
		return errs
	}
	standard := []string{string(corev1.FinalizerKubernetes), metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents}
	for i, name := range m.GetFinalizers() {
		if !strings.Contains(name, "/") && !slices.Contains(standard, name) {
			errs = append(errs, field.Invalid(path.Child("finalizers").Index(i), name, "name is neither a standard finalizer name nor is it fully qualified"))
		}
	}
	return errs
}

func validateUpdate(t Target, next runtime.Object, m metav1.Object, old *object.Version) field.ErrorList {
	path := field.NewPath("metadata")
	errs := validateMeta(t.Kind, m)
	errs = append(errs, validation.ValidateObjectMetaAccessorUpdate(m, old.Meta(), path)...)
	switch t.Subresource {
	case "":
	case ephemeralPart, resizePart:
		return append(errs, validatePodPart(t.Subresource, next.(*corev1.Pod), old.Object().(*corev1.Pod))...)
	default:
		return errs
	}
	errs = append(errs, validateSpec(next)...)
	return append(errs, validateChange(next, old.Object())...)
}

// validateSpec checks what people get wrong most: objects that no controller
// could work with.
func validateSpec(obj runtime.Object) field.ErrorList {
	spec := field.NewPath("spec")
	switch o := obj.(type) {
	case *corev1.Pod:
		return validatePodSpec(&o.Spec, spec)
	case *appsv1.Deployment:
		return validateDeployment(&o.Spec, spec)
	case *appsv1.ReplicaSet:
		return validateWorkload(o.Spec.Replicas, o.Spec.Selector, &o.Spec.Template, spec)
	case *appsv1.StatefulSet:
		return validateWorkload(o.Spec.Replicas, o.Spec.Selector, &o.Spec.Template, spec)
	case *appsv1.DaemonSet:
		return validateWorkload(nil, o.Spec.Selector, &o.Spec.Template, spec)
	case *batchv1.Job:
		return validateJob(&o.Spec, spec)
	case *batchv1.CronJob:
		return validateCronJob(&o.Spec, spec)
	case *autoscalingv2.HorizontalPodAutoscaler:
		return validateAutoscaler(&o.Spec, spec)
	case *corev1.Event:
		return validateEvent(o)
	case *corev1.Secret:
		return validateSecret(o)
	case *corev1.Service:
		return validateService(o, spec)
	case *corev1.ConfigMap:
		return validateConfigMap(o)
	case *unstructured.Unstructured:
		if o.GroupVersionKind().GroupKind() == definitionKind {
			return validateDefinition(o)
		}
	}
	return nil
}

func validateWorkload(replicas *int32, selector *metav1.LabelSelector, template *corev1.PodTemplateSpec, spec *field.Path) field.ErrorList {
	var errs field.ErrorList
	if replicas != nil {
		errs = append(errs, validation.ValidateNonnegativeField(int64(*replicas), spec.Child("replicas"))...)
	}
	if selector == nil { // which selects nothing
		errs = append(errs, field.Required(spec.Child("selector"), ""),
			field.Invalid(spec.Child("template", "metadata", "labels"), template.Labels, "`selector` does not match template `labels`"))
	} else {
		errs = append(errs, metavalidation.ValidateLabelSelector(selector, metavalidation.LabelSelectorValidationOptions{}, spec.Child("selector"))...)
		errs = append(errs, validateSelected(selector, template, spec)...)
	}
	errs = append(errs, metavalidation.ValidateLabels(template.Labels, spec.Child("template", "labels"))...)
	pods := spec.Child("template", "spec")
	errs = append(errs, validatePodSpec(&template.Spec, pods)...)
	if policy := template.Spec.RestartPolicy; policy == corev1.RestartPolicyOnFailure || policy == corev1.RestartPolicyNever {
		errs = append(errs, field.NotSupported(pods.Child("restartPolicy"), policy, []corev1.RestartPolicy{corev1.RestartPolicyAlways}))
	}
	return errs
}

func validateSelected(selector *metav1.LabelSelector, template *corev1.PodTemplateSpec, spec *field.Path) field.ErrorList {
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	switch {
	case err != nil:
		return field.ErrorList{field.Invalid(spec.Child("selector"), selector, "invalid label selector")}
	case parsed.Empty():
		return field.ErrorList{field.Invalid(spec.Child("selector"), selector, "empty selector is invalid for deployment")}
	case !parsed.Matches(labels.Set(template.Labels)):
		return field.ErrorList{field.Invalid(spec.Child("template", "metadata", "labels"), template.Labels, "`selector` does not match template `labels`")}
	}
	return nil
}

// validateChange checks what may not change.
func validateChange(next, old runtime.Object) field.ErrorList {
	switch o := next.(type) {
	case *unstructured.Unstructured:
		if o.GroupVersionKind().GroupKind() == definitionKind {
			return validateDefinitionChange(o, old.(*unstructured.Unstructured))
		}
	case *corev1.Pod:
		return validatePodChange(o, old.(*corev1.Pod))
	case *appsv1.Deployment:
		return validation.ValidateImmutableField(o.Spec.Selector, old.(*appsv1.Deployment).Spec.Selector, field.NewPath("spec", "selector"))
	case *appsv1.ReplicaSet:
		return validation.ValidateImmutableField(o.Spec.Selector, old.(*appsv1.ReplicaSet).Spec.Selector, field.NewPath("spec", "selector"))
	case *appsv1.DaemonSet:
		return validation.ValidateImmutableField(o.Spec.Selector, old.(*appsv1.DaemonSet).Spec.Selector, field.NewPath("spec", "selector"))
	case *corev1.ConfigMap:
		before := old.(*corev1.ConfigMap)
		errs := validateImmutable(before.Immutable, "immutable", o.Immutable, before.Immutable)
		errs = append(errs, validateImmutable(before.Immutable, "data", o.Data, before.Data)...)
		return append(errs, validateImmutable(before.Immutable, "binaryData", o.BinaryData, before.BinaryData)...)
	case *corev1.Secret:
		before := old.(*corev1.Secret)
		errs := validation.ValidateImmutableField(o.Type, before.Type, field.NewPath("type"))
		errs = append(errs, validateImmutable(before.Immutable, "immutable", o.Immutable, before.Immutable)...)
		return append(errs, validateImmutable(before.Immutable, "data", o.Data, before.Data)...)
	}
	return nil
}

func validateImmutable(immutable *bool, name string, next, old any) field.ErrorList {
	if immutable == nil || !*immutable || equality.Semantic.DeepEqual(next, old) {
		return nil
	}
	return field.ErrorList{field.Forbidden(field.NewPath(name), "field is immutable when `immutable` is set")}
}

// validatePodChange allows only what an update of a pod may touch.
func validatePodChange(next, old *corev1.Pod) field.ErrorList {
	path := field.NewPath("spec")
	if len(next.Spec.Containers) != len(old.Spec.Containers) {
		return field.ErrorList{field.Forbidden(path.Child("containers"), "pod updates may not add or remove containers")}
	}
	allowed := next.Spec.DeepCopy()
	for i := range allowed.Containers {
		allowed.Containers[i].Image = old.Spec.Containers[i].Image
		allowed.Containers[i].ImagePullPolicy = old.Spec.Containers[i].ImagePullPolicy
	}
	for i := range min(len(allowed.InitContainers), len(old.Spec.InitContainers)) {
		allowed.InitContainers[i].Image = old.Spec.InitContainers[i].Image
	}
	allowed.ActiveDeadlineSeconds = old.Spec.ActiveDeadlineSeconds
	allowed.Tolerations = old.Spec.Tolerations
	allowed.SchedulingGates = old.Spec.SchedulingGates
	allowed.EphemeralContainers = old.Spec.EphemeralContainers
	allowed.TerminationGracePeriodSeconds = old.Spec.TerminationGracePeriodSeconds
	if equality.Semantic.DeepEqual(*allowed, old.Spec) {
		return nil
	}
	return field.ErrorList{field.Forbidden(path, fmt.Sprintf("pod updates may not change fields other than %s",
		"`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"+
			"`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"))}
}

// sortedKeys makes the order of errors the same each time.
func sortedKeys[K ~string, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
