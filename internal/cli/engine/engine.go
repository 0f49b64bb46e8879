package engine

import (
	"context"
	"errors"
	"sync"

	"github.com/gocampus/hark/worker"
	"github.com/gocampus/hark/workqueue"
)

// Engine runs a program for the changes of a feed. Use New.
type Engine struct {
	options Options
	queue   *workqueue.Queue[Key]
	pool    *worker.Pool[Key]
	saver   saver
	end     context.CancelCauseFunc // set by Run

	mu     sync.Mutex // guards what follows
	ledger ledger
	counts Summary         // without its lists
	named  bool            // the program writes under its field manager's name
	owed   map[Key]Kept    // from Options.State, as long as their objects were not told
	gone   map[Key]Trouble // parked keys of deleted objects
	synced bool            // all that existed has been told
	last   bool            // nothing more will be told
}

// errDone is the cause of the end when all is done.
var errDone = errors.New("engine: all is done")

// New returns an engine; it does nothing before Run.
func New(o Options) *Engine {
	e := &Engine{options: o, ledger: ledger{entries: map[Key]*entry{}}, named: o.Named, owed: o.State.byKey(), gone: map[Key]Trouble{}}
	queue := workqueue.Options[Key]{Backoff: o.Backoff}
	if o.FairByNamespace {
		queue.Lane = func(k Key) string { return k.Namespace }
	}
	e.queue = workqueue.New(queue)
	grace := o.Grace
	if grace <= 0 {
		grace = -1 // 0 would mean the default
	}
	e.pool = worker.New(e.queue, e.run, worker.Options[Key]{
		Workers: o.Workers, Timeout: o.Timeout, DrainTimeout: grace,
		OnEnd: func(worker.Run[Key]) { e.endIfIdle() },
	})
	e.saver = saver{save: o.Save, failed: o.OnSaveError, changed: make(chan struct{}, 1)}
	return e
}

// Run works until ctx ends, runs under way having finished or been broken off after
// Options.Grace; or until all is done, with Once and at the end of the feed. The
// summary is complete in any case. Errors are those of the feed, and of the last
// Save.
func (e *Engine) Run(ctx context.Context, feed Feed) (Summary, error) {
	ctx, e.end = context.WithCancelCause(ctx)
	defer e.end(nil)
	var beside sync.WaitGroup
	var feedErr error
	beside.Go(func() { feedErr = e.listen(ctx, feed) })
	saving, stopSaving := context.WithCancel(context.WithoutCancel(ctx))
	defer stopSaving()
	if e.options.Save != nil {
		beside.Go(func() { e.saver.run(saving, e.state) })
	}
	_ = e.pool.Run(ctx) // what is left undone is in the summary
	e.end(errDone)
	e.queue.ShutDown()
	stopSaving()
	beside.Wait()
	err := feedErr
	if e.options.Save != nil {
		err = errors.Join(err, e.options.Save(e.state()))
	}
	return e.summary(), err
}

// listen runs the feed. Its error counts only while the engine is at work.
func (e *Engine) listen(ctx context.Context, feed Feed) error {
	err := feed.Run(ctx, e)
	switch {
	case ctx.Err() != nil:
		return nil
	case err != nil:
		e.end(err)
		return err
	}
	e.mu.Lock()
	e.last = true
	e.mu.Unlock()
	e.endIfIdle()
	return nil
}

// Synced implements Sink.
func (e *Engine) Synced() {
	e.mu.Lock()
	e.synced = true
	clear(e.owed) // of objects that exist no more
	e.mu.Unlock()
	e.saver.touch()
	e.endIfIdle()
}

// endIfIdle ends the engine when there is nothing to do and nothing will come. A
// key that is to be run again is in the queue before its run leaves it.
func (e *Engine) endIfIdle() {
	e.mu.Lock()
	ends := e.last || e.synced && e.options.Once
	e.mu.Unlock()
	if s := e.queue.Stats(); ends && s.Queued+s.Delayed+s.Processing == 0 {
		e.end(errDone)
	}
}
