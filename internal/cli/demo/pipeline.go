package demo

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/gocampus/hark/informer"
	"github.com/gocampus/hark/key"
	"github.com/gocampus/hark/watch"
	"github.com/gocampus/hark/worker"
	"github.com/gocampus/hark/workqueue"
)

// pipeline is the chapter's pattern: an informer whose handler does nothing but
// add the key to a queue, and workers that read the newest object of a key.
type pipeline struct {
	informer *informer.Informer
	queue    *workqueue.Queue[key.Key]
	pool     *worker.Pool[key.Key]
	adds     atomic.Uint64 // by the handler
}

// workFunc does the work for one key; line.informer's store has the object.
type workFunc func(ctx context.Context, line *pipeline, k key.Key) error

func newPipeline(source watch.Source, work workFunc, o worker.Options[key.Key]) (*pipeline, error) {
	p := &pipeline{
		informer: informer.New(source, informer.Options{}),
		queue:    workqueue.New(workqueue.Options[key.Key]{}),
	}
	p.pool = worker.New(p.queue, func(ctx context.Context, k key.Key) (worker.Result, error) {
		return worker.Result{}, work(ctx, p, k)
	}, o)
	_, err := p.informer.Handle(p.enqueue, informer.HandlerOptions{Name: "enqueue"})
	return p, err
}

func (p *pipeline) enqueue(e informer.Event) {
	p.adds.Add(1)
	p.queue.Add(e.Key)
}

// run keeps the pipeline at work until ctx ends.
func (p *pipeline) run(ctx context.Context) error {
	var running sync.WaitGroup
	running.Go(func() { _ = p.informer.Run(ctx) }) // it ends with ctx alone
	err := p.pool.Run(ctx)
	running.Wait()
	return err
}
