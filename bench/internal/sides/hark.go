package sides

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"github.com/gocampus/hark/bench/internal/input"
	"github.com/gocampus/hark/informer"
	"github.com/gocampus/hark/key"
	"github.com/gocampus/hark/kube"
	"github.com/gocampus/hark/store"
	"github.com/gocampus/hark/workqueue"
)

// hark is Hark's follower.
type hark struct {
	job      *Job
	informer *informer.Informer
	queues   []*workqueue.Queue[key.Key]
	hands    []*hands[key.Key]
	running  sync.WaitGroup
	cancel   context.CancelFunc
}

func newHark(j *Job) (*hark, error) {
	client, err := kube.New(&rest.Config{Host: j.URL, QPS: -1}, kube.Options{})
	if err != nil {
		return nil, err
	}
	o := informer.Options{Indexes: map[string]store.IndexFunc{store.NamespaceIndex: store.Namespace()}}
	o.Compact = j.Side == "hark-compact"
	return &hark{job: j, informer: informer.New(client.Source(harkKind(j), kube.SourceOptions{}), o)}, nil
}

// harkKind is what discovery would say.
func harkKind(j *Job) kube.Kind {
	k := kube.Kind{GVR: j.resource(), Namespaced: true, Watchable: true}
	switch j.Set {
	case "widgets":
		k.GVK, k.Singular = input.WidgetKind, "widget"
	case "configmaps":
		k.GVK, k.Singular, k.Protobuf = corev1.SchemeGroupVersion.WithKind("ConfigMap"), "configmap", true
	default:
		k.GVK, k.Singular, k.Protobuf = corev1.SchemeGroupVersion.WithKind("Pod"), "pod", true
	}
	return k
}

func (f *hark) start(ctx context.Context, synced, changed *sync.WaitGroup) error {
	ctx, f.cancel = context.WithCancel(ctx)
	o := informer.HandlerOptions{Quick: f.job.Side != "hark-default"}
	for range max(f.job.Handlers, 1) {
		q := workqueue.New(workqueue.Options[key.Key]{})
		h := &hands[key.Key]{objects: f.job.Objects, last: f.job.Last, synced: synced, changed: changed}
		f.queues, f.hands = append(f.queues, q), append(f.hands, h)
		if _, err := f.informer.Handle(func(e informer.Event) { q.Add(e.Key) }, o); err != nil {
			return err
		}
		f.running.Go(func() { work(q, h, f.job.busy(), f.read()) })
	}
	f.running.Go(func() { _ = f.informer.Run(ctx) }) // it ends by ctx alone
	return nil
}

// read is what a worker does that reads: the newest object, decoded; its own to change or not.
func (f *hark) read() func(key.Key) {
	if !f.job.Read {
		return nil
	}
	objects, decode := f.informer.Store(), kube.View[corev1.Pod]
	if f.job.Own {
		decode = kube.As[corev1.Pod]
	}
	return func(k key.Key) {
		if obj, ok := objects.Get(k); ok {
			if _, err := decode(obj); err != nil {
				panic(fmt.Sprintf("sides: %s: %v", k, err))
			}
		}
	}
}

func (f *hark) runs() int { return f.hands[0].taken }

func (f *hark) stop() {
	if f.cancel != nil {
		f.cancel()
	}
	for _, q := range f.queues {
		q.ShutDown()
	}
	f.running.Wait()
}
