package service

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateDeployment checks what a deployment has beyond other workloads.
func validateDeployment(s *appsv1.DeploymentSpec, path *field.Path) field.ErrorList {
	errs := validateWorkload(s.Replicas, s.Selector, &s.Template, path)
	strategy := path.Child("strategy")
	switch s.Strategy.Type {
	case appsv1.RecreateDeploymentStrategyType:
		if s.Strategy.RollingUpdate != nil {
			errs = append(errs, field.Forbidden(strategy.Child("rollingUpdate"), "may not be specified when strategy `type` is 'Recreate'"))
		}
	case appsv1.RollingUpdateDeploymentStrategyType:
		errs = append(errs, validateRollingUpdate(s.Strategy.RollingUpdate, strategy.Child("rollingUpdate"))...)
	default:
		errs = append(errs, field.NotSupported(strategy, s.Strategy.Type, []string{"Recreate", "RollingUpdate"}))
	}
	errs = append(errs, notNegative(path.Child("minReadySeconds"), &s.MinReadySeconds)...)
	errs = append(errs, notNegative(path.Child("revisionHistoryLimit"), s.RevisionHistoryLimit)...)
	if seconds, at := s.ProgressDeadlineSeconds, path.Child("progressDeadlineSeconds"); seconds != nil {
		errs = append(errs, notNegative(at, seconds)...)
		if *seconds <= s.MinReadySeconds {
			errs = append(errs, field.Invalid(at, *seconds, "must be greater than minReadySeconds"))
		}
	}
	return errs
}

func validateRollingUpdate(u *appsv1.RollingUpdateDeployment, path *field.Path) field.ErrorList {
	unavailable := path.Child("maxUnavailable")
	errs := validateShare(u.MaxUnavailable, unavailable)
	errs = append(errs, validateShare(u.MaxSurge, path.Child("maxSurge"))...)
	if shareOf(u.MaxUnavailable) == 0 && shareOf(u.MaxSurge) == 0 {
		errs = append(errs, field.Invalid(unavailable, *u.MaxUnavailable, "may not be 0 when `maxSurge` is 0"))
	}
	if u.MaxUnavailable.Type == intstr.String && shareOf(u.MaxUnavailable) > 100 {
		errs = append(errs, field.Invalid(unavailable, *u.MaxUnavailable, "must not be greater than 100%"))
	}
	return errs
}

// validateShare checks a number of pods or a percentage of them.
func validateShare(share *intstr.IntOrString, path *field.Path) field.ErrorList {
	if share.Type == intstr.String {
		return invalidEach(path, *share, utilvalidation.IsValidPercent(share.StrVal))
	}
	return notNegative(path, &share.IntVal)
}

// shareOf returns the number of a share, also of one in percent; -1 when there is none.
func shareOf(share *intstr.IntOrString) int {
	if share.Type == intstr.Int {
		return int(share.IntVal)
	}
	n, err := strconv.Atoi(strings.TrimSuffix(share.StrVal, "%"))
	if err != nil {
		return -1
	}
	return n
}

func validateCronJob(s *batchv1.CronJobSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	schedule := path.Child("schedule")
	if s.Schedule != "" {
		if err := parseSchedule(s.Schedule); err != nil {
			errs = append(errs, field.Invalid(schedule, s.Schedule, err.Error()))
		}
		if strings.Contains(s.Schedule, "TZ") {
			errs = append(errs, field.Invalid(schedule, s.Schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"))
		}
	}
	errs = append(errs, notNegative(path.Child("startingDeadlineSeconds"), s.StartingDeadlineSeconds)...)
	if zone := s.TimeZone; zone != nil {
		if _, err := time.LoadLocation(*zone); err != nil {
			errs = append(errs, field.Invalid(path.Child("timeZone"), *zone, err.Error()))
		}
	}
	errs = append(errs, oneOf(path.Child("concurrencyPolicy"), s.ConcurrencyPolicy, batchv1.AllowConcurrent, batchv1.ForbidConcurrent, batchv1.ReplaceConcurrent)...)
	errs = append(errs, validateJob(&s.JobTemplate.Spec, path.Child("jobTemplate", "spec"))...)
	errs = append(errs, notNegative(path.Child("successfulJobsHistoryLimit"), s.SuccessfulJobsHistoryLimit)...)
	errs = append(errs, notNegative(path.Child("failedJobsHistoryLimit"), s.FailedJobsHistoryLimit)...)
	if s.Schedule == "" {
		errs = append(errs, field.Required(schedule, ""))
	}
	return errs
}

// parseSchedule returns why a schedule is none. The parser panics at some texts.
func parseSchedule(text string) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("invalid schedule format: %v", r)
		}
	}()
	_, err = cron.ParseStandard(text)
	return err
}

