package kind

import (
	"encoding/json"
	"fmt"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// addHubs ties the kinds that are two views of the same stored objects.
func addHubs(kinds []*Kind) {
	by := map[string]*Kind{}
	for _, k := range kinds {
		by[k.GVR().String()] = k
	}
	events := by["events.k8s.io/v1, Resource=events"]
	events.Hub = by["/v1, Resource=events"]
	events.ToHub, events.FromHub = eventToCore, eventFromCore
	hpa := by["autoscaling/v1, Resource=horizontalpodautoscalers"]
	hpa.Hub = by["autoscaling/v2, Resource=horizontalpodautoscalers"]
	hpa.ToHub, hpa.FromHub = scalerToV2, scalerFromV2
}

func eventToCore(obj runtime.Object) (runtime.Object, error) {
	in, ok := obj.(*eventsv1.Event)
	if !ok {
		return nil, fmt.Errorf("kind: %T is not an events.k8s.io/v1 Event", obj)
	}
	in = in.DeepCopy()
	return &corev1.Event{
		ObjectMeta: in.ObjectMeta, InvolvedObject: in.Regarding, Related: in.Related,
		Reason: in.Reason, Message: in.Note, Type: in.Type, Action: in.Action, EventTime: in.EventTime,
		ReportingController: in.ReportingController, ReportingInstance: in.ReportingInstance,
		Source: in.DeprecatedSource, Count: in.DeprecatedCount,
		FirstTimestamp: in.DeprecatedFirstTimestamp, LastTimestamp: in.DeprecatedLastTimestamp,
		Series: (*corev1.EventSeries)(in.Series),
	}, nil
}

func eventFromCore(obj runtime.Object) (runtime.Object, error) {
	in, ok := obj.(*corev1.Event)
	if !ok {
		return nil, fmt.Errorf("kind: %T is not a v1 Event", obj)
	}
	in = in.DeepCopy()
	return &eventsv1.Event{
		ObjectMeta: in.ObjectMeta, Regarding: in.InvolvedObject, Related: in.Related,
		Reason: in.Reason, Note: in.Message, Type: in.Type, Action: in.Action, EventTime: in.EventTime,
		ReportingController: in.ReportingController, ReportingInstance: in.ReportingInstance,
		DeprecatedSource: in.Source, DeprecatedCount: in.Count,
		DeprecatedFirstTimestamp: in.FirstTimestamp, DeprecatedLastTimestamp: in.LastTimestamp,
		Series: (*eventsv1.EventSeries)(in.Series),
	}, nil
}

// hiddenMetrics keeps what version 1 of an autoscaler cannot say, as the API does.
const hiddenMetrics = "autoscaling.alpha.kubernetes.io/metrics"

func scalerToV2(obj runtime.Object) (runtime.Object, error) {
	in, ok := obj.(*autoscalingv1.HorizontalPodAutoscaler)
	if !ok {
		return nil, fmt.Errorf("kind: %T is not an autoscaling/v1 HorizontalPodAutoscaler", obj)
	}
	in = in.DeepCopy()
	out := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: in.ObjectMeta}
	out.Spec.ScaleTargetRef = autoscalingv2.CrossVersionObjectReference(in.Spec.ScaleTargetRef)
	out.Spec.MinReplicas, out.Spec.MaxReplicas = in.Spec.MinReplicas, in.Spec.MaxReplicas
	if cpu := in.Spec.TargetCPUUtilizationPercentage; cpu != nil {
		out.Spec.Metrics = append(out.Spec.Metrics, autoscalingv2.MetricSpec{
			Type: autoscalingv2.ResourceMetricSourceType,
			Resource: &autoscalingv2.ResourceMetricSource{
				Name:   corev1.ResourceCPU,
				Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: cpu},
			},
		})
	}
	if hidden := in.Annotations[hiddenMetrics]; hidden != "" {
		var metrics []autoscalingv2.MetricSpec
		if err := json.Unmarshal([]byte(hidden), &metrics); err != nil {
			return nil, fmt.Errorf("annotation %s: %w", hiddenMetrics, err)
		}
		out.Spec.Metrics = append(out.Spec.Metrics, metrics...)
		delete(out.Annotations, hiddenMetrics)
	}
	out.Status.ObservedGeneration, out.Status.LastScaleTime = in.Status.ObservedGeneration, in.Status.LastScaleTime
	out.Status.CurrentReplicas, out.Status.DesiredReplicas = in.Status.CurrentReplicas, in.Status.DesiredReplicas
	return out, nil
}

func scalerFromV2(obj runtime.Object) (runtime.Object, error) {
	in, ok := obj.(*autoscalingv2.HorizontalPodAutoscaler)
	if !ok {
		return nil, fmt.Errorf("kind: %T is not an autoscaling/v2 HorizontalPodAutoscaler", obj)
	}
	in = in.DeepCopy()
	out := &autoscalingv1.HorizontalPodAutoscaler{ObjectMeta: in.ObjectMeta}
	out.Spec.ScaleTargetRef = autoscalingv1.CrossVersionObjectReference(in.Spec.ScaleTargetRef)
	out.Spec.MinReplicas, out.Spec.MaxReplicas = in.Spec.MinReplicas, in.Spec.MaxReplicas
	var hidden []autoscalingv2.MetricSpec
	for _, m := range in.Spec.Metrics {
		if out.Spec.TargetCPUUtilizationPercentage == nil && m.Resource != nil && m.Resource.Name == corev1.ResourceCPU && m.Resource.Target.AverageUtilization != nil {
			out.Spec.TargetCPUUtilizationPercentage = m.Resource.Target.AverageUtilization
			continue
		}
		hidden = append(hidden, m)
	}
	if len(hidden) > 0 {
		text, err := json.Marshal(hidden)
		if err != nil {
			return nil, err
		}
		if out.Annotations == nil {
			out.Annotations = map[string]string{}
		}
		out.Annotations[hiddenMetrics] = string(text)
	}
	out.Status.ObservedGeneration, out.Status.LastScaleTime = in.Status.ObservedGeneration, in.Status.LastScaleTime
	out.Status.CurrentReplicas, out.Status.DesiredReplicas = in.Status.CurrentReplicas, in.Status.DesiredReplicas
	return out, nil
}
