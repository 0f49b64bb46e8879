package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/client-go/kubernetes"
	appsclient "k8s.io/client-go/kubernetes/typed/apps/v1"
	"k8s.io/client-go/rest"

	"github.com/gocampus/hark/informer"
	"github.com/gocampus/hark/key"
	"github.com/gocampus/hark/kube"
	"github.com/gocampus/hark/reflector"
	"github.com/gocampus/hark/worker"
	"github.com/gocampus/hark/workqueue"
)

const (
	workers = 2
	// resyncPeriod is how often every key is queued again without any event: a
	// net under what was handled wrongly, not under what was not heard.
	resyncPeriod = 30 * time.Second
)

// controller is the whole machine:
//
//	server ──watch──► informer ──key──► queue ──key──► workers ──► API
//	                     └──── newest object ────────────┘
//
// The queue carries keys, no objects: whatever has happened to a Deployment
// since its key was queued, the worker reads what is true now.
type controller struct {
	kind        kube.Kind
	api         appsclient.DeploymentsGetter
	deployments *informer.Informer
	queue       *workqueue.Queue[key.Key]
	workers     *worker.Pool[key.Key]
	print       func(line string)
}

// newController joins the parts; Run sets them going.
func newController(ctx context.Context, client *kube.Client, namespace string, print func(line string)) (*controller, error) {
	api, err := kubernetes.NewForConfigAndClient(client.Config(), client.HTTP())
	if err != nil {
		return nil, err
	}
	kind, err := kube.KindOf[appsv1.Deployment](ctx, client)
	if err != nil {
		return nil, err
	}
	source := client.Source(kind, kube.SourceOptions{Namespace: namespace, LabelSelector: minReplicas})
	c := &controller{
		kind:  kind,
		api:   api.AppsV1(),
		queue: workqueue.New(workqueue.Options[key.Key]{}),
		print: print,
	}
	c.deployments = informer.New(source, informer.Options{Reflector: reflector.Options{OnStatus: c.reportTrouble}})
	c.workers = worker.New(c.queue, c.reconcile, worker.Options[key.Key]{Workers: workers, OnEnd: c.report})
	return c, nil
}

// Run controls until ctx ends, and returns after all that it started has ended.
func (c *controller) Run(ctx context.Context) error {
	enqueue := func(e informer.Event) { c.queue.Add(e.Key) } // all that a handler does
	registered, err := c.deployments.Handle(enqueue, informer.HandlerOptions{Resync: resyncPeriod})
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	var listening sync.WaitGroup
	defer listening.Wait()
	defer stop()
	listening.Go(func() { _ = c.deployments.Run(ctx) }) // ends with ctx alone

	// Workers start when the cache is complete: to a reconcile that looks for
	// further objects, what is not listed yet would seem not to exist.
	if err := registered.WaitSync(ctx); err != nil {
		return err // it says what is missing, such as a permission
	}
	return c.workers.Run(ctx)
}

// reconcile makes one Deployment as it should be. It does not know, and must
// not ask, which event has led to it.
func (c *controller) reconcile(ctx context.Context, k key.Key) (worker.Result, error) {
	raw, ok := c.deployments.Store().Get(k)
	if !ok {
		return worker.Result{}, nil // deleted, or without the label now: not ours
	}
	var d appsv1.Deployment
	if err := c.kind.Decode(raw, &d); err != nil {
		return worker.Result{}, worker.Permanent(err)
	}
	err := scale(ctx, c.api, &d, c.print)
	if errors.Is(err, errLabel) {
		err = worker.Permanent(err)
	}
	return worker.Result{}, err
}

// reportTrouble prints why the informer cannot list or watch, whenever it pauses
// before another try.
func (c *controller) reportTrouble(s reflector.Status) {
	if s.Phase == reflector.Waiting {
		c.print(fmt.Sprintf("暂时听不到，稍后重试: %v", s.Reason))
	}
}

// report prints failed runs. What follows a failure is the pool's business.
func (c *controller) report(r worker.Run[key.Key]) {
	if r.Err != nil {
		c.print(failure(r.Item.String(), r.Err, r.Outcome == worker.Retried))
	}
}

// controlWithHark runs the controller until ctx ends.
func controlWithHark(ctx context.Context, cfg *rest.Config, namespace string, print func(line string)) error {
	client, err := kube.New(cfg, kube.Options{})
	if err != nil {
		return err
	}
	defer client.CloseIdle()
	c, err := newController(ctx, client, namespace, print)
	if err != nil {
		return err
	}
	return c.Run(ctx)
}
