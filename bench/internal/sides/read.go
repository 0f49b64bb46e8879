package sides

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes/scheme"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	runtimecache "sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/gocampus/hark/key"
	"github.com/gocampus/hark/kube"
)

// reader reads a local copy of pods, in one side's way.
type reader struct {
	// get reads one pod, decoded.
	get func(key.Key) (*corev1.Pod, error)
	// list visits the name and the label app of every pod, and counts them.
	list func() (int, error)
	// unmarshal decodes every pod by the generated code; nil where nothing is encoded.
	unmarshal func() error
	// keys of all pods.
	keys []key.Key
	stop func()
}

const (
	// hotTime is for how long one pod is read again, in turns of hotReads.
	hotTime   = 200 * time.Millisecond
	hotReads  = 1000
	listReads = 5
)

// read measures reads of a copy that has synced.
func read(j *Job) (Result, error) {
	r, err := newReader(j)
	if err != nil {
		return nil, err
	}
	defer r.stop()
	result := Result{}
	if err := r.warm(); err != nil {
		return nil, err
	}
	if err := j.time(result, GetCold, func() (int, error) { return len(r.keys), getAll(r) }); err != nil {
		return nil, err
	}
	if r.unmarshal != nil {
		if err := r.warm(); err != nil { // what the collector has left over is given back in the meantime
			return nil, err
		}
		if err := j.time(result, Unmarshal, func() (int, error) { return len(r.keys), r.unmarshal() }); err != nil {
			return nil, err
		}
	}
	if err := j.time(result, GetHot, func() (int, error) { return getAgain(r) }); err != nil {
		return nil, err
	}
	if err := j.time(result, List, func() (int, error) { return listReads * len(r.keys), listAll(r) }); err != nil {
		return nil, err
	}
	return result, nil
}

// warm gives the heap the size that it keeps, without a first read of what is to be read
// for the first time: otherwise what is measured first would pay for the first touch of memory.
func (r *reader) warm() error {
	if r.unmarshal != nil {
		return r.unmarshal()
	}
	return getAll(r)
}

// time notes the CPU time of one of the operations that do says it has done.
func (j *Job) time(result Result, name string, do func() (int, error)) error {
	liveHeap() // garbage of before is not to be paid for here
	stop, err := j.profile(name)
	if err != nil {
		return err
	}
	start := now()
	n, err := do()
	if err != nil {
		return err
	}
	cpu, _ := start.since()
	result[name] = cpu / float64(n)
	return stop()
}

func getAll(r *reader) error {
	for _, k := range r.keys {
		if _, err := r.get(k); err != nil {
			return err
		}
	}
	return nil
}

// getAgain reads one pod while somebody holds it, as those who share it do, and returns
// how often.
func getAgain(r *reader) (reads int, err error) {
	held, err := r.get(r.keys[0])
	if err != nil {
		return 0, err
	}
	defer runtime.KeepAlive(held)
	for end := time.Now().Add(hotTime); time.Now().Before(end); reads += hotReads {
		for range hotReads {
			if _, err := r.get(r.keys[0]); err != nil {
				return reads, err
			}
		}
	}
	return reads, nil
}

func listAll(r *reader) error {
	for range listReads {
		if n, err := r.list(); err != nil || n != len(r.keys) {
			return fmt.Errorf("sides: listed %d of %d pods: %w", n, len(r.keys), err)
		}
	}
	return nil
}

func newReader(j *Job) (*reader, error) {
	if j.Side == "controller-runtime" {
		return readControllerRuntime(j)
	}
	f, err := j.follower()
	if err != nil {
		return nil, err
	}
	var synced, changed sync.WaitGroup
	synced.Add(1)
	if err := f.start(context.Background(), &synced, &changed); err != nil {
		return nil, err
	}
	synced.Wait()
	var r *reader
	switch f := f.(type) {
	case *hark:
		r = readHark(f)
	case *clientGo:
		r = readClientGo(f)
	}
	r.stop = f.stop
	return r, nil
}

func readHark(f *hark) *reader {
	objects := f.informer.Store()
	r := &reader{}
	var raw [][]byte
	for obj := range objects.All() {
		r.keys = append(r.keys, obj.Key())
		raw = append(raw, obj.AppendBytes(nil))
	}
	r.get = func(k key.Key) (*corev1.Pod, error) {
		obj, ok := objects.Get(k)
		if !ok {
			return nil, fmt.Errorf("sides: %s is not there", k)
		}
		return kube.View[corev1.Pod](obj)
	}
	r.list = func() (int, error) {
		n := 0
		for obj := range objects.All() {
			if app, ok := obj.Label("app"); ok && app != "" && obj.Key().Name != "" {
				n++
			}
		}
		return n, nil
	}
	r.unmarshal = func() error {
		for i := range raw {
			if err := new(corev1.Pod).Unmarshal(raw[i]); err != nil {
				return err
			}
		}
		return nil
	}
	return r
}

func readClientGo(f *clientGo) *reader {
	lister := listers.NewPodLister(f.informer.GetIndexer())
	r := &reader{}
	for _, obj := range f.informer.GetIndexer().List() {
		r.keys = append(r.keys, keyOf(obj.(*corev1.Pod)))
	}
	r.get = func(k key.Key) (*corev1.Pod, error) { return lister.Pods(k.Namespace).Get(k.Name) }
	r.list = func() (int, error) {
		pods, err := lister.List(labels.Everything())
		n := 0
		for _, pod := range pods {
			if pod.Labels["app"] != "" && pod.Name != "" {
				n++
			}
		}
		return n, err
	}
	return r
}

func keyOf(pod *corev1.Pod) key.Key { return key.Key{Namespace: pod.Namespace, Name: pod.Name} }

// readControllerRuntime reads as reconcilers do, through the cache's client.
func readControllerRuntime(j *Job) (*reader, error) {
	log.SetLogger(klog.NewKlogr())
	klog.SetOutput(io.Discard)
	c, err := runtimecache.New(&rest.Config{Host: j.URL, QPS: -1}, runtimecache.Options{Scheme: scheme.Scheme})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	r := &reader{stop: func() { cancel(); running.Wait() }}
	running.Go(func() { _ = c.Start(ctx) }) // it ends by ctx alone
	informer, err := c.GetInformer(ctx, &corev1.Pod{})
	if err != nil {
		return nil, err
	}
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		return nil, fmt.Errorf("sides: controller-runtime does not sync")
	}
	list := &corev1.PodList{}
	if err := c.List(ctx, list); err != nil {
		return nil, err
	}
	for i := range list.Items {
		r.keys = append(r.keys, keyOf(&list.Items[i]))
	}
	r.get = func(k key.Key) (*corev1.Pod, error) {
		pod := &corev1.Pod{}
		return pod, c.Get(ctx, client.ObjectKey{Namespace: k.Namespace, Name: k.Name}, pod)
	}
	r.list = func() (int, error) {
		list := &corev1.PodList{}
		err := c.List(ctx, list)
		n := 0
		for i := range list.Items {
			if list.Items[i].Labels["app"] != "" && list.Items[i].Name != "" {
				n++
			}
		}
		return n, err
	}
	return r, nil
}
