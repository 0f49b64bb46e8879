package kind

// The API treats an update of these kinds in ways of their own. The names are those
// of Storage.
var (
	createdByUpdate = map[string]bool{
		"endpoints": true, "events": true, "limitranges": true, "services": true,
		"leases.coordination.k8s.io": true, "leasecandidates.coordination.k8s.io": true, "runtimeclasses.node.k8s.io": true,
		"clusterroles.rbac.authorization.k8s.io": true, "clusterrolebindings.rbac.authorization.k8s.io": true,
		"roles.rbac.authorization.k8s.io": true, "rolebindings.rbac.authorization.k8s.io": true,
	}
	updatedByVersion = map[string]bool{
		"leases.coordination.k8s.io": true, "leasecandidates.coordination.k8s.io": true, "runtimeclasses.node.k8s.io": true,
		"poddisruptionbudgets.policy": true, "clustertrustbundles.certificates.k8s.io": true,
		"podcertificaterequests.certificates.k8s.io": true, "csidrivers.storage.k8s.io": true, "csinodes.storage.k8s.io": true,
		"csistoragecapacities.storage.k8s.io": true, "volumeattachments.storage.k8s.io": true,
		"storageversions.internal.apiserver.k8s.io": true, "storageversionmigrations.storagemigration.k8s.io": true,
		"customresourcedefinitions.apiextensions.k8s.io": true, "apiservices.apiregistration.k8s.io": true,
		"mutatingadmissionpolicies.admissionregistration.k8s.io": true, "mutatingadmissionpolicybindings.admissionregistration.k8s.io": true,
		"mutatingwebhookconfigurations.admissionregistration.k8s.io": true, "validatingadmissionpolicies.admissionregistration.k8s.io": true,
		"validatingadmissionpolicybindings.admissionregistration.k8s.io": true, "validatingwebhookconfigurations.admissionregistration.k8s.io": true,
		"workloads.scheduling.k8s.io": true, "podgroups.scheduling.k8s.io": true,
	}
)

// CreatedByUpdate tells whether an update of an object that is missing creates it.
func (k *Kind) CreatedByUpdate() bool { return createdByUpdate[k.Storage()] }

// NeedsVersion tells whether an update must say from which resourceVersion it comes.
func (k *Kind) NeedsVersion() bool { return k.Main().Custom || updatedByVersion[k.Storage()] }
