// Package status picks the one field that tells most about an object: the
// phase of a pod, how many replicas of a deployment are ready, whether a custom
// resource is Ready.
package status

import (
	"fmt"
	"strconv"
)

// Field is a name and a value, such as phase and Running; a value without a name
// speaks for itself. Neither is ever translated. The zero Field says that there
// is nothing to tell.
type Field struct{ Name, Value string }

// String returns name=value, the value alone where there is no name, or "" for
// the zero Field.
func (f Field) String() string {
	if f.Name == "" {
		return f.Value
	}
	return f.Name + "=" + f.Value
}

// Of returns the most telling field of a decoded object of the kind, as
// "ready=1/3", and after it what is not in order yet with a rollout: "updated=1"
// for the replicas that have the newest template, "observed=1/2" where the
// controller has not seen the newest generation. Whatever the object looks like,
// the answer is a text, perhaps "".
func Of(group, kind string, object map[string]any) string {
	name := group + "/" + kind
	tell, known := byKind[name]
	if !known {
		return general(object).String()
	}
	line := tell(object).String()
	if more := rollouts[name]; more != nil {
		for _, field := range more(object) {
			line += " " + field.String()
		}
	}
	return line
}

// byKind tells of the kinds that are built into Kubernetes; others are told of
// by general.
var byKind = map[string]func(map[string]any) Field{
	"/Pod":                   phase,
	"/Namespace":             phase,
	"/PersistentVolume":      phase,
	"/PersistentVolumeClaim": phase,
	"/Node":                  ready,
	"/Service":               service,
	"/Event":                 occurrence,
	"/Endpoints":             silent,
	"/ReplicationController": readyReplicas,

	"apps/Deployment":  readyReplicas,
	"apps/StatefulSet": readyReplicas,
	"apps/ReplicaSet":  readyReplicas,
	"apps/DaemonSet":   daemons,

	"batch/Job":     job,
	"batch/CronJob": cronJob,

	"networking.k8s.io/Ingress":           address,
	"discovery.k8s.io/EndpointSlice":      endpoints,
	"coordination.k8s.io/Lease":           holder,
	"policy/PodDisruptionBudget":          healthy,
	"autoscaling/HorizontalPodAutoscaler": scale,
	"events.k8s.io/Event":                 occurrence,

	"apiextensions.k8s.io/CustomResourceDefinition": established,
	"storage.k8s.io/VolumeAttachment":               attached,
}

func silent(map[string]any) Field { return Field{} }

func phase(o map[string]any) Field { return text(o, "phase", "status", "phase") }

func holder(o map[string]any) Field { return text(o, "holder", "spec", "holderIdentity") }

func ready(o map[string]any) Field { return condition(o, "Ready", "ready") }

func established(o map[string]any) Field { return condition(o, "Established", "established") }

func attached(o map[string]any) Field {
	if value, ok := at(o, "status", "attached").(bool); ok {
		return Field{"attached", strconv.FormatBool(value)}
	}
	return Field{}
}

// text returns the Field for a text at the path, or the zero one.
func text(o map[string]any, name string, path ...string) Field {
	if value, ok := at(o, path...).(string); ok && value != "" {
		return Field{name, value}
	}
	return Field{}
}

// condition returns the Field for the status of a condition, or the zero one.
func condition(o map[string]any, kind, name string) Field {
	conditions, _ := at(o, "status", "conditions").([]any)
	for _, element := range conditions {
		c, _ := element.(map[string]any)
		if c["type"] == kind {
			return text(c, name, "status")
		}
	}
	return Field{}
}

// at returns the value at the path, nil where there is none.
func at(o map[string]any, path ...string) any {
	var value any = o
	for _, name := range path {
		object, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		value = object[name]
	}
	return value
}

// count returns the whole number at the path, and whether there is one.
func count(o map[string]any, path ...string) (int64, bool) {
	switch n := at(o, path...).(type) {
	case int64:
		return n, true
	case float64:
		return int64(n), true
	}
	return 0, false
}

// ratio writes 1/3.
func ratio(name string, have, want int64) Field {
	return Field{name, fmt.Sprintf("%d/%d", have, want)}
}
