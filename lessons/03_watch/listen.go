package main

import (
	"context"
	"fmt"
	"log"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"github.com/gocampus/hark/informer"
	"github.com/gocampus/hark/kube"
	"github.com/gocampus/hark/reflector"
	"github.com/gocampus/hark/watch"
)

const (
	// resyncPeriod is how often the cache is replayed to the handler.
	resyncPeriod = 30 * time.Second
	// printEvery is how many changes may wait for the terminal, each as a line
	// of its own; beyond it the changes of one pod are told as one.
	printEvery = 1000
)

// reportTrouble makes an informer say what it is waiting for, once a reason.
// One that cannot list (no permission, no server) keeps trying: without this,
// in silence.
func reportTrouble() reflector.Options {
	said := ""
	return reflector.Options{OnStatus: func(s reflector.Status) {
		reason := ""
		if s.Reason != nil {
			reason = s.Reason.Error()
		}
		if reason != said && reason != "" {
			log.Print(reason)
		}
		said = reason
	}}
}

// listenWithHark prints a line for each event of the pods of a namespace until
// ctx ends.
func listenWithHark(ctx context.Context, cfg *rest.Config, namespace string, print func(line string)) error {
	client, err := kube.New(cfg, kube.Options{})
	if err != nil {
		return err
	}
	defer client.CloseIdle()
	pods, err := BuildHarkInformer(ctx, client, namespace)
	if err != nil {
		return err
	}
	handle := func(e informer.Event) { print(line(e)) }
	if _, err := pods.Handle(handle, informer.HandlerOptions{Every: printEvery, Resync: resyncPeriod}); err != nil {
		return err
	}
	if err := pods.Run(ctx); ctx.Err() == nil {
		return err
	}
	return nil // ctx has ended: that is how listening is meant to end
}

// line writes an event as it is printed. The key is there without decoding
// anything, for a deletion too; only the phase has to be read from the object.
func line(e informer.Event) string {
	switch e.Type {
	case watch.EventAdded:
		return stamp("Added    %s", e.Key)
	case watch.EventModified:
		pod, err := kube.As[corev1.Pod](e.New)
		if err != nil {
			return stamp("Modified %s: %v", e.Key, err)
		}
		return stamp("Modified %s phase=%s%s", e.Key, pod.Status.Phase, resyncMark(e.Cause == watch.CauseResync))
	default:
		return stamp("Deleted  %s", e.Key)
	}
}

// resyncMark tells a replay of the cache from a change.
func resyncMark(resync bool) string {
	if resync {
		return " (resync)"
	}
	return ""
}

func stamp(format string, args ...any) string {
	return "[" + time.Now().Format(time.TimeOnly) + "] " + fmt.Sprintf(format, args...)
}
