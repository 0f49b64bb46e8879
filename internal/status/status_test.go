package status

import (
	"strings"
	"testing"

	utiljson "k8s.io/apimachinery/pkg/util/json"
)

func TestOfTellsTheMostTellingField(t *testing.T) {
	for _, tc := range []struct{ group, kind, object, want string }{
		{"", "Pod", `{"status":{"phase":"Running"}}`, "phase=Running"},
		{"", "Pod", `{"status":{}}`, ""},
		{"", "Namespace", `{"status":{"phase":"Terminating"}}`, "phase=Terminating"},
		{"", "PersistentVolumeClaim", `{"status":{"phase":"Bound"}}`, "phase=Bound"},
		{"", "Node", `{"status":{"conditions":[{"type":"DiskPressure","status":"False"},{"type":"Ready","status":"True"}]}}`, "ready=True"},
		{"", "Node", `{}`, ""},
		{"", "Service", `{"spec":{"type":"ClusterIP"}}`, "type=ClusterIP"},
		{"", "Service", `{"spec":{"type":"LoadBalancer"}}`, "address=<pending>"},
		{"", "Service", `{"spec":{"type":"LoadBalancer"},"status":{"loadBalancer":{"ingress":[{"hostname":"lb.example"}]}}}`, "address=lb.example"},
		{"", "Event", `{"reason":"BackOff"}`, "BackOff"},
		{"", "Event", `{"reason":"BackOff","message":"Back-off restarting nginx","count":1}`, "BackOff: Back-off restarting nginx"},
		{"", "Event", `{"reason":"BackOff","message":"Back-off restarting nginx","count":3}`, "BackOff: Back-off restarting nginx (x3)"},
		{"", "Event", `{"message":"only this"}`, "only this"},
		{"", "Event", `{}`, ""},
		{"events.k8s.io", "Event", `{"reason":"BackOff","note":"Back-off","deprecatedCount":2}`, "BackOff: Back-off (x2)"},
		{"events.k8s.io", "Event", `{"reason":"BackOff","note":"Back-off","series":{"count":4},"deprecatedCount":2}`, "BackOff: Back-off (x4)"},
		{"", "ConfigMap", `{"data":{"a":"b"}}`, ""},
		{"", "Secret", `{"data":{"a":"b"}}`, ""},
		{"", "Endpoints", `{"subsets":[]}`, ""},
		{"apps", "Deployment", `{"spec":{"replicas":3},"status":{"readyReplicas":1}}`, "ready=1/3"},
		{"apps", "Deployment", `{"spec":{},"status":{}}`, "ready=0/1"},
		{"apps", "Deployment", `{"spec":{"replicas":0}}`, "ready=0/0"},
		{"apps", "Deployment", `{"metadata":{"generation":2},"spec":{"replicas":3},"status":{"observedGeneration":1,"readyReplicas":1,"updatedReplicas":1}}`, "ready=1/3 updated=1 observed=1/2"},
		{"apps", "Deployment", `{"metadata":{"generation":2},"spec":{"replicas":3},"status":{"observedGeneration":2,"readyReplicas":1,"updatedReplicas":1}}`, "ready=1/3 updated=1"},
		{"apps", "Deployment", `{"metadata":{"generation":2},"spec":{"replicas":3},"status":{"observedGeneration":2,"readyReplicas":1,"updatedReplicas":3}}`, "ready=1/3"},
		{"apps", "Deployment", `{"metadata":{"generation":1},"status":{"observedGeneration":1}}`, "ready=0/1 updated=0"},
		{"apps", "StatefulSet", `{"metadata":{"generation":1},"spec":{"replicas":2},"status":{"observedGeneration":1,"readyReplicas":2,"updatedReplicas":1}}`, "ready=2/2 updated=1"},
		{"apps", "DaemonSet", `{"metadata":{"generation":3},"status":{"observedGeneration":3,"numberReady":2,"desiredNumberScheduled":5,"updatedNumberScheduled":4}}`, "ready=2/5 updated=4"},
		{"apps", "DaemonSet", `{"status":{"numberReady":2,"desiredNumberScheduled":5}}`, "ready=2/5"},
		{"batch", "Job", `{"spec":{"completions":3},"status":{"succeeded":2}}`, "succeeded=2/3"},
		{"batch", "Job", `{"status":{"conditions":[{"type":"Failed","status":"True","reason":"BackoffLimitExceeded"}]}}`, "failed=BackoffLimitExceeded"},
		{"batch", "Job", `{"status":{"conditions":[{"type":"Failed","status":"False","reason":"x"}]}}`, "succeeded=0/1"},
		{"batch", "CronJob", `{"status":{"active":[{},{}]}}`, "active=2"},
		{"batch", "CronJob", `{"spec":{"suspend":true}}`, "suspend=true"},
		{"networking.k8s.io", "Ingress", `{"status":{"loadBalancer":{"ingress":[{"ip":"10.0.0.1"}]}}}`, "address=10.0.0.1"},
		{"discovery.k8s.io", "EndpointSlice", `{"endpoints":[{"conditions":{"ready":true}},{"conditions":{"ready":false}},{}]}`, "ready=2/3"},
		{"coordination.k8s.io", "Lease", `{"spec":{"holderIdentity":"node-1"}}`, "holder=node-1"},
		{"policy", "PodDisruptionBudget", `{"status":{"currentHealthy":1,"desiredHealthy":2}}`, "healthy=1/2"},
		{"autoscaling", "HorizontalPodAutoscaler", `{"status":{"currentReplicas":1,"desiredReplicas":4}}`, "replicas=1/4"},
		{"apiextensions.k8s.io", "CustomResourceDefinition", `{"status":{"conditions":[{"type":"Established","status":"True"}]}}`, "established=True"},
		{"storage.k8s.io", "VolumeAttachment", `{"status":{"attached":false}}`, "attached=false"},
		{"example.com", "Widget", `{"status":{"phase":"Odd","conditions":[{"type":"Synced","status":"True"},{"type":"Ready","status":"False"}]}}`, "ready=False"},
		{"example.com", "Widget", `{"status":{"phase":"Odd"}}`, "phase=Odd"},
		{"example.com", "Widget", `{"status":{"state":"up"}}`, "state=up"},
		{"example.com", "Widget", `{"spec":{"replicas":2},"status":{"readyReplicas":1}}`, "ready=1/2"},
		{"example.com", "Widget", `{"spec":{"phase":"x"}}`, ""},
		{"example.com", "Deployment", `{"spec":{"replicas":2}}`, ""},
	} {
		var object map[string]any
		if err := utiljson.Unmarshal([]byte(tc.object), &object); err != nil {
			t.Fatal(err)
		}
		if got := Of(tc.group, tc.kind, object); got != tc.want {
			t.Errorf("Of(%q, %q, %s) = %q; want %q", tc.group, tc.kind, tc.object, got, tc.want)
		}
	}
}

// Custom resources may hold anything where a status is looked for.
func FuzzOfAcceptsAnyObject(f *testing.F) {
	f.Add(`{"status":{"conditions":[1,null,{"type":{}}],"loadBalancer":{"ingress":[[]]}},"spec":[],"endpoints":{}}`)
	f.Add(`{"status":[],"spec":{"replicas":"3","suspend":1},"endpoints":[null]}`)
	f.Fuzz(func(t *testing.T, document string) {
		var object map[string]any
		if utiljson.Unmarshal([]byte(document), &object) != nil {
			return
		}
		for kind, tell := range byKind {
			if field := tell(object); (field == Field{}) != (field.String() == "") {
				t.Errorf("%s: odd field %+v", kind, field)
			}
		}
		for name := range rollouts {
			group, kind, _ := strings.Cut(name, "/")
			if line := Of(group, kind, object); !strings.HasPrefix(line, byKind[name](object).String()) {
				t.Errorf("%s: %q does not begin with what tells most", name, line)
			}
		}
		general(object)
	})
}
