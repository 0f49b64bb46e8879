package service

import (
	"fmt"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/api/validation"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// invalidEach makes an error of each message.
func invalidEach(path *field.Path, value any, messages []string) field.ErrorList {
	var errs field.ErrorList
	for _, message := range messages {
		errs = append(errs, field.Invalid(path, value, message))
	}
	return errs
}

// oneOf checks a value of an enumeration.
func oneOf[T ~string](path *field.Path, value T, supported ...T) field.ErrorList {
	switch {
	case slices.Contains(supported, value):
		return nil
	case value == "":
		return field.ErrorList{field.Required(path, "")}
	}
	return field.ErrorList{field.NotSupported(path, value, supported)}
}

// notNegative checks a number that may be absent.
func notNegative[T ~int32 | ~int64](path *field.Path, value *T) field.ErrorList {
	if value == nil {
		return nil
	}
	return validation.ValidateNonnegativeField(int64(*value), path)
}

// validatePodSpec checks what is said of containers and volumes and the plain fields of
// a pod, in the order of the API.
func validatePodSpec(p *corev1.PodSpec, path *field.Path) field.ErrorList {
	volumes, errs := validateVolumes(p.Volumes, path.Child("volumes"))
	errs = append(errs, validateContainers(p, volumes, path)...)
	errs = append(errs, oneOf(path.Child("restartPolicy"), p.RestartPolicy, corev1.RestartPolicyAlways, corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever)...)
	errs = append(errs, oneOf(path.Child("dnsPolicy"), p.DNSPolicy, corev1.DNSClusterFirstWithHostNet, corev1.DNSClusterFirst, corev1.DNSDefault, corev1.DNSNone)...)
	errs = append(errs, metavalidation.ValidateLabels(p.NodeSelector, path.Child("nodeSelector"))...)
	if p.ServiceAccountName != "" {
		errs = append(errs, invalidEach(path.Child("serviceAccountName"), p.ServiceAccountName, validation.ValidateServiceAccountName(p.ServiceAccountName, false))...)
	}
	if p.NodeName != "" {
		errs = append(errs, invalidEach(path.Child("nodeName"), p.NodeName, validation.NameIsDNSSubdomain(p.NodeName, false))...)
	}
	if seconds := p.ActiveDeadlineSeconds; seconds != nil && (*seconds < 1 || *seconds > math.MaxInt32) {
		errs = append(errs, field.Invalid(path.Child("activeDeadlineSeconds"), *seconds, utilvalidation.InclusiveRangeError(1, math.MaxInt32)))
	}
	if p.Hostname != "" {
		errs = append(errs, invalidEach(path.Child("hostname"), p.Hostname, utilvalidation.IsDNS1123Label(p.Hostname))...)
	}
	if p.Subdomain != "" {
		errs = append(errs, invalidEach(path.Child("subdomain"), p.Subdomain, utilvalidation.IsDNS1123Label(p.Subdomain))...)
	}
	return append(errs, validateTolerations(p.Tolerations, path.Child("tolerations"))...)
}

// validateNewPod checks what a pod may not have from the beginning.
func validateNewPod(p *corev1.PodSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(p.EphemeralContainers) > 0 {
		errs = append(errs, field.Forbidden(path.Child("ephemeralContainers"), "cannot be set on create"))
	}
	return errs
}

// validateVolumes returns the names of the good volumes.
func validateVolumes(volumes []corev1.Volume, path *field.Path) (map[string]bool, field.ErrorList) {
	var all field.ErrorList
	names := map[string]bool{}
	for i, v := range volumes {
		name := path.Index(i).Child("name")
		var errs field.ErrorList
		if v.Name == "" {
			errs = append(errs, field.Required(name, ""))
		} else {
			errs = append(errs, invalidEach(name, v.Name, utilvalidation.IsDNS1123Label(v.Name))...)
		}
		if names[v.Name] {
			errs = append(errs, field.Duplicate(name, v.Name))
		}
		if len(errs) == 0 {
			names[v.Name] = true
		}
		all = append(all, errs...)
	}
	return names, all
}

func validateContainers(p *corev1.PodSpec, volumes map[string]bool, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(p.Containers) == 0 {
		errs = append(errs, field.Required(path.Child("containers"), ""))
	}
	names := map[string]bool{}
	unique := func(name string, at *field.Path) {
		if names[name] {
			errs = append(errs, field.Duplicate(at.Child("name"), name))
		}
		names[name] = name != ""
	}
	for i := range p.Containers {
		at := path.Child("containers").Index(i)
		errs = append(errs, validateContainer(&p.Containers[i], volumes, at)...)
		unique(p.Containers[i].Name, at)
		errs = append(errs, validateProbes(&p.Containers[i], at)...)
	}
	for i := range p.InitContainers {
		at := path.Child("initContainers").Index(i)
		errs = append(errs, validateContainer(&p.InitContainers[i], volumes, at)...)
		unique(p.InitContainers[i].Name, at)
		errs = append(errs, validateProbes(&p.InitContainers[i], at)...)
	}
	targets := names
	names = map[string]bool{}
	for name := range targets {
		names[name] = true
	}
	for i := range p.EphemeralContainers {
		e, at := &p.EphemeralContainers[i], path.Child("ephemeralContainers").Index(i)
		errs = append(errs, validateContainer((*corev1.Container)(&e.EphemeralContainerCommon), volumes, at)...)
		unique(e.Name, at)
		errs = append(errs, validateEphemeral(e, targets, at)...)
	}
	return errs
}

// validateContainer checks what containers of all sorts have.
func validateContainer(c *corev1.Container, volumes map[string]bool, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if c.Name == "" {
		errs = append(errs, field.Required(path.Child("name"), ""))
	} else {
		errs = append(errs, invalidEach(path.Child("name"), c.Name, utilvalidation.IsDNS1123Label(c.Name))...)
	}
	if c.Image == "" {
		errs = append(errs, field.Required(path.Child("image"), ""))
	}
	errs = append(errs, oneOf(path.Child("terminationMessagePolicy"), c.TerminationMessagePolicy, corev1.TerminationMessageReadFile, corev1.TerminationMessageFallbackToLogsOnError)...)
	errs = append(errs, validateContainerPorts(c.Ports, path.Child("ports"))...)
	errs = append(errs, validateEnv(c.Env, path.Child("env"))...)
	errs = append(errs, validateMounts(c.VolumeMounts, volumes, path.Child("volumeMounts"))...)
	errs = append(errs, oneOf(path.Child("imagePullPolicy"), c.ImagePullPolicy, corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever)...)
	return append(errs, validateResources(&c.Resources, path.Child("resources"))...)
}

// protocols are those of ports.
var protocols = []corev1.Protocol{corev1.ProtocolSCTP, corev1.ProtocolTCP, corev1.ProtocolUDP}

func validateContainerPorts(ports []corev1.ContainerPort, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	names := map[string]bool{}
	for i, port := range ports {
		at := path.Index(i)
		if port.Name != "" {
			wrong := utilvalidation.IsValidPortName(port.Name)
			errs = append(errs, invalidEach(at.Child("name"), port.Name, wrong)...)
			if len(wrong) == 0 && names[port.Name] {
				errs = append(errs, field.Duplicate(at.Child("name"), port.Name))
			}
			names[port.Name] = names[port.Name] || len(wrong) == 0
		}
		if port.ContainerPort == 0 {
			errs = append(errs, field.Required(at.Child("containerPort"), ""))
		} else {
			errs = append(errs, invalidEach(at.Child("containerPort"), port.ContainerPort, utilvalidation.IsValidPortNum(int(port.ContainerPort)))...)
		}
		if port.HostPort != 0 {
			errs = append(errs, invalidEach(at.Child("hostPort"), port.HostPort, utilvalidation.IsValidPortNum(int(port.HostPort)))...)
		}
		errs = append(errs, oneOf(at.Child("protocol"), port.Protocol, protocols...)...)
	}
	return errs
}

func validateEnv(env []corev1.EnvVar, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, v := range env {
		at := path.Index(i)
		if v.Name == "" {
			errs = append(errs, field.Required(at.Child("name"), ""))
		} else {
			errs = append(errs, invalidEach(at.Child("name"), v.Name, utilvalidation.IsRelaxedEnvVarName(v.Name))...)
		}
		if v.Value != "" && v.ValueFrom != nil {
			errs = append(errs, field.Invalid(at.Child("valueFrom"), "", "may not be specified when `value` is not empty"))
		}
	}
	return errs
}

func validateMounts(mounts []corev1.VolumeMount, volumes map[string]bool, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := map[string]bool{}
	for i, m := range mounts {
		at := path.Index(i)
		if m.Name == "" {
			errs = append(errs, field.Required(at.Child("name"), ""))
		}
		if !volumes[m.Name] {
			errs = append(errs, field.NotFound(at.Child("name"), m.Name))
		}
		if m.MountPath == "" {
			errs = append(errs, field.Required(at.Child("mountPath"), ""))
		}
		if seen[m.MountPath] {
			errs = append(errs, field.Invalid(at.Child("mountPath"), m.MountPath, "must be unique"))
		}
		seen[m.MountPath] = true
	}
	return errs
}

// validateResources checks quantities, in the order of their names.
func validateResources(r *corev1.ResourceRequirements, path *field.Path) field.ErrorList {
	errs := validateQuantities(r.Limits, path.Child("limits"))
	errs = append(errs, validateQuantities(r.Requests, path.Child("requests"))...)
	for _, name := range sortedKeys(r.Requests) {
		request := r.Requests[name]
		if limit, found := r.Limits[name]; found && request.Cmp(limit) > 0 {
			errs = append(errs, field.Invalid(path.Child("requests"), request.String(), "must be less than or equal to "+string(name)+" limit of "+limit.String()))
		}
	}
	return errs
}

func validateQuantities(list corev1.ResourceList, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, name := range sortedKeys(list) {
		at := path.Key(string(name))
		errs = append(errs, validateResourceName(name, at)...)
		if quantity := list[name]; quantity.Cmp(resource.Quantity{}) < 0 {
			errs = append(errs, field.Invalid(at, quantity.String(), "must be greater than or equal to 0"))
		}
	}
	return errs
}

func validateResourceName(name corev1.ResourceName, path *field.Path) field.ErrorList {
	errs := invalidEach(path, name, utilvalidation.IsQualifiedName(string(name)))
	if len(errs) > 0 || strings.Contains(string(name), "/") {
		return errs
	}
	switch name {
	case corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage:
		return nil
	}
	if strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix) {
		return nil
	}
	return field.ErrorList{
		field.Invalid(path, name, "must be a standard resource type or fully qualified"),
		field.Invalid(path, name, "must be a standard resource for containers"),
	}
}

