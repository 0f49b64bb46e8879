package demo

import (
	"context"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gocampus/hark/internal/sleep"
	"github.com/gocampus/hark/internal/text"
	"github.com/gocampus/hark/key"
	"github.com/gocampus/hark/kube"
	"github.com/gocampus/hark/worker"
)

const (
	burstChanges = 1000
	// burstWork is how long one run of the worker takes: work that calls others
	// takes about so long.
	burstWork = 20 * time.Millisecond
	burstData = "change"
)

// burst changes one object 1,000 times and counts what arrives where.
func (p *play) burst(ctx context.Context, h *helpers) error {
	object := key.Key{Namespace: namespace, Name: "burst"}
	p.screen.title(text.DemoBurstTitle, "changes", strconv.Itoa(burstChanges), "key", object.String())
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(errPlayed)

	b := &burstWorker{}
	if err := p.startBurst(ctx, h, object, b); err != nil {
		return err
	}
	all := b.read.reached(strconv.Itoa(burstChanges))
	events, adds, runs := b.counts()
	started := time.Now()
	for i := range burstChanges {
		if err := p.change(ctx, object.Name, i+1); err != nil {
			return err
		}
	}
	took := time.Since(started)
	if err := p.await(ctx, all); err != nil {
		return err
	}
	allEvents, allAdds, allRuns := b.counts()
	p.screen.stamped(text.DemoBurstDone,
		"changes", strconv.Itoa(burstChanges), "duration", took.Round(time.Millisecond).String(),
		"events", fmt.Sprint(allEvents-events), "adds", fmt.Sprint(allAdds-adds),
		"runs", fmt.Sprint(allRuns-runs), "last", b.read.now())
	p.screen.say(text.DemoBurstWhy)
	return nil
}

// startBurst creates the object and a pipeline for it, and returns when the
// worker has seen it.
func (p *play) startBurst(ctx context.Context, h *helpers, object key.Key, b *burstWorker) error {
	line, err := p.configMapPipeline(ctx, object.Name, b.work, worker.Options[key.Key]{})
	if err != nil {
		return err
	}
	b.pipeline = line
	first := b.read.reached("0")
	h.start(ctx, line.run)
	if err := p.createConfigMap(ctx, object.Name, map[string]string{burstData: "0"}); err != nil {
		return err
	}
	return p.await(ctx, first)
}

// change writes the number of a change into the object.
func (p *play) change(ctx context.Context, name string, number int) error {
	patch := fmt.Appendf(nil, `{"data":{%q:"%d"}}`, burstData, number)
	_, err := p.api.CoreV1().ConfigMaps(namespace).Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}

func (p *play) createConfigMap(ctx context.Context, name string, data map[string]string) error {
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: data}
	_, err := p.api.CoreV1().ConfigMaps(namespace).Create(ctx, object, metav1.CreateOptions{})
	return err
}

// configMapPipeline is a pipeline for the one ConfigMap of that name.
func (p *play) configMapPipeline(ctx context.Context, name string, work workFunc, o worker.Options[key.Key]) (*pipeline, error) {
	kind, err := kube.KindOf[corev1.ConfigMap](ctx, p.client)
	if err != nil {
		return nil, err
	}
	return newPipeline(p.client.Source(kind, kube.SourceOptions{
		Namespace: namespace, FieldSelector: "metadata.name=" + name,
	}), work, o)
}

// burstWorker does the work of the burst and remembers what it read.
type burstWorker struct {
	pipeline *pipeline
	runs     atomic.Uint64
	read     mark
}

func (b *burstWorker) work(ctx context.Context, line *pipeline, k key.Key) error {
	b.runs.Add(1)
	object, ok := line.informer.Store().Get(k)
	if !ok {
		return nil
	}
	configMap, err := kube.As[corev1.ConfigMap](object)
	if err != nil {
		return err
	}
	_ = sleep.For(ctx, burstWork) // what was read counts all the same
	b.read.set(configMap.Data[burstData])
	return nil
}

// counts returns how many events came on the watch, how many times the handler
// added the key, and how many times the worker ran.
func (b *burstWorker) counts() (events, adds, runs uint64) {
	return b.pipeline.informer.Status().Reflector.Counts.Events, b.pipeline.adds.Load(), b.runs.Load()
}
