package sides

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// clientGo is client-go's follower.
type clientGo struct {
	job      *Job
	informer cache.SharedIndexInformer
	queues   []workqueue.TypedRateLimitingInterface[string]
	hands    []*hands[string]
	running  sync.WaitGroup
	cancel   context.CancelFunc
}

func newClientGo(j *Job) (*clientGo, error) {
	f := &clientGo{job: j}
	var err error
	if f.informer, err = sharedInformer(j); err != nil {
		return nil, err
	}
	if j.Side == "client-go-stripped" {
		err = f.informer.SetTransform(stripManagedFields)
	}
	return f, err
}

func stripManagedFields(obj any) (any, error) {
	if m, err := meta.Accessor(obj); err == nil {
		m.SetManagedFields(nil)
	}
	return obj, nil
}

// sharedInformer is the one that programs use: of the typed factory, in protobuf;
// for custom resources the dynamic one, in JSON.
func sharedInformer(j *Job) (cache.SharedIndexInformer, error) {
	cfg := &rest.Config{Host: j.URL, QPS: -1}
	if j.Set == "widgets" {
		client, err := dynamic.NewForConfig(cfg)
		if err != nil {
			return nil, err
		}
		return dynamicinformer.NewDynamicSharedInformerFactory(client, 0).ForResource(j.resource()).Informer(), nil
	}
	cfg.ContentType = runtime.ContentTypeProtobuf
	cfg.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return nil, err
	}
	core := informers.NewSharedInformerFactory(client, 0).Core().V1()
	if j.Set == "configmaps" {
		return core.ConfigMaps().Informer(), nil
	}
	return core.Pods().Informer(), nil
}

func (f *clientGo) start(ctx context.Context, synced, changed *sync.WaitGroup) error {
	ctx, f.cancel = context.WithCancel(ctx)
	last := cache.ObjectName{Namespace: f.job.Last.Namespace, Name: f.job.Last.Name}.String()
	for range max(f.job.Handlers, 1) {
		q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
		h := &hands[string]{objects: f.job.Objects, last: last, synced: synced, changed: changed}
		f.queues, f.hands = append(f.queues, q), append(f.hands, h)
		if _, err := f.informer.AddEventHandler(enqueue(q)); err != nil {
			return err
		}
		f.running.Go(func() { work(q, h, f.job.busy(), f.read()) })
	}
	f.running.Go(func() { f.informer.RunWithContext(ctx) })
	return nil
}

// enqueue is the handler that client-go's documentation shows.
func enqueue(q workqueue.TypedInterface[string]) cache.ResourceEventHandlerFuncs {
	add := func(obj any) {
		if k, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj); err == nil {
			q.Add(k)
		}
	}
	return cache.ResourceEventHandlerFuncs{AddFunc: add, UpdateFunc: func(_, obj any) { add(obj) }, DeleteFunc: add}
}

// read is what a worker does that reads: the newest object, which it must not
// change unless it makes a copy of its own.
func (f *clientGo) read() func(string) {
	if !f.job.Read {
		return nil
	}
	objects := f.informer.GetIndexer()
	return func(k string) {
		if obj, ok, err := objects.GetByKey(k); err == nil && ok {
			pod := obj.(*corev1.Pod)
			if f.job.Own {
				pod = pod.DeepCopy()
			}
			if pod.Namespace == metav1.NamespaceNone {
				panic("sides: " + k + " has no namespace")
			}
		}
	}
}

func (f *clientGo) runs() int { return f.hands[0].taken }

func (f *clientGo) stop() {
	if f.cancel != nil {
		f.cancel()
	}
	for _, q := range f.queues {
		q.ShutDown()
	}
	f.running.Wait()
}