func validateJob(s *batchv1.JobSpec, path *field.Path) field.ErrorList {
	errs := notNegative(path.Child("parallelism"), s.Parallelism)
	errs = append(errs, notNegative(path.Child("completions"), s.Completions)...)
	errs = append(errs, notNegative(path.Child("activeDeadlineSeconds"), s.ActiveDeadlineSeconds)...)
	errs = append(errs, notNegative(path.Child("backoffLimit"), s.BackoffLimit)...)
	errs = append(errs, notNegative(path.Child("ttlSecondsAfterFinished"), s.TTLSecondsAfterFinished)...)
	if s.CompletionMode != nil {
		errs = append(errs, oneOf(path.Child("completionMode"), *s.CompletionMode, batchv1.NonIndexedCompletion, batchv1.IndexedCompletion)...)
	}
	template := path.Child("template", "spec")
	errs = append(errs, validatePodSpec(&s.Template.Spec, template)...)
	if s.Template.Spec.RestartPolicy == corev1.RestartPolicyAlways {
		errs = append(errs, field.Required(template.Child("restartPolicy"), `valid values: "OnFailure", "Never"`))
	}
	return errs
}

func validateAutoscaler(s *autoscalingv2.HorizontalPodAutoscalerSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	most := path.Child("maxReplicas")
	if s.MinReplicas != nil && s.MaxReplicas < *s.MinReplicas {
		errs = append(errs, field.Invalid(most, s.MaxReplicas, "must be greater than or equal to `minReplicas`"))
	}
	ref := path.Child("scaleTargetRef")
	for _, part := range [][2]string{{"kind", s.ScaleTargetRef.Kind}, {"name", s.ScaleTargetRef.Name}} {
		if part[1] == "" {
			errs = append(errs, field.Required(ref.Child(part[0]), ""))
		} else {
			errs = append(errs, invalidEach(ref.Child(part[0]), part[1], content.IsPathSegmentName(part[1]))...)
		}
	}
	if gv, err := schema.ParseGroupVersion(s.ScaleTargetRef.APIVersion); err != nil {
		errs = append(errs, field.Invalid(ref.Child("apiVersion"), s.ScaleTargetRef.APIVersion, err.Error()))
	} else if gv.Group == "" && s.ScaleTargetRef.Kind != "ReplicationController" {
		errs = append(errs, field.Invalid(ref.Child("apiVersion"), s.ScaleTargetRef.APIVersion, "apiVersion must specify API group"))
	}
	switch {
	case s.MaxReplicas == 0:
		errs = append(errs, field.Required(most, "must be set and greater than 0"))
	case s.MaxReplicas < 0:
		errs = append(errs, field.Invalid(most, s.MaxReplicas, "must be greater than or equal to 1"))
	}
	return errs
}

// validateEvent checks that an event is where its object is.
func validateEvent(e *corev1.Event) field.ErrorList {
	path := field.NewPath("involvedObject", "namespace")
	about := e.InvolvedObject.Namespace
	matches := about == e.Namespace
	switch {
	case about == "" && e.EventTime.IsZero():
		matches = e.Namespace == metav1.NamespaceDefault
	case about == "":
		matches = e.Namespace == metav1.NamespaceDefault || e.Namespace == metav1.NamespaceSystem
	case !e.EventTime.IsZero():
		matches = true
	}
	if matches {
		return nil
	}
	return field.ErrorList{field.Invalid(path, about, "does not match event.namespace")}
}

// secretKeys are the keys that secrets of some types must have.
var secretKeys = map[corev1.SecretType][]string{
	corev1.SecretTypeDockercfg:        {corev1.DockerConfigKey},
	corev1.SecretTypeDockerConfigJson: {corev1.DockerConfigJsonKey},
	corev1.SecretTypeSSHAuth:          {corev1.SSHAuthPrivateKey},
	corev1.SecretTypeTLS:              {corev1.TLSCertKey, corev1.TLSPrivateKeyKey},
}

// maxSecret is the API's bound on the data of a secret or a config map, in bytes.
const maxSecret = corev1.MaxSecretSize

func validateSecret(s *corev1.Secret) field.ErrorList {
	var errs field.ErrorList
	path, size := field.NewPath("data"), 0
	for _, name := range sortedKeys(s.Data) {
		errs = append(errs, invalidEach(path.Key(name), name, utilvalidation.IsConfigMapKey(name))...)
		size += len(s.Data[name])
	}
	if size > maxSecret {
		errs = append(errs, field.TooLong(path, "", maxSecret))
	}
	for _, name := range secretKeys[s.Type] {
		if _, found := s.Data[name]; !found {
			errs = append(errs, field.Required(path.Key(name), ""))
		}
	}
	switch s.Type {
	case corev1.SecretTypeDockercfg, corev1.SecretTypeDockerConfigJson:
		name := secretKeys[s.Type][0]
		if raw, found := s.Data[name]; found {
			if err := json.Unmarshal(raw, &map[string]any{}); err != nil {
				errs = append(errs, field.Invalid(path.Key(name), "<secret contents redacted>", err.Error()))
			}
		}
	case corev1.SecretTypeBasicAuth:
		_, user := s.Data[corev1.BasicAuthUsernameKey]
		if _, password := s.Data[corev1.BasicAuthPasswordKey]; !user && !password {
			errs = append(errs, field.Required(path.Key(corev1.BasicAuthUsernameKey), ""), field.Required(path.Key(corev1.BasicAuthPasswordKey), ""))
		}
	case corev1.SecretTypeServiceAccountToken:
		if s.Annotations[corev1.ServiceAccountNameKey] == "" {
			errs = append(errs, field.Required(field.NewPath("metadata", "annotations").Key(corev1.ServiceAccountNameKey), ""))
		}
	}
	return errs
}

