package service

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

var definitionKind = schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}

type deployment = appsv1.Deployment

// setDefault gives a field its default when it has no value.
func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

func setDefaultPointer[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}

// applyDefaults fills in what the API fills in, for the common kinds.
func applyDefaults(obj runtime.Object) {
	switch o := obj.(type) {
	case *corev1.Pod:
		defaultPod(o)
	case *corev1.Service:
		defaultService(o)
	case *corev1.Secret:
		defaultSecret(o)
	case *corev1.Namespace:
		if o.Labels == nil {
			o.Labels = map[string]string{}
		}
		o.Labels[corev1.LabelMetadataName] = o.Name
	case *corev1.PersistentVolumeClaim:
		setDefaultPointer(&o.Spec.VolumeMode, corev1.PersistentVolumeFilesystem)
	case *corev1.ReplicationController:
		setDefaultPointer(&o.Spec.Replicas, 1)
	case *unstructured.Unstructured:
		if o.GroupVersionKind().GroupKind() == definitionKind {
			defaultDefinition(o)
		}
	case *corev1.PodTemplate:
		defaultPodSpec(&o.Template.Spec)
	default:
		defaultWorkload(obj)
	}
}

func defaultWorkload(obj runtime.Object) {
	switch o := obj.(type) {
	case *appsv1.Deployment:
		defaultDeployment(o)
	case *appsv1.ReplicaSet:
		setDefaultPointer(&o.Spec.Replicas, 1)
		defaultPodSpec(&o.Spec.Template.Spec)
	case *appsv1.StatefulSet:
		defaultStatefulSet(o)
	case *appsv1.DaemonSet:
		defaultDaemonSet(o)
	case *batchv1.Job:
		defaultJobSpec(&o.Spec)
		defaultPodSpec(&o.Spec.Template.Spec)
	case *autoscalingv2.HorizontalPodAutoscaler:
		defaultAutoscaler(o)
	case *discoveryv1.EndpointSlice:
		for i := range o.Ports {
			setDefaultPointer(&o.Ports[i].Name, "")
			setDefaultPointer(&o.Ports[i].Protocol, corev1.ProtocolTCP)
		}
	case *batchv1.CronJob:
		setDefault(&o.Spec.ConcurrencyPolicy, batchv1.AllowConcurrent)
		setDefaultPointer(&o.Spec.Suspend, false)
		setDefaultPointer(&o.Spec.SuccessfulJobsHistoryLimit, 3)
		setDefaultPointer(&o.Spec.FailedJobsHistoryLimit, 1)
		defaultPodSpec(&o.Spec.JobTemplate.Spec.Template.Spec)
	}
}

func defaultDeployment(d *appsv1.Deployment) {
	setDefaultPointer(&d.Spec.Replicas, 1)
	setDefault(&d.Spec.Strategy.Type, appsv1.RollingUpdateDeploymentStrategyType)
	if d.Spec.Strategy.Type == appsv1.RollingUpdateDeploymentStrategyType {
		setDefaultPointer(&d.Spec.Strategy.RollingUpdate, appsv1.RollingUpdateDeployment{})
		setDefaultPointer(&d.Spec.Strategy.RollingUpdate.MaxUnavailable, intstr.FromString("25%"))
		setDefaultPointer(&d.Spec.Strategy.RollingUpdate.MaxSurge, intstr.FromString("25%"))
	}
	setDefaultPointer(&d.Spec.RevisionHistoryLimit, 10)
	setDefaultPointer(&d.Spec.ProgressDeadlineSeconds, 600)
	defaultPodSpec(&d.Spec.Template.Spec)
}

