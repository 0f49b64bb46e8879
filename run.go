package hark

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime/debug"
	"sync"
	"time"

	"github.com/gocampus/hark/informer"
	"github.com/gocampus/hark/internal/sleep"
	"github.com/gocampus/hark/key"
	"github.com/gocampus/hark/kube"
	"github.com/gocampus/hark/reflector"
	"github.com/gocampus/hark/watch"
	"github.com/gocampus/hark/worker"
	"github.com/gocampus/hark/workqueue"
)

// Run watches and works until ctx ends. Workers start when every watched kind
// has been listed and its objects enqueued. At the end no new run starts, those
// under way may finish within DrainTimeout, and nothing that Run started is
// left.
//
// It returns nil after a clean end. A server that does not answer, a kind that is
// not there and missing permission are waited for, with the reason logged.
// Errors: the kind of T is not known to the client's scheme; ctx ended before the
// caches were synced, with what they were waiting for; a *worker.DrainError when runs did not finish; kube.ErrSetStopped
// when the shared informers stopped first; ErrStarted.
func (c *Controller[T]) Run(ctx context.Context) error {
	if !c.begin() {
		return ErrStarted
	}
	err := c.work(ctx)
	if err != nil {
		return fmt.Errorf("hark: controller %s: %w", c.options.Name, err)
	}
	return nil
}

func (c *Controller[T]) begin() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	first := !c.started
	c.started = true
	return first
}

func (c *Controller[T]) work(ctx context.Context) error {
	defer c.queue.ShutDown()
	kind, err := c.findKind(ctx)
	if err != nil {
		close(c.ready)
		return err
	}
	// Informers outlive ctx, so that runs which are finishing read fresh objects.
	listening, stop := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	informers := c.options.Informers
	if informers == nil {
		informers = kube.NewInformers(c.client, kube.InformersOptions{Configure: c.configure})
		running.Go(func() { _ = informers.Run(listening) }) // it ends with listening alone
	}
	handlers, err := c.listen(informers, kind)
	defer func() { release(c.feeds) }()
	if err != nil {
		return err
	}
	for i, handler := range handlers {
		if err := handler.WaitSync(ctx); err != nil {
			return fmt.Errorf("%s: %w", c.feeds[i], err)
		}
	}
	c.options.Logger.Info("at work", "controller", c.options.Name, "objects", c.feeds[0].Store().Len())
	return c.run(ctx)
}

// run works until ctx ends, or a shared informer stops under the controller.
func (c *Controller[T]) run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	var watching sync.WaitGroup
	defer watching.Wait()
	defer cancel(nil)
	for _, f := range c.feeds {
		watching.Go(func() {
			select {
			case <-f.Done():
				cancel(kube.ErrSetStopped)
			case <-ctx.Done():
			}
		})
	}
	err := c.pool.Run(ctx)
	if cause := context.Cause(ctx); errors.Is(cause, kube.ErrSetStopped) {
		err = errors.Join(cause, err)
	}
	return err
}

// findKind asks the server for the kind of T. A server that does not answer and a
// kind that is not there (yet) are waited for, with the reason logged.
func (c *Controller[T]) findKind(ctx context.Context) (kube.Kind, error) {
	if c.options.Kind != (kube.Kind{}) {
		return c.options.Kind, nil
	}
	pauses := workqueue.Backoff{Base: 800 * time.Millisecond, Max: 30 * time.Second}
	log := c.logTrouble(reflect.TypeFor[T]().String())
	for failures := 1; ; failures++ {
		kind, err := kube.KindOf[T](ctx, c.client)
		if err == nil {
			log(nil)
		}
		if err == nil || !mayHeal(err) {
			return kind, err
		}
		log(err)
		if ended := sleep.For(ctx, pauses.Delay(failures)); ended != nil {
			return kind, fmt.Errorf("%w: %w", ended, err)
		}
	}
}

// mayHeal tells an error of the server from one of the program.
func mayHeal(err error) bool {
	_, missing := errors.AsType[*kube.NoKindError](err)
	_, failed := errors.AsType[*watch.Error](err)
	return missing || failed
}

