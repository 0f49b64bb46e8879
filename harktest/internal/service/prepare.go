package service

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/gocampus/hark/key"
)

// prepareKind does what the API does with a new object of some kinds: the first
// status, addresses, labels that name the object itself.
func (s *Service) prepareKind(t Target, obj runtime.Object) error {
	switch o := obj.(type) {
	case *corev1.Pod:
		o.Status = corev1.PodStatus{Phase: corev1.PodPending, QOSClass: qosClass(&o.Spec)}
		admitPod(o)
	case *corev1.Namespace:
		o.Status.Phase = corev1.NamespaceActive
		if !slices.Contains(o.Spec.Finalizers, corev1.FinalizerKubernetes) {
			o.Spec.Finalizers = append(o.Spec.Finalizers, corev1.FinalizerKubernetes)
		}
	case *corev1.PersistentVolume:
		o.Status.Phase = corev1.VolumePending
	case *corev1.PersistentVolumeClaim:
		o.Status.Phase = corev1.ClaimPending
		if !slices.Contains(o.Finalizers, claimFinalizer) {
			o.Finalizers = append(o.Finalizers, claimFinalizer)
		}
	case *corev1.Service:
		if err := s.assignAddress(o); err != nil {
			return err
		}
	case *batchv1.Job:
		labelJob(o)
	}
	if t.Kind.Storage() == crdStorage {
		return prepareDefinition(obj)
	}
	return nil
}

func prepareKindUpdate(t Target, next, old runtime.Object) error {
	if t.Kind.Storage() == crdStorage {
		return prepareDefinitionUpdate(next)
	}
	switch o := next.(type) {
	case *corev1.Service:
		before := old.(*corev1.Service)
		setDefault(&o.Spec.ClusterIP, before.Spec.ClusterIP)
		if len(o.Spec.ClusterIPs) == 0 {
			o.Spec.ClusterIPs = before.Spec.ClusterIPs
		}
		if len(o.Spec.IPFamilies) == 0 {
			o.Spec.IPFamilies = before.Spec.IPFamilies
		}
		if o.Spec.IPFamilyPolicy == nil {
			o.Spec.IPFamilyPolicy = before.Spec.IPFamilyPolicy
		}
	case *corev1.Pod:
		// Defaulting by admission happens once; a pod keeps its priority.
		before := old.(*corev1.Pod)
		if o.Spec.Priority == nil {
			o.Spec.Priority = before.Spec.Priority
		}
		if o.Spec.PreemptionPolicy == nil {
			o.Spec.PreemptionPolicy = before.Spec.PreemptionPolicy
		}
		tolerateTrouble(o)
	}
	return nil
}

// notReadySeconds is how long pods stay on a node that is not ready.
const notReadySeconds = 300

// admitPod does what the admission plugins Priority and DefaultTolerationSeconds do.
func admitPod(p *corev1.Pod) {
	setDefaultPointer(&p.Spec.Priority, 0)
	setDefaultPointer(&p.Spec.PreemptionPolicy, corev1.PreemptLowerPriority)
	tolerateTrouble(p)
}

// tolerateTrouble lets a pod stay on a node in trouble for a while, unless it says
// how long itself.
func tolerateTrouble(p *corev1.Pod) {
	for _, taint := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
		tolerated := slices.ContainsFunc(p.Spec.Tolerations, func(t corev1.Toleration) bool {
			return (t.Key == taint || t.Key == "") && (t.Effect == corev1.TaintEffectNoExecute || t.Effect == "")
		})
		if !tolerated {
			seconds := int64(notReadySeconds)
			p.Spec.Tolerations = append(p.Spec.Tolerations, corev1.Toleration{
				Key: taint, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &seconds,
			})
		}
	}
}

// qosClass is the pod's quality of service, computed from cpu and memory.
func qosClass(p *corev1.PodSpec) corev1.PodQOSClass {
	set, guaranteed := false, true
	for _, c := range slices.Concat(p.InitContainers, p.Containers) {
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			request, limit := c.Resources.Requests[name], c.Resources.Limits[name]
			set = set || !request.IsZero() || !limit.IsZero()
			guaranteed = guaranteed && !limit.IsZero() && request.Cmp(limit) == 0
		}
	}
	switch {
	case !set:
		return corev1.PodQOSBestEffort
	case guaranteed:
		return corev1.PodQOSGuaranteed
	}
	return corev1.PodQOSBurstable
}