func defaultStatefulSet(s *appsv1.StatefulSet) {
	setDefault(&s.Spec.PodManagementPolicy, appsv1.OrderedReadyPodManagement)
	setDefault(&s.Spec.UpdateStrategy.Type, appsv1.RollingUpdateStatefulSetStrategyType)
	if s.Spec.UpdateStrategy.Type == appsv1.RollingUpdateStatefulSetStrategyType {
		setDefaultPointer(&s.Spec.UpdateStrategy.RollingUpdate, appsv1.RollingUpdateStatefulSetStrategy{})
		setDefaultPointer(&s.Spec.UpdateStrategy.RollingUpdate.Partition, 0)
		setDefaultPointer(&s.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable, intstr.FromInt32(1))
	}
	setDefaultPointer(&s.Spec.PersistentVolumeClaimRetentionPolicy, appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{})
	setDefault(&s.Spec.PersistentVolumeClaimRetentionPolicy.WhenDeleted, appsv1.RetainPersistentVolumeClaimRetentionPolicyType)
	setDefault(&s.Spec.PersistentVolumeClaimRetentionPolicy.WhenScaled, appsv1.RetainPersistentVolumeClaimRetentionPolicyType)
	setDefaultPointer(&s.Spec.Replicas, 1)
	setDefaultPointer(&s.Spec.RevisionHistoryLimit, 10)
	defaultPodSpec(&s.Spec.Template.Spec)
}

func defaultDaemonSet(d *appsv1.DaemonSet) {
	setDefault(&d.Spec.UpdateStrategy.Type, appsv1.RollingUpdateDaemonSetStrategyType)
	if d.Annotations == nil {
		d.Annotations = map[string]string{}
	}
	if _, found := d.Annotations[appsv1.DeprecatedTemplateGeneration]; !found {
		d.Annotations[appsv1.DeprecatedTemplateGeneration] = "1" // how it was counted before metadata.generation
	}
	if d.Spec.UpdateStrategy.Type == appsv1.RollingUpdateDaemonSetStrategyType {
		setDefaultPointer(&d.Spec.UpdateStrategy.RollingUpdate, appsv1.RollingUpdateDaemonSet{})
		setDefaultPointer(&d.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable, intstr.FromInt32(1))
		setDefaultPointer(&d.Spec.UpdateStrategy.RollingUpdate.MaxSurge, intstr.FromInt32(0))
	}
	setDefaultPointer(&d.Spec.RevisionHistoryLimit, 10)
	defaultPodSpec(&d.Spec.Template.Spec)
}

func defaultJobSpec(j *batchv1.JobSpec) {
	if j.Completions == nil && j.Parallelism == nil {
		j.Completions = ptr.To[int32](1)
	}
	setDefaultPointer(&j.Parallelism, 1)
	setDefaultPointer(&j.BackoffLimit, 6)
	setDefaultPointer(&j.CompletionMode, batchv1.NonIndexedCompletion)
	setDefaultPointer(&j.Suspend, false)
	setDefaultPointer(&j.ManualSelector, false)
	setDefaultPointer(&j.PodReplacementPolicy, batchv1.TerminatingOrFailed)
}

// defaultAutoscaler lets an autoscaler without metrics aim at 80 % of the CPU.
func defaultAutoscaler(h *autoscalingv2.HorizontalPodAutoscaler) {
	setDefaultPointer(&h.Spec.MinReplicas, 1)
	if len(h.Spec.Metrics) > 0 {
		return
	}
	h.Spec.Metrics = []autoscalingv2.MetricSpec{{
		Type: autoscalingv2.ResourceMetricSourceType,
		Resource: &autoscalingv2.ResourceMetricSource{
			Name:   corev1.ResourceCPU,
			Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: ptr.To[int32](80)},
		},
	}}
}

func defaultService(s *corev1.Service) {
	setDefault(&s.Spec.SessionAffinity, corev1.ServiceAffinityNone)
	setDefault(&s.Spec.Type, corev1.ServiceTypeClusterIP)
	for i := range s.Spec.Ports {
		port := &s.Spec.Ports[i]
		setDefault(&port.Protocol, corev1.ProtocolTCP)
		if port.TargetPort == (intstr.IntOrString{}) {
			port.TargetPort = intstr.FromInt32(port.Port)
		}
	}
	if s.Spec.Type != corev1.ServiceTypeExternalName {
		setDefaultPointer(&s.Spec.InternalTrafficPolicy, corev1.ServiceInternalTrafficPolicyCluster)
	}
}

func defaultSecret(s *corev1.Secret) {
	setDefault(&s.Type, corev1.SecretTypeOpaque)
	if len(s.StringData) == 0 {
		return
	}
	if s.Data == nil {
		s.Data = map[string][]byte{}
	}
	for name, value := range s.StringData {
		s.Data[name] = []byte(value)
	}
	s.StringData = nil
}