func validateProbes(c *corev1.Container, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, probe := range []struct {
		name  string
		value *corev1.Probe
	}{{"livenessProbe", c.LivenessProbe}, {"readinessProbe", c.ReadinessProbe}, {"startupProbe", c.StartupProbe}} {
		if p, at := probe.value, path.Child(probe.name); p != nil {
			switch {
			case p.HTTPGet != nil:
				errs = append(errs, validatePort(p.HTTPGet.Port, at.Child("httpGet", "port"))...)
			case p.TCPSocket != nil:
				errs = append(errs, validatePort(p.TCPSocket.Port, at.Child("tcpSocket", "port"))...)
			case p.Exec == nil && p.GRPC == nil:
				errs = append(errs, field.Required(at, "must specify a handler type"))
			}
			errs = append(errs, notNegative(at.Child("initialDelaySeconds"), &p.InitialDelaySeconds)...)
			errs = append(errs, notNegative(at.Child("timeoutSeconds"), &p.TimeoutSeconds)...)
			errs = append(errs, notNegative(at.Child("periodSeconds"), &p.PeriodSeconds)...)
			errs = append(errs, notNegative(at.Child("successThreshold"), &p.SuccessThreshold)...)
			errs = append(errs, notNegative(at.Child("failureThreshold"), &p.FailureThreshold)...)
		}
	}
	return errs
}