// addresses are those of which services get theirs.
var addresses = netip.MustParsePrefix("10.0.0.0/16")

// assignAddress gives a service a cluster IP, or checks that it may have the one that it
// asks for.
func (s *Service) assignAddress(svc *corev1.Service) error {
	if svc.Spec.Type == corev1.ServiceTypeExternalName {
		return nil
	}
	switch wanted, err := netip.ParseAddr(svc.Spec.ClusterIP); {
	case svc.Spec.ClusterIP == "":
		svc.Spec.ClusterIP = s.nextAddress()
	case err != nil || !wanted.Is4(): // none, or nothing of ours: validation looks at it
	case !addresses.Contains(wanted):
		return noAddress(svc, fmt.Sprintf("the provided IP (%s) is not in the valid range. The range of valid IPs is %s", wanted, addresses))
	case s.hasAddress(svc.Spec.ClusterIP):
		return noAddress(svc, "provided IP is already allocated")
	}
	if len(svc.Spec.ClusterIPs) == 0 {
		svc.Spec.ClusterIPs = []string{svc.Spec.ClusterIP}
	}
	if len(svc.Spec.IPFamilies) == 0 {
		svc.Spec.IPFamilies = []corev1.IPFamily{corev1.IPv4Protocol}
		if svc.Spec.ClusterIP == corev1.ClusterIPNone && len(svc.Spec.Selector) == 0 && svc.Spec.IPFamilyPolicy == nil {
			// Nobody but the author of its endpoints knows their families.
			svc.Spec.IPFamilies = append(svc.Spec.IPFamilies, corev1.IPv6Protocol)
			svc.Spec.IPFamilyPolicy = new(corev1.IPFamilyPolicyRequireDualStack)
		}
	}
	setDefaultPointer(&svc.Spec.IPFamilyPolicy, corev1.IPFamilyPolicySingleStack)
	return nil
}

func noAddress(svc *corev1.Service, why string) error {
	path, address := field.NewPath("spec", "clusterIPs"), svc.Spec.ClusterIP
	errs := field.ErrorList{field.Invalid(path, []string{address}, "failed to allocate IP "+address+": "+why)}
	return apierrors.NewInvalid(schema.GroupKind{Kind: "Service"}, svc.Name, errs)
}

// nextAddress returns an address that no service has.
func (s *Service) nextAddress() string {
	for {
		s.mu.Lock()
		s.address = max(s.address+1, 1)
		address := fmt.Sprintf("10.0.%d.%d", s.address>>8, s.address&0xff)
		chosen := s.chosen[address]
		s.mu.Unlock()
		if !chosen || !s.hasAddress(address) {
			return address
		}
	}
}

// hasAddress tells whether a service has an address, and notes that somebody chose it.
func (s *Service) hasAddress(address string) bool {
	s.mu.Lock()
	s.chosen[address] = true
	s.mu.Unlock()
	for record := range s.store.Newest("services").All("", key.Key{}) {
		if svc, ok := record.Value.Object().(*corev1.Service); ok && svc.Spec.ClusterIP == address {
			return true
		}
	}
	return false
}

// claimFinalizer is what the admission plugin StorageObjectInUseProtection adds.
const claimFinalizer = "kubernetes.io/pvc-protection"

// labelJob gives a job its generated selector and the labels that match it.
func labelJob(j *batchv1.Job) {
	if j.Spec.ManualSelector != nil && *j.Spec.ManualSelector {
		return
	}
	if j.Spec.Template.Labels == nil {
		j.Spec.Template.Labels = map[string]string{}
	}
	for name, value := range map[string]string{
		"job-name": j.Name, "controller-uid": string(j.UID),
		batchv1.JobNameLabel: j.Name, batchv1.ControllerUidLabel: string(j.UID),
	} {
		j.Spec.Template.Labels[name] = value
	}
	if len(j.Labels) == 0 { // by default those of its pods
		j.Labels = maps.Clone(j.Spec.Template.Labels)
	}
	if j.Spec.Selector == nil {
		j.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{batchv1.ControllerUidLabel: string(j.UID)}}
	}
}
