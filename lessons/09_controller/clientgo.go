package main

import (
	"context"
	"errors"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	appsclient "k8s.io/client-go/kubernetes/typed/apps/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/gocampus/hark/lessons/04_workqueue/answer"
)

// clientGoController is controller on client-go's parts, to be read side by
// side. The loop of the workers is not among them: it is written out below.
type clientGoController struct {
	api         appsclient.DeploymentsGetter
	deployments cache.SharedIndexInformer
	queue       answer.Queue
	print       func(line string)
}

func newClientGoController(client kubernetes.Interface, namespace string, print func(line string)) *clientGoController {
	factory := informers.NewSharedInformerFactoryWithOptions(client, resyncPeriod,
		informers.WithNamespace(namespace),
		informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = minReplicas }))
	return &clientGoController{
		api:         client.AppsV1(),
		deployments: factory.Apps().V1().Deployments().Informer(),
		queue:       answer.ClientGo(),
		print:       print,
	}
}

// Run controls until ctx ends, and returns after all that it started has ended.
func (c *clientGoController) Run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	defer c.queue.ShutDown() // wakes the workers: their Get knows no context
	registered, err := c.deployments.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    c.enqueue,
		UpdateFunc: func(_, obj any) { c.enqueue(obj) },
		DeleteFunc: c.enqueue,
	})
	if err != nil {
		return err
	}
	running.Go(func() { c.deployments.RunWithContext(ctx) })
	if !cache.WaitFor(ctx, "", registered.HasSyncedChecker()) {
		return context.Cause(ctx) // what it waited for is in client-go's log
	}
	for range workers {
		running.Go(func() {
			for ctx.Err() == nil && c.processNext(ctx) {
			}
		})
	}
	<-ctx.Done()
	return nil
}

func (c *clientGoController) enqueue(obj any) {
	key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj) // obj may be a tombstone
	if err == nil {
		c.queue.Add(key)
	}
}

// processNext is what Hark's worker.Pool does, less panics, timeouts, the limit
// of tries and a place where one sees what was given up.
func (c *clientGoController) processNext(ctx context.Context) bool {
	key, shutdown := c.queue.Get()
	if shutdown {
		return false
	}
	defer c.queue.Done(key)
	switch err := c.reconcile(ctx, key); {
	case err == nil:
		c.queue.Forget(key)
	case errors.Is(err, errLabel):
		c.queue.Forget(key)
		c.print(failure(key, err, false))
	default:
		c.queue.AddRateLimited(key)
		c.print(failure(key, err, true))
	}
	return true
}

func (c *clientGoController) reconcile(ctx context.Context, key string) error {
	obj, ok, err := c.deployments.GetStore().GetByKey(key)
	if err != nil || !ok {
		return err
	}
	// The object belongs to the cache and to everybody who reads it. Whoever
	// wants to change it must copy it first; scale only reads.
	return scale(ctx, c.api, obj.(*appsv1.Deployment), c.print)
}

// controlWithClientGo runs the controller until ctx ends.
func controlWithClientGo(ctx context.Context, cfg *rest.Config, namespace string, print func(line string)) error {
	transport, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return err
	}
	defer transport.CloseIdleConnections()
	client, err := kubernetes.NewForConfigAndClient(cfg, transport)
	if err != nil {
		return err
	}
	return newClientGoController(client, namespace, print).Run(ctx)
}
