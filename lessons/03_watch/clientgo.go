package main

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// listenWithClientGo is listenWithHark on client-go's informer, to be read side
// by side.
func listenWithClientGo(ctx context.Context, cfg *rest.Config, namespace string, print func(line string)) error {
	transport, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return err
	}
	defer transport.CloseIdleConnections()
	client, err := kubernetes.NewForConfigAndClient(cfg, transport)
	if err != nil {
		return err
	}
	pods, err := BuildInformer(client, namespace)
	if err != nil {
		return err
	}
	if _, err := pods.AddEventHandler(printer(print)); err != nil {
		return err
	}
	pods.RunWithContext(ctx)
	return nil
}

// printer makes the lines. Its arguments are any: what they hold is a matter of
// trust, and of one trap.
func printer(print func(line string)) cache.ResourceEventHandlerFuncs {
	return cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { print(stamp("Added    %s", cache.MetaObjectToName(obj.(*corev1.Pod)))) },
		UpdateFunc: func(before, after any) {
			old, pod := before.(*corev1.Pod), after.(*corev1.Pod)
			// A resync says nothing of itself; it is known by its equal versions.
			resync := old.ResourceVersion == pod.ResourceVersion
			print(stamp("Modified %s phase=%s%s", cache.MetaObjectToName(pod), pod.Status.Phase, resyncMark(resync)))
		},
		DeleteFunc: func(obj any) {
			// The trap: a deletion that the watch missed comes as a tombstone, a
			// DeletedFinalStateUnknown, which this function unwraps.
			name, err := cache.DeletionHandlingObjectToName(obj)
			if err != nil {
				print(stamp("Deleted  %v", err))
				return
			}
			print(stamp("Deleted  %s", name))
		},
	}
}
