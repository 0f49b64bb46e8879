package main

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/gocampus/hark/informer"
	"github.com/gocampus/hark/kube"
	"github.com/gocampus/hark/watch"
)

// EventType is the first word of an event: what happened to the object.
type EventType = watch.EventType

// The three types that tell of a change. BOOKMARK and ERROR, which a watch
// sends too, are the informer's business and never reach a handler.
const (
	EventAdded    = watch.EventAdded
	EventModified = watch.EventModified
	EventDeleted  = watch.EventDeleted
)

// ClassifyEvent returns the type that raw names, whatever its case. An unknown
// one is returned as it was written, so that whoever prints it shows what came.
func ClassifyEvent(raw string) EventType {
	switch t := EventType(strings.ToUpper(raw)); t {
	case EventAdded, EventModified, EventDeleted:
		return t
	default:
		return EventType(raw)
	}
}

// DescribeEvent says in one sentence what an event means for a pod.
func DescribeEvent(t EventType) string {
	switch t {
	case EventAdded:
		return "新 Pod 加入"
	case EventModified:
		return "Pod 配置/状态变化"
	case EventDeleted:
		return "Pod 消失"
	default:
		return "未知事件"
	}
}

// PodEvent is an event of a pod, with what it means.
type PodEvent struct {
	Type   EventType
	Pod    string // "" where the raw event named none
	Reason string
}

// Summarize reads raw events such as "ADDED pod-1", in their order.
func Summarize(events []string) []PodEvent {
	out := make([]PodEvent, 0, len(events))
	for _, raw := range events {
		first, pod, _ := strings.Cut(raw, " ")
		t := ClassifyEvent(first)
		out = append(out, PodEvent{Type: t, Pod: pod, Reason: DescribeEvent(t)})
	}
	return out
}

// BuildInformer returns client-go's informer over the pods of one namespace,
// which replays its cache every 30 seconds. Listening begins with its Run.
func BuildInformer(client kubernetes.Interface, namespace string) (cache.SharedIndexInformer, error) {
	factory := informers.NewSharedInformerFactoryWithOptions(client, resyncPeriod, informers.WithNamespace(namespace))
	return factory.Core().V1().Pods().Informer(), nil
}

// BuildHarkInformer returns Hark's over the same pods. It asks the server what it
// calls a pod; the resync belongs to each handler. Listening begins with its Run.
func BuildHarkInformer(ctx context.Context, client *kube.Client, namespace string) (*informer.Informer, error) {
	kind, err := kube.KindOf[corev1.Pod](ctx, client)
	if err != nil {
		return nil, err
	}
	source := client.Source(kind, kube.SourceOptions{Namespace: namespace})
	return informer.New(source, informer.Options{Reflector: reportTrouble()}), nil
}