func validateTolerations(tolerations []corev1.Toleration, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, t := range tolerations {
		at := path.Index(i)
		if t.Key != "" {
			errs = append(errs, metavalidation.ValidateLabelName(t.Key, at.Child("key"))...)
		} else if t.Operator != corev1.TolerationOpExists {
			errs = append(errs, field.Invalid(at.Child("operator"), t.Operator, "operator must be Exists when `key` is empty, which means \"match all values and all keys\""))
		}
		if t.TolerationSeconds != nil && t.Effect != corev1.TaintEffectNoExecute {
			errs = append(errs, field.Invalid(at.Child("effect"), t.Effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"))
		}
		switch t.Operator {
		case corev1.TolerationOpEqual, "":
			if wrong := utilvalidation.IsValidLabelValue(t.Value); len(wrong) > 0 {
				errs = append(errs, field.Invalid(at.Child("operator"), t.Value, strings.Join(wrong, ";")))
			}
		case corev1.TolerationOpExists:
			if t.Value != "" {
				errs = append(errs, field.Invalid(at.Child("operator"), t.Value, "value must be empty when `operator` is 'Exists'"))
			}
		default:
			errs = append(errs, field.NotSupported(at.Child("operator"), t.Operator, []corev1.TolerationOperator{corev1.TolerationOpEqual, corev1.TolerationOpExists}))
		}
		if t.Effect != "" {
			errs = append(errs, oneOf(at.Child("effect"), t.Effect, corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute)...)
		}
	}
	return errs
}

// validatePort checks a port that is a number or the name of one.
func validatePort(port intstr.IntOrString, path *field.Path) field.ErrorList {
	switch port.Type {
	case intstr.Int:
		return invalidEach(path, port.IntVal, utilvalidation.IsValidPortNum(int(port.IntVal)))
	case intstr.String:
		return invalidEach(path, port.StrVal, utilvalidation.IsValidPortName(port.StrVal))
	}
	return field.ErrorList{field.InternalError(path, fmt.Errorf("unknown type: %v", port.Type))}
}
