package table

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func addPolicies(add func(reflect.Type, printer)) {
	add(of(func(b *policyv1.PodDisruptionBudget, m metav1.Object) []any {
		return []any{b.Name, orNotApplicable(b.Spec.MinAvailable), orNotApplicable(b.Spec.MaxUnavailable), int64(b.Status.DisruptionsAllowed), age(m)}
	}, "Name", "Min Available", "Max Unavailable", "#Allowed Disruptions", "Age"))
	add(of(func(h *autoscalingv2.HorizontalPodAutoscaler, m metav1.Object) []any {
		reference := h.Spec.ScaleTargetRef.Kind + "/" + h.Spec.ScaleTargetRef.Name
		least := "<unset>"
		if h.Spec.MinReplicas != nil {
			least = fmt.Sprint(*h.Spec.MinReplicas)
		}
		return []any{h.Name, reference, targets(h), least, int64(h.Spec.MaxReplicas), int64(h.Status.CurrentReplicas), age(m)}
	}, "Name", "Reference", "Targets", "MinPods", "MaxPods", "Replicas", "Age"))
	add(of(sliceCells, "Name", "AddressType", "Ports", "Endpoints", "Age"))
	add(of(func(r *rbacv1.Role, m metav1.Object) []any { return []any{r.Name, created(m)} }, "Name", "@Created At"))
	add(of(func(r *rbacv1.ClusterRole, m metav1.Object) []any { return []any{r.Name, created(m)} }, "Name", "@Created At"))
	add(of(func(l *corev1.LimitRange, m metav1.Object) []any { return []any{l.Name, created(m)} }, "Name", "@Created At"))
}

// created is the time of creation, which the API shows of kinds without columns of
// their own.
func created(m metav1.Object) string { return m.GetCreationTimestamp().UTC().Format(time.RFC3339) }

func orNotApplicable(value *intstr.IntOrString) string {
	if value == nil {
		return "N/A"
	}
	return value.String()
}

// targets shows current and wanted values of an autoscaler's metrics.
func targets(h *autoscalingv2.HorizontalPodAutoscaler) string {
	var list []string
	for i, spec := range h.Spec.Metrics {
		if spec.Resource == nil {
			list = append(list, "<unknown>")
			continue
		}
		var current *autoscalingv2.MetricValueStatus
		if i < len(h.Status.CurrentMetrics) && h.Status.CurrentMetrics[i].Resource != nil {
			current = &h.Status.CurrentMetrics[i].Resource.Current
		}
		list = append(list, fmt.Sprintf("%s: %s", spec.Resource.Name, resourceTarget(spec.Resource.Target, current)))
	}
	return orNone(strings.Join(list, ", "))
}

func resourceTarget(target autoscalingv2.MetricTarget, current *autoscalingv2.MetricValueStatus) string {
	now := "<unknown>"
	if target.AverageValue != nil {
		if current != nil && current.AverageValue != nil {
			now = current.AverageValue.String()
		}
		return now + "/" + target.AverageValue.String()
	}
	if current != nil && current.AverageUtilization != nil {
		now = fmt.Sprintf("%d%%", *current.AverageUtilization)
	}
	if target.AverageUtilization == nil {
		return now + "/<auto>"
	}
	return fmt.Sprintf("%s/%d%%", now, *target.AverageUtilization)
}

func sliceCells(s *discoveryv1.EndpointSlice, m metav1.Object) []any {
	var ports, addresses []string
	for _, p := range s.Ports {
		if p.Port != nil {
			ports = append(ports, fmt.Sprint(*p.Port))
		}
	}
	for _, e := range s.Endpoints {
		addresses = append(addresses, e.Addresses...)
	}
	return []any{s.Name, string(s.AddressType), someOf(ports), someOf(addresses), age(m)}
}

// someOf shows the first of many.
func someOf(list []string) string {
	const shown = 3
	if len(list) == 0 {
		return "<unset>"
	}
	if len(list) > shown {
		return fmt.Sprintf("%s + %d more...", strings.Join(list[:shown], ","), len(list)-shown)
	}
	return strings.Join(list, ",")
}