// listen acquires the informers of the main kind and of each further one, and
// registers what makes keys of their events.
func (c *Controller[T]) listen(informers *kube.Informers, kind kube.Kind) ([]*informer.Registration, error) {
	o := c.options
	main, err := informers.Acquire(kind, kube.SourceOptions{Namespace: o.Namespace, LabelSelector: o.LabelSelector, FieldSelector: o.FieldSelector})
	if err != nil {
		close(c.ready)
		return nil, err
	}
	feeds := []*kube.Shared{main}
	for _, also := range o.Also {
		feed, err := informers.Acquire(also.Kind, kube.SourceOptions{
			Namespace: also.Namespace, LabelSelector: also.LabelSelector, FieldSelector: also.FieldSelector})
		if err != nil {
			release(feeds)
			close(c.ready)
			return nil, err
		}
		feeds = append(feeds, feed)
	}
	c.kind, c.feeds = kind, feeds
	close(c.ready)
	return c.register()
}

func (c *Controller[T]) register() ([]*informer.Registration, error) {
	o := informer.HandlerOptions{Name: c.options.Name, Resync: c.options.Resync, Quick: true}
	first, err := c.feeds[0].Handle(c.enqueue, o)
	if err != nil {
		return nil, err
	}
	handlers := []*informer.Registration{first}
	for i, also := range c.options.Also {
		next, err := c.feeds[i+1].Handle(c.enqueueFor(also.Keys), informer.HandlerOptions{Name: c.options.Name})
		if err != nil {
			return nil, err
		}
		handlers = append(handlers, next)
	}
	return handlers, nil
}

// enqueue is the handler of the main kind. A resync does not wake what is parked.
func (c *Controller[T]) enqueue(e informer.Event) {
	if e.Cause == watch.CauseResync && c.pool.IsParked(e.Key) {
		return
	}
	c.queue.Add(e.Key)
}

// enqueueFor makes the handler of a further kind. A panic of keys is logged here,
// since the options of a shared informer are not this controller's.
func (c *Controller[T]) enqueueFor(keys func(informer.Event) []key.Key) func(informer.Event) {
	return func(e informer.Event) {
		defer func() {
			if value := recover(); value != nil {
				c.logPanic(&informer.PanicError{Handler: c.options.Name, Event: e, Value: value, Stack: debug.Stack()})
			}
		}()
		for _, k := range keys(e) {
			c.queue.Add(k)
		}
	}
}

func release(feeds []*kube.Shared) {
	for _, feed := range feeds {
		feed.Release()
	}
}

// configure makes the options of this controller's own informers.
func (c *Controller[T]) configure(kind kube.Kind, o kube.SourceOptions) informer.Options {
	return informer.Options{
		Reflector: reflector.Options{OnStatus: c.logStatus(c.client.Source(kind, o).String())},
		OnPanic:   c.logPanic,
		Compact:   c.options.Compact,
	}
}

// logStatus logs the reasons of an informer's state.
func (c *Controller[T]) logStatus(what string) func(reflector.Status) {
	log := c.logTrouble(what)
	return func(s reflector.Status) {
		if s.Reason != nil {
			log(s.Reason)
			return
		}
		log(nil)
	}
}

// logTrouble logs why something is not heard, once a reason, and that it is again.
func (c *Controller[T]) logTrouble(what string) func(error) {
	trouble := ""
	return func(err error) {
		switch {
		case err != nil && err.Error() != trouble:
			trouble = err.Error()
			c.options.Logger.Warn("not heard; trying again", "controller", c.options.Name, "what", what, "reason", trouble)
		case err == nil && trouble != "":
			trouble = ""
			c.options.Logger.Info("heard again", "controller", c.options.Name, "what", what)
		}
	}
}

func (c *Controller[T]) logPanic(p *informer.PanicError) {
	c.options.Logger.Error("handler panicked", "controller", c.options.Name, "error", p, "stack", string(p.Stack))
}

// logRun logs failed runs: what failed, how often, and what follows.
func (c *Controller[T]) logRun(r worker.Run[key.Key]) {
	if r.Err != nil {
		c.options.Logger.Warn("run failed", "controller", c.options.Name,
			"key", r.Item, "tries", r.Tries, "outcome", r.Outcome, "error", r.Err)
	}
}
