package object

import (
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/gocampus/hark/harktest/internal/kind"
)

// fieldNames are the fields, beyond the name and the namespace, that a field
// selector may name.
var fieldNames = map[string][]string{
	"pods": {"spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName", "spec.hostNetwork",
		"spec.host", "status.phase", "status.podIP", "status.podIPs", "status.nominatedNodeName"},
	"nodes":                  {"spec.unschedulable"},
	"replicationcontrollers": {"status.replicas"},
	"namespaces":             {"status.phase"},
	"secrets":                {"type"},
	"services":               {"spec.clusterIP", "spec.type"},
	"events": {"involvedObject.kind", "involvedObject.namespace", "involvedObject.name", "involvedObject.uid",
		"involvedObject.apiVersion", "involvedObject.resourceVersion", "involvedObject.fieldPath",
		"reason", "reportingComponent", "source", "type"},
	"jobs.batch": {"status.successful"},
	"certificatesigningrequests.certificates.k8s.io": {"spec.signerName"},
}

// eventAliases are the names of an event's fields in events.k8s.io.
var eventAliases = map[string]string{
	"regarding.kind": "involvedObject.kind", "regarding.namespace": "involvedObject.namespace",
	"regarding.name": "involvedObject.name", "regarding.uid": "involvedObject.uid",
	"regarding.apiVersion": "involvedObject.apiVersion", "regarding.resourceVersion": "involvedObject.resourceVersion",
	"regarding.fieldPath": "involvedObject.fieldPath", "reportingController": "reportingComponent",
}

// FieldName returns the name under which Fields knows a field of a selector, and
// whether the kind supports it.
func FieldName(k *kind.Kind, name string) (string, bool) {
	switch {
	case name == "metadata.name", name == "metadata.namespace" && k.Namespaced:
		return name, true
	case k.Storage() == "pods" && name == "spec.host":
		return "spec.nodeName", true
	}
	if alias := eventAliases[name]; alias != "" && k.GVK.Group == "events.k8s.io" {
		return alias, true
	}
	return name, slices.Contains(fieldNames[k.Storage()], name) || slices.Contains(k.Main().SelectableFields, name)
}

// UnknownField is what the API says of a field that FieldName does not know.
func UnknownField(k *kind.Kind, name string) string {
	switch {
	case k.Storage() == "jobs.batch":
		return "field label " + strconv.Quote(name) + " not supported for Job"
	case k.Custom || fieldNames[k.Storage()] != nil:
		return "field label not supported: " + name
	}
	return strconv.Quote(name) + ` is not a known field selector: only "metadata.name", "metadata.namespace"`
}

func selectableFields(k *kind.Kind, obj runtime.Object, m metav1.Object) fields.Set {
	set := fields.Set{"metadata.name": m.GetName()}
	if k.Namespaced {
		set["metadata.namespace"] = m.GetNamespace()
	}
	switch o := obj.(type) {
	case *corev1.Pod:
		addPodFields(set, o)
	case *corev1.Node:
		set["spec.unschedulable"] = strconv.FormatBool(o.Spec.Unschedulable)
	case *corev1.ReplicationController:
		set["status.replicas"] = strconv.Itoa(int(o.Status.Replicas))
	case *corev1.Namespace:
		set["status.phase"] = string(o.Status.Phase)
	case *corev1.Secret:
		set["type"] = string(o.Type)
	case *corev1.Service:
		set["spec.clusterIP"], set["spec.type"] = o.Spec.ClusterIP, string(o.Spec.Type)
	case *corev1.Event:
		addEventFields(set, o)
	case *unstructured.Unstructured:
		addCustomFields(set, k, o)
	default:
		addOtherFields(set, obj)
	}
	return set
}

func addPodFields(set fields.Set, p *corev1.Pod) {
	set["spec.nodeName"] = p.Spec.NodeName
	set["spec.restartPolicy"] = string(p.Spec.RestartPolicy)
	set["spec.schedulerName"] = p.Spec.SchedulerName
	set["spec.serviceAccountName"] = p.Spec.ServiceAccountName
	set["spec.hostNetwork"] = strconv.FormatBool(p.Spec.HostNetwork)
	set["status.phase"] = string(p.Status.Phase)
	set["status.podIP"] = p.Status.PodIP
	set["status.podIPs"] = p.Status.PodIP
	set["status.nominatedNodeName"] = p.Status.NominatedNodeName
}

func addEventFields(set fields.Set, e *corev1.Event) {
	set["involvedObject.kind"] = e.InvolvedObject.Kind
	set["involvedObject.namespace"] = e.InvolvedObject.Namespace
	set["involvedObject.name"] = e.InvolvedObject.Name
	set["involvedObject.uid"] = string(e.InvolvedObject.UID)
	set["involvedObject.apiVersion"] = e.InvolvedObject.APIVersion
	set["involvedObject.resourceVersion"] = e.InvolvedObject.ResourceVersion
	set["involvedObject.fieldPath"] = e.InvolvedObject.FieldPath
	set["reason"], set["type"] = e.Reason, e.Type
	set["reportingComponent"] = e.ReportingController
	set["source"] = e.Source.Component
	if e.Source.Component == "" {
		set["source"] = e.ReportingController
	}
}

func addCustomFields(set fields.Set, k *kind.Kind, u *unstructured.Unstructured) {
	for _, path := range k.SelectableFields {
		if value, found := kind.Lookup(u.Object, path); found {
			set[path] = kind.Text(value)
		} else {
			set[path] = ""
		}
	}
}

func addOtherFields(set fields.Set, obj runtime.Object) {
	switch o := obj.(type) {
	case *batchv1.Job:
		set["status.successful"] = strconv.Itoa(int(o.Status.Succeeded))
	case *certificatesv1.CertificateSigningRequest:
		set["spec.signerName"] = o.Spec.SignerName
	}
}
