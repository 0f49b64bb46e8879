package input

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gocampus/hark/key"
)

// WidgetKind is the kind of the custom resources.
var WidgetKind = schema.GroupVersionKind{Group: "bench.example.com", Version: "v1", Kind: "Widget"}

// Widgets returns custom resources of 8 KB, which the API has in JSON alone: 50
// with equal specifications each.
func Widgets() *Set {
	return &Set{
		Kind: WidgetKind, Resource: "widgets",
		group: replicas,
		fields: []field{
			text(widgetName),
			text(func(dst []byte, s state) []byte { return uid(dst, s.n, forUID) }),
			text(version),
			seconds(created),
			text(func(dst []byte, s state) []byte { return appendHex(dst, 64, s.n, forFirstContainer) }),
			seconds(ready),
		},
		key: func(n int) key.Key {
			return key.Key{Namespace: widgetNamespace(n), Name: string(widgetName(nil, state{n: n}))}
		},
		encode: func(s state, _ bool) ([]byte, error) { return json.Marshal(widget(s)) },
	}
}

func widgetNamespace(n int) string { return "team-" + strconv.Itoa(n/replicas/services) }

func widgetName(dst []byte, s state) []byte {
	group := s.n / replicas
	dst = append(dst, "widget-"...)
	dst = strconv.AppendInt(dst, int64(group), 10)
	dst = append(dst, '-')
	dst = appendHex(dst, 4, s.n, forName)
	return strconv.AppendInt(dst, int64(100+s.n%replicas), 10)
}

// object is a JSON object.
type object = map[string]any

// steps is how many steps a widget's specification has; they make up its 8 KB.
const steps = 19

func widget(s state) object {
	group := s.n / replicas
	at := func(after int) string { return time.Unix(epoch+int64(after), 0).UTC().Format(time.RFC3339) }
	return object{
		"apiVersion": WidgetKind.GroupVersion().String(), "kind": WidgetKind.Kind,
		"metadata": object{
			"name": string(widgetName(nil, s)), "namespace": widgetNamespace(s.n), "uid": string(uid(nil, s.n, forUID)),
			"resourceVersion": strconv.Itoa(s.version), "creationTimestamp": at(created(s)), "generation": 1,
			"labels":      object{"app": "widget-" + strconv.Itoa(group), "team": widgetNamespace(s.n), "track": "stable"},
			"annotations": object{"example.com/checksum": hexText(32, group, forConfig)},
			"ownerReferences": []object{{
				"apiVersion": WidgetKind.GroupVersion().String(), "kind": "WidgetSet", "name": "widget-" + strconv.Itoa(group),
				"uid": string(uid(nil, group, forReplicaSetUID)), "controller": true, "blockOwnerDeletion": true,
			}},
			"managedFields": []object{{
				"manager": "widget-operator", "operation": "Update", "apiVersion": WidgetKind.GroupVersion().String(),
				"time": at(created(s)), "fieldsType": "FieldsV1",
				"fieldsV1": object{"f:spec": object{".": object{}, "f:image": object{}, "f:replicas": object{}, "f:steps": object{}}},
			}},
		},
		"spec": object{
			"image": fmt.Sprintf("registry.example.com/widgets/w-%d:v1.%d", group, group%7), "replicas": group%9 + 1,
			"paused": false, "budget": 0.25, "steps": widgetSteps(group),
		},
		"status": object{
			"observedGeneration": 1, "digest": string(appendHex(nil, 64, s.n, forFirstContainer)),
			"conditions": []object{{"type": "Ready", "status": "True", "reason": "AllStepsDone", "lastTransitionTime": at(ready(s))}},
		},
	}
}

func widgetSteps(group int) []object {
	list := make([]object, steps)
	for i := range list {
		list[i] = object{
			"name": "step-" + strconv.Itoa(i), "enabled": i%3 != 0, "timeoutSeconds": 30 * (i + 1), "weight": 1.5 * float64(i),
			"command":   []string{"/bin/run", "--input=" + hexText(24, group, forSetting+3*i), "--retries=" + strconv.Itoa(i)},
			"env":       object{"TOKEN_REF": hexText(32, group, forSetting+3*i+1), "REGION": "eu-central-1", "LEVEL": "info"},
			"resources": object{"limits": object{"cpu": "500m", "memory": "256Mi"}, "requests": object{"cpu": "50m", "memory": "64Mi"}},
			"after":     []string{"step-" + strconv.Itoa(i+1), "step-" + strconv.Itoa(i+2)},
		}
	}
	return list
}