func defaultPod(p *corev1.Pod) {
	for i := range p.Spec.Containers {
		defaultRequests(&p.Spec.Containers[i].Resources)
	}
	setDefaultPointer(&p.Spec.EnableServiceLinks, true)
	if grace := p.Spec.TerminationGracePeriodSeconds; grace != nil && *grace < 0 {
		p.Spec.TerminationGracePeriodSeconds = ptr.To[int64](1)
	}
	if p.Status.PodIP != "" && len(p.Status.PodIPs) == 0 {
		p.Status.PodIPs = []corev1.PodIP{{IP: p.Status.PodIP}}
	}
	defaultPodSpec(&p.Spec)
}

// defaultRequests makes requests of limits that have none.
func defaultRequests(r *corev1.ResourceRequirements) {
	for name, limit := range r.Limits {
		if r.Requests == nil {
			r.Requests = corev1.ResourceList{}
		}
		if _, found := r.Requests[name]; !found {
			r.Requests[name] = limit.DeepCopy()
		}
	}
}

func defaultPodSpec(p *corev1.PodSpec) {
	setDefault(&p.RestartPolicy, corev1.RestartPolicyAlways)
	setDefault(&p.DNSPolicy, corev1.DNSClusterFirst)
	setDefault(&p.SchedulerName, corev1.DefaultSchedulerName)
	setDefaultPointer(&p.SecurityContext, corev1.PodSecurityContext{})
	setDefaultPointer(&p.TerminationGracePeriodSeconds, corev1.DefaultTerminationGracePeriodSeconds)
	for i := range p.Volumes {
		defaultVolume(&p.Volumes[i].VolumeSource)
	}
	for i := range p.InitContainers {
		defaultContainer(&p.InitContainers[i])
	}
	for i := range p.Containers {
		defaultContainer(&p.Containers[i])
	}
	for i := range p.EphemeralContainers {
		defaultContainer((*corev1.Container)(&p.EphemeralContainers[i].EphemeralContainerCommon))
	}
}

func defaultVolume(v *corev1.VolumeSource) {
	switch {
	case *v == (corev1.VolumeSource{}):
		v.EmptyDir = &corev1.EmptyDirVolumeSource{}
	case v.ConfigMap != nil:
		setDefaultPointer(&v.ConfigMap.DefaultMode, corev1.ConfigMapVolumeSourceDefaultMode)
	case v.Secret != nil:
		setDefaultPointer(&v.Secret.DefaultMode, corev1.SecretVolumeSourceDefaultMode)
	case v.Projected != nil:
		setDefaultPointer(&v.Projected.DefaultMode, corev1.ProjectedVolumeSourceDefaultMode)
	case v.HostPath != nil:
		setDefaultPointer(&v.HostPath.Type, corev1.HostPathUnset)
	}
}

func defaultContainer(c *corev1.Container) {
	setDefault(&c.TerminationMessagePath, corev1.TerminationMessagePathDefault)
	setDefault(&c.TerminationMessagePolicy, corev1.TerminationMessageReadFile)
	setDefault(&c.ImagePullPolicy, pullPolicy(c.Image))
	for i := range c.Ports {
		setDefault(&c.Ports[i].Protocol, corev1.ProtocolTCP)
	}
	for _, probe := range []*corev1.Probe{c.LivenessProbe, c.ReadinessProbe, c.StartupProbe} {
		if probe != nil {
			defaultProbe(probe)
		}
	}
}

func defaultProbe(p *corev1.Probe) {
	setDefault(&p.TimeoutSeconds, 1)
	setDefault(&p.PeriodSeconds, 10)
	setDefault(&p.SuccessThreshold, 1)
	setDefault(&p.FailureThreshold, 3)
	if p.HTTPGet != nil {
		setDefault(&p.HTTPGet.Path, "/")
		setDefault(&p.HTTPGet.Scheme, corev1.URISchemeHTTP)
	}
}

// pullPolicy is Always for an image without a tag or with the tag latest.
func pullPolicy(image string) corev1.PullPolicy {
	name := image[strings.LastIndexByte(image, '/')+1:]
	name, _, digest := strings.Cut(name, "@")
	_, tag, tagged := strings.Cut(name, ":")
	if !digest && (!tagged || tag == "latest") {
		return corev1.PullAlways
	}
	return corev1.PullIfNotPresent
}
