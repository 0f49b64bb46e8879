package kind

import (
	"reflect"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	internalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	eventsv1 "k8s.io/api/events/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	lifecyclev1alpha1 "k8s.io/api/lifecycle/v1alpha1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	resourcev1alpha3 "k8s.io/api/resource/v1alpha3"
	schedulingv1 "k8s.io/api/scheduling/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storagev1 "k8s.io/api/storage/v1"
	migrationv1 "k8s.io/api/storagemigration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// entry is a line of the table of built-in kinds. names is the plural and the
// short names; traits are words:
// cluster (not namespaced), status, scale, gen (has a generation),
// all, ext (categories), nocollection (no deletecollection), create (only).
type entry struct {
	object runtime.Object
	names  string
	traits string
}

// groupEntries is one version of one group.
type groupEntries struct {
	group, version string
	entries        []entry
}

// builtinTable holds the stable version of each kind, or the newest one where
// there is no stable version, in the order of a server's discovery document.
var builtinTable = []groupEntries{
	{"", "v1", []entry{
		{&corev1.Binding{}, "bindings", "create"},
		{&corev1.ConfigMap{}, "configmaps cm", ""},
		{&corev1.Endpoints{}, "endpoints ep", ""},
		{&corev1.Event{}, "events ev", ""},
		{&corev1.LimitRange{}, "limitranges limits", ""},
		{&corev1.Namespace{}, "namespaces ns", "cluster status nocollection"},
		{&corev1.Node{}, "nodes no", "cluster status"},
		{&corev1.PersistentVolumeClaim{}, "persistentvolumeclaims pvc", "status"},
		{&corev1.PersistentVolume{}, "persistentvolumes pv", "cluster status"},
		{&corev1.Pod{}, "pods po", "status all gen"},
		{&corev1.PodTemplate{}, "podtemplates", "gen"},
		{&corev1.ReplicationController{}, "replicationcontrollers rc", "status scale all gen"},
		{&corev1.ResourceQuota{}, "resourcequotas quota", "status"},
		{&corev1.Secret{}, "secrets", ""},
		{&corev1.ServiceAccount{}, "serviceaccounts sa", ""},
		{&corev1.Service{}, "services svc", "status all"},
	}},
	{"apiregistration.k8s.io", "v1", []entry{
		{nil, "apiservices/APIService", "cluster status ext"},
	}},
	{"apps", "v1", []entry{
		{&appsv1.ControllerRevision{}, "controllerrevisions", ""},
		{&appsv1.DaemonSet{}, "daemonsets ds", "status all gen"},
		{&appsv1.Deployment{}, "deployments deploy", "status scale all gen"},
		{&appsv1.ReplicaSet{}, "replicasets rs", "status scale all gen"},
		{&appsv1.StatefulSet{}, "statefulsets sts", "status scale all gen"},
	}},
	{"events.k8s.io", "v1", []entry{
		{&eventsv1.Event{}, "events ev", ""},
	}},
	{"authentication.k8s.io", "v1", []entry{
		{&authenticationv1.SelfSubjectReview{}, "selfsubjectreviews", "cluster create"},
		{&authenticationv1.TokenReview{}, "tokenreviews", "cluster create"},
	}},
	{"authorization.k8s.io", "v1", []entry{
		{&authorizationv1.LocalSubjectAccessReview{}, "localsubjectaccessreviews", "create"},
		{&authorizationv1.SelfSubjectAccessReview{}, "selfsubjectaccessreviews", "cluster create"},
		{&authorizationv1.SelfSubjectRulesReview{}, "selfsubjectrulesreviews", "cluster create"},
		{&authorizationv1.SubjectAccessReview{}, "subjectaccessreviews", "cluster create"},
	}},
	{"autoscaling", "v2", []entry{
		{&autoscalingv2.HorizontalPodAutoscaler{}, "horizontalpodautoscalers hpa", "status all gen"},
	}},
	{"autoscaling", "v1", []entry{
		{&autoscalingv1.HorizontalPodAutoscaler{}, "horizontalpodautoscalers hpa", "status all gen"},
	}},
	{"batch", "v1", []entry{
		{&batchv1.CronJob{}, "cronjobs cj", "status all gen"},
		{&batchv1.Job{}, "jobs", "status all gen"},
	}},
	{"certificates.k8s.io", "v1", []entry{
		{&certificatesv1.CertificateSigningRequest{}, "certificatesigningrequests csr", "cluster status"},
		{&certificatesv1.ClusterTrustBundle{}, "clustertrustbundles", "cluster"},
		{&certificatesv1.PodCertificateRequest{}, "podcertificaterequests", "status"},
	}},
	{"networking.k8s.io", "v1", []entry{
		{&networkingv1.IngressClass{}, "ingressclasses", "cluster gen"},
		{&networkingv1.Ingress{}, "ingresses ing", "status gen"},
		{&networkingv1.IPAddress{}, "ipaddresses ip", "cluster"},
		{&networkingv1.NetworkPolicy{}, "networkpolicies netpol", "gen"},
		{&networkingv1.ServiceCIDR{}, "servicecidrs", "cluster status"},
	}},
	{"policy", "v1", []entry{
		{&policyv1.PodDisruptionBudget{}, "poddisruptionbudgets pdb", "status gen"},
	}},
	{"rbac.authorization.k8s.io", "v1", []entry{
		{&rbacv1.ClusterRoleBinding{}, "clusterrolebindings", "cluster"},
		{&rbacv1.ClusterRole{}, "clusterroles", "cluster"},
		{&rbacv1.RoleBinding{}, "rolebindings", ""},
		{&rbacv1.Role{}, "roles", ""},
	}},
	{"storage.k8s.io", "v1", []entry{
		{&storagev1.CSIDriver{}, "csidrivers", "cluster"},
		{&storagev1.CSINode{}, "csinodes", "cluster"},
		{&storagev1.CSIStorageCapacity{}, "csistoragecapacities", ""},
		{&storagev1.StorageClass{}, "storageclasses sc", "cluster"},
		{&storagev1.VolumeAttachment{}, "volumeattachments", "cluster status"},
		{&storagev1.VolumeAttributesClass{}, "volumeattributesclasses vac", "cluster"},
	}},
	{"admissionregistration.k8s.io", "v1", []entry{
		{&admissionv1.MutatingAdmissionPolicy{}, "mutatingadmissionpolicies", "cluster ext gen"},
		{&admissionv1.MutatingAdmissionPolicyBinding{}, "mutatingadmissionpolicybindings", "cluster ext gen"},
		{&admissionv1.MutatingWebhookConfiguration{}, "mutatingwebhookconfigurations", "cluster ext gen"},
		{&admissionv1.ValidatingAdmissionPolicy{}, "validatingadmissionpolicies", "cluster status ext gen"},
		{&admissionv1.ValidatingAdmissionPolicyBinding{}, "validatingadmissionpolicybindings", "cluster ext gen"},
		{&admissionv1.ValidatingWebhookConfiguration{}, "validatingwebhookconfigurations", "cluster ext gen"},
	}},
	{"apiextensions.k8s.io", "v1", []entry{
		{nil, "customresourcedefinitions/CustomResourceDefinition crd crds", "cluster status ext gen"},
	}},
	{"scheduling.k8s.io", "v1", []entry{
		{&schedulingv1.PriorityClass{}, "priorityclasses pc", "cluster gen"},
	}},
	{"scheduling.k8s.io", "v1beta1", []entry{
		{&schedulingv1beta1.PodGroup{}, "podgroups", "status"},
		{&schedulingv1beta1.Workload{}, "workloads", ""},
	}},
	{"scheduling.k8s.io", "v1alpha3", []entry{
		{&schedulingv1alpha3.CompositePodGroup{}, "compositepodgroups", "status"},
	}},
	{"coordination.k8s.io", "v1", []entry{
		{&coordinationv1.Lease{}, "leases", ""},
	}},
	{"coordination.k8s.io", "v1beta1", []entry{
		{&coordinationv1beta1.LeaseCandidate{}, "leasecandidates", ""},
	}},
	{"node.k8s.io", "v1", []entry{
		{&nodev1.RuntimeClass{}, "runtimeclasses", "cluster"},
	}},
	{"discovery.k8s.io", "v1", []entry{
		{&discoveryv1.EndpointSlice{}, "endpointslices", "gen"},
	}},
	{"resource.k8s.io", "v1", []entry{
		{&resourcev1.DeviceClass{}, "deviceclasses", "cluster gen"},
		{&resourcev1.DeviceTaintRule{}, "devicetaintrules", "cluster status gen"},
		{&resourcev1.ResourceClaim{}, "resourceclaims", "status"},
		{&resourcev1.ResourceClaimTemplate{}, "resourceclaimtemplates", ""},
		{&resourcev1.ResourceSlice{}, "resourceslices", "cluster gen"},
	}},
	{"resource.k8s.io", "v1alpha3", []entry{
		{&resourcev1alpha3.ResourcePoolStatusRequest{}, "resourcepoolstatusrequests", "cluster status"},
	}},
	{"flowcontrol.apiserver.k8s.io", "v1", []entry{
		{&flowcontrolv1.FlowSchema{}, "flowschemas", "cluster status gen"},
		{&flowcontrolv1.PriorityLevelConfiguration{}, "prioritylevelconfigurations", "cluster status gen"},
	}},
	{"internal.apiserver.k8s.io", "v1alpha1", []entry{
		{&internalv1alpha1.StorageVersion{}, "storageversions", "cluster status"},
	}},
	{"storagemigration.k8s.io", "v1", []entry{
		{&migrationv1.StorageVersionMigration{}, "storageversionmigrations", "cluster status"},
	}},
	{"lifecycle.k8s.io", "v1alpha1", []entry{
		{&lifecyclev1alpha1.EvictionRequest{}, "evictionrequests", "status gen"},
		{&lifecyclev1alpha1.Eviction{}, "evictions", "status gen"},
	}},
}

// reviewTypes are the bodies of subresources that are no kinds of their own.
var reviewTypes = map[schema.GroupVersionKind]reflect.Type{
	{Group: "autoscaling", Version: "v1", Kind: "Scale"}:                  reflect.TypeFor[autoscalingv1.Scale](),
	{Group: "policy", Version: "v1", Kind: "Eviction"}:                    reflect.TypeFor[policyv1.Eviction](),
	{Group: "authentication.k8s.io", Version: "v1", Kind: "TokenRequest"}: reflect.TypeFor[authenticationv1.TokenRequest](),
}

// builtins returns the built-in kinds, made afresh.
func builtins() []*Kind {
	var kinds []*Kind
	for _, g := range builtinTable {
		for _, e := range g.entries {
			kinds = append(kinds, e.kind(g.group, g.version))
		}
	}
	addExtras(kinds)
	addHubs(kinds)
	return kinds
}

func (e entry) kind(group, version string) *Kind {
	names := strings.Fields(e.names)
	plural, kindName, _ := strings.Cut(names[0], "/")
	k := &Kind{Plural: plural, Short: names[1:], Namespaced: true}
	if e.object != nil {
		k.SetType(e.object)
		kindName = k.typ.Name()
	}
	k.GVK = schema.GroupVersionKind{Group: group, Version: version, Kind: kindName}
	for _, trait := range strings.Fields(e.traits) {
		k.apply(trait)
	}
	return k
}

func (k *Kind) apply(trait string) {
	switch trait {
	case "cluster":
		k.Namespaced = false
	case "status":
		k.Status = true
	case "gen":
		k.Generation = true
	case "scale":
		k.Scale = &Scale{Spec: "spec.replicas", Status: "status.replicas", Selector: "spec.selector"}
	case "all":
		k.Categories = append(k.Categories, "all")
	case "ext":
		k.Categories = append(k.Categories, "api-extensions")
	case "create":
		k.Verbs = []string{"create"}
	case "nocollection":
		k.Verbs = []string{"create", "delete", "get", "list", "patch", "update", "watch"}
	default:
		panic("kind: unknown trait " + trait)
	}
}

// addExtras names the subresources beyond status and scale.
func addExtras(kinds []*Kind) {
	verbs := []string{"get", "patch", "update"}
	create := []string{"create"}
	for _, k := range kinds {
		switch k.Storage() {
		case "pods":
			k.Extra = []Subresource{
				{"binding", schema.GroupVersionKind{Version: "v1", Kind: "Binding"}, create},
				{"ephemeralcontainers", k.GVK, verbs},
				{"eviction", schema.GroupVersionKind{Group: "policy", Version: "v1", Kind: "Eviction"}, create},
				{"log", k.GVK, []string{"get"}},
				{"resize", k.GVK, verbs},
			}
		case "namespaces":
			k.Extra = []Subresource{{"finalize", k.GVK, []string{"update"}}}
		case "certificatesigningrequests.certificates.k8s.io":
			k.Extra = []Subresource{{"approval", k.GVK, verbs}}
		case "serviceaccounts":
			k.Extra = []Subresource{{"token", schema.GroupVersionKind{Group: "authentication.k8s.io", Version: "v1", Kind: "TokenRequest"}, create}}
		}
	}
}