func validateConfigMap(c *corev1.ConfigMap) field.ErrorList {
	var errs field.ErrorList
	size := 0
	for _, name := range sortedKeys(c.Data) {
		at := field.NewPath("data").Key(name)
		errs = append(errs, invalidEach(at, name, utilvalidation.IsConfigMapKey(name))...)
		if _, twice := c.BinaryData[name]; twice {
			errs = append(errs, field.Invalid(at, name, "duplicate of key present in binaryData"))
		}
		size += len(c.Data[name])
	}
	for _, name := range sortedKeys(c.BinaryData) {
		errs = append(errs, invalidEach(field.NewPath("binaryData").Key(name), name, utilvalidation.IsConfigMapKey(name))...)
		size += len(c.BinaryData[name])
	}
	if size > maxSecret {
		errs = append(errs, field.TooLong(field.NewPath(""), "", maxSecret))
	}
	return errs
}

func validateService(s *corev1.Service, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(s.Spec.Ports) == 0 && s.Spec.Type != corev1.ServiceTypeExternalName && s.Spec.ClusterIP != corev1.ClusterIPNone {
		errs = append(errs, field.Required(path.Child("ports"), ""))
	}
	errs = append(errs, validateServicePorts(s.Spec.Ports, path.Child("ports"))...)
	errs = append(errs, oneOf(path.Child("sessionAffinity"), s.Spec.SessionAffinity, corev1.ServiceAffinityClientIP, corev1.ServiceAffinityNone)...)
	errs = append(errs, oneOf(path.Child("type"), s.Spec.Type, corev1.ServiceTypeClusterIP, corev1.ServiceTypeExternalName, corev1.ServiceTypeLoadBalancer, corev1.ServiceTypeNodePort)...)
	seen := map[string]bool{}
	for i, port := range s.Spec.Ports {
		id := fmt.Sprint(port.Protocol, port.Port)
		if seen[id] {
			errs = append(errs, field.Duplicate(path.Child("ports").Index(i), port))
		}
		seen[id] = true
	}
	if s.Spec.Type != corev1.ServiceTypeExternalName {
		return append(errs, validateAddresses(&s.Spec, path)...)
	}
	if s.Spec.ClusterIP != "" || len(s.Spec.ClusterIPs) > 0 {
		errs = append(errs, field.Forbidden(path.Child("clusterIPs"), "may not be set for ExternalName services"))
	}
	name := path.Child("externalName")
	if s.Spec.ExternalName == "" {
		return append(errs, field.Required(name, ""))
	}
	return append(errs, invalidEach(name, s.Spec.ExternalName, utilvalidation.IsDNS1123Subdomain(strings.TrimSuffix(s.Spec.ExternalName, ".")))...)
}

// validateAddresses checks what are said to be addresses.
func validateAddresses(s *corev1.ServiceSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, address := range s.ClusterIPs {
		if address == corev1.ClusterIPNone && i == 0 {
			continue
		}
		if _, err := netip.ParseAddr(address); err != nil {
			errs = append(errs, field.Invalid(path.Child("clusterIPs").Index(i), address, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"))
		}
	}
	if len(s.ClusterIPs) > 0 && s.ClusterIPs[0] != s.ClusterIP {
		errs = append(errs, field.Invalid(path.Child("clusterIPs"), s.ClusterIPs, "first value must match `clusterIP`"))
	}
	return errs
}

func validateServicePorts(ports []corev1.ServicePort, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	names := map[string]bool{}
	for i, port := range ports {
		at := path.Index(i)
		switch {
		case port.Name == "" && len(ports) > 1:
			errs = append(errs, field.Required(at.Child("name"), ""))
		case port.Name != "":
			errs = append(errs, invalidEach(at.Child("name"), port.Name, utilvalidation.IsDNS1123Label(port.Name))...)
			if names[port.Name] {
				errs = append(errs, field.Duplicate(at.Child("name"), port.Name))
			}
			names[port.Name] = true
		}
		errs = append(errs, invalidEach(at.Child("port"), port.Port, utilvalidation.IsValidPortNum(int(port.Port)))...)
		errs = append(errs, oneOf(at.Child("protocol"), port.Protocol, protocols...)...)
		errs = append(errs, validatePort(port.TargetPort, at.Child("targetPort"))...)
	}
	return errs
}
