package status

import (
	"fmt"
	"strconv"
)

// readyReplicas: an absent spec.replicas means 1, an absent count of ready ones 0.
func readyReplicas(o map[string]any) Field {
	want, ok := count(o, "spec", "replicas")
	if !ok {
		want = 1
	}
	have, _ := count(o, "status", "readyReplicas")
	return ratio("ready", have, want)
}

func daemons(o map[string]any) Field {
	have, _ := count(o, "status", "numberReady")
	want, _ := count(o, "status", "desiredNumberScheduled")
	return ratio("ready", have, want)
}

// job counts successes; one that has failed says why. A job without
// completions needs one success.
func job(o map[string]any) Field {
	if failed := condition(o, "Failed", "failed"); failed.Value == "True" {
		return Field{"failed", conditionReason(o, "Failed")}
	}
	want, ok := count(o, "spec", "completions")
	if !ok {
		want = 1
	}
	have, _ := count(o, "status", "succeeded")
	return ratio("succeeded", have, want)
}

// conditionReason returns the reason of a condition that is there.
func conditionReason(o map[string]any, kind string) string {
	conditions, _ := at(o, "status", "conditions").([]any)
	for _, element := range conditions {
		c, _ := element.(map[string]any)
		if reason, ok := c["reason"].(string); ok && reason != "" && c["type"] == kind {
			return reason
		}
	}
	return "True"
}

func cronJob(o map[string]any) Field {
	if suspended, _ := at(o, "spec", "suspend").(bool); suspended {
		return Field{"suspend", "true"}
	}
	active, _ := at(o, "status", "active").([]any)
	return Field{"active", strconv.Itoa(len(active))}
}

// service: what a load balancer waits for is its address; others do not change
// but by their type.
func service(o map[string]any) Field {
	kind := text(o, "type", "spec", "type")
	if kind.Value == "LoadBalancer" {
		return address(o)
	}
	return kind
}

func address(o map[string]any) Field {
	ingress, _ := at(o, "status", "loadBalancer", "ingress").([]any)
	for _, element := range ingress {
		entry, _ := element.(map[string]any)
		for _, name := range [...]string{"ip", "hostname"} {
			if field := text(entry, "address", name); field.Name != "" {
				return field
			}
		}
	}
	return Field{"address", "<pending>"}
}

// endpoints counts those that are ready; an unknown condition counts as ready,
// as the API says of discovery.k8s.io/v1 EndpointConditions.
func endpoints(o map[string]any) Field {
	list, _ := o["endpoints"].([]any)
	var have int64
	for _, element := range list {
		endpoint, _ := element.(map[string]any)
		if isReady, known := at(endpoint, "conditions", "ready").(bool); isReady || !known {
			have++
		}
	}
	return ratio("ready", have, int64(len(list)))
}

func healthy(o map[string]any) Field {
	have, _ := count(o, "status", "currentHealthy")
	want, _ := count(o, "status", "desiredHealthy")
	return ratio("healthy", have, want)
}

func scale(o map[string]any) Field {
	have, _ := count(o, "status", "currentReplicas")
	want, _ := count(o, "status", "desiredReplicas")
	return ratio("replicas", have, want)
}

// general tells of kinds that are not known by name, custom resources above
// all: the condition that the API conventions put first, then what is usual.
func general(o map[string]any) Field {
	for _, c := range [...][2]string{
		{"Ready", "ready"}, {"Available", "available"}, {"Succeeded", "succeeded"},
		{"Established", "established"}, {"Healthy", "healthy"}, {"Synced", "synced"},
		{"Accepted", "accepted"}, {"Programmed", "programmed"},
	} {
		if field := condition(o, c[0], c[1]); field.Name != "" {
			return field
		}
	}
	for _, name := range [...]string{"phase", "state"} {
		if field := text(o, name, "status", name); field.Name != "" {
			return field
		}
	}
	if have, ok := count(o, "status", "readyReplicas"); ok {
		if want, ok := count(o, "spec", "replicas"); ok {
			return ratio("ready", have, want)
		}
	}
	return Field{}
}

// occurrence is what an Event says: "BackOff: Back-off restarting … (x3)". The
// number is how often it was seen, as kubectl describe writes it. The message is
// called note in events.k8s.io.
func occurrence(o map[string]any) Field {
	said := text(o, "", "reason").Value
	for _, name := range [...]string{"message", "note"} {
		switch message := text(o, "", name).Value; {
		case message == "":
		case said == "":
			said = message
		default:
			said += ": " + message
		}
	}
	for _, path := range [...][]string{{"series", "count"}, {"count"}, {"deprecatedCount"}} {
		if n, _ := count(o, path...); n > 1 {
			return Field{Value: fmt.Sprintf("%s (x%d)", said, n)}
		}
	}
	return Field{Value: said}
}

// rollouts tell what is not in order yet with kinds that are rolled out.
var rollouts = map[string]func(map[string]any) []Field{
	"apps/Deployment":  rolloutOfReplicas,
	"apps/StatefulSet": rolloutOfReplicas,
	"apps/DaemonSet": func(o map[string]any) []Field {
		want, _ := count(o, "status", "desiredNumberScheduled")
		return rollout(o, "updatedNumberScheduled", want)
	},
}

func rolloutOfReplicas(o map[string]any) []Field {
	want, ok := count(o, "spec", "replicas")
	if !ok {
		want = 1
	}
	return rollout(o, "updatedReplicas", want)
}

// rollout compares what was updated, and seen, with what is wanted. As long as
// no controller has seen the object there is nothing to compare.
func rollout(o map[string]any, updated string, want int64) []Field {
	observed, seen := count(o, "status", "observedGeneration")
	if !seen {
		return nil
	}
	var fields []Field
	if n, _ := count(o, "status", updated); n != want { // an absent number means 0
		fields = append(fields, Field{"updated", strconv.FormatInt(n, 10)})
	}
	if generation, _ := count(o, "metadata", "generation"); observed < generation {
		fields = append(fields, ratio("observed", observed, generation))
	}
	return fields
}
