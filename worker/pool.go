package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gocampus/hark/workqueue"
)

// Queue is what a pool needs of a queue; *workqueue.Queue[T] has it.
type Queue[T comparable] interface {
	// GetContext blocks for the next item. workqueue.ErrShutDown ends the pool
	// quietly, the cause of ctx too; any other error ends it with that error.
	GetContext(ctx context.Context) (T, error)
	Done(item T)
	Add(item T)
	// AddAfter adds item after a delay, or now if that is 0.
	AddAfter(item T, delay time.Duration)
	AddRateLimited(item T)
	RecordError(item T, err error)
	Forget(item T)
	// NumRequeues is the number of AddRateLimited since Forget.
	NumRequeues(item T) int
	// ShuttingDown tells whether new items are refused, and delayed ones dropped.
	ShuttingDown() bool
	// Drain refuses new items and blocks until nothing is queued or being
	// processed, or returns what is left when ctx ends. Only called with
	// Options.DrainQueued.
	Drain(ctx context.Context) ([]T, error)
}

var _ Queue[string] = (*workqueue.Queue[string])(nil)

// Func does the work for one item. It should end soon after ctx has; the cause
// of ctx tells why that was.
type Func[T comparable] func(ctx context.Context, item T) (Result, error)

// Pool runs a function for the items of a queue. All methods are safe for
// concurrent use. Use New.
type Pool[T comparable] struct {
	queue   Queue[T]
	fn      Func[T]
	options Options[T]
	timeout error // the cause of the end of a run's context by Options.Timeout

	// mu guards what follows. No foreign code, the queue included, is called
	// under it.
	mu      sync.Mutex
	active  bool
	workers map[*run[T]]struct{}
	parking parking[T]
	stats   Stats[T] // without its ParkedNow and Running
}

// New returns a pool. It starts nothing; Run does.
func New[T comparable](queue Queue[T], fn Func[T], options Options[T]) *Pool[T] {
	return &Pool[T]{
		queue:   queue,
		fn:      fn,
		options: options.withDefaults(),
		timeout: fmt.Errorf("%w of %v", ErrTimeout, options.Timeout),
		workers: make(map[*run[T]]struct{}),
	}
}

// session is one call of Run.
type session[T comparable] struct {
	stop    context.CancelCauseFunc // no further item is to be taken
	workers sync.WaitGroup

	// mu guards what follows.
	mu     sync.Mutex
	undone undone[T]
	err    error
}

// Run starts the workers and blocks until ctx ends or the queue is shut down,
// and all that it started has ended; see Options.AbandonAfter for the one
// exception. It returns nil; a *DrainError[T] if work was left undone; ErrRunning if the
// pool is running; or the error that the queue's GetContext returned. Run may be called
// again when it has returned.
func (p *Pool[T]) Run(ctx context.Context) error {
	if !p.begin() {
		return ErrRunning
	}
	defer p.end()
	detached := context.WithoutCancel(ctx)
	runs, interrupt := context.WithCancelCause(detached)
	defer interrupt(nil)
	taking := ctx
	if p.options.DrainQueued {
		taking = detached
	}
	take, stop := context.WithCancelCause(taking)
	defer stop(nil)
	s := &session[T]{stop: stop}
	for range p.options.Workers {
		s.workers.Go(func() { p.work(take, runs, s) })
	}
	ended := make(chan struct{})
	go func() {
		s.workers.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return p.verdict(s, false)
	case <-ctx.Done():
		return p.stop(ctx, s, ended, interrupt)
	}
}

// stop ends a session whose context has ended.
func (p *Pool[T]) stop(ctx context.Context, s *session[T], ended <-chan struct{}, interrupt context.CancelCauseFunc) error {
	deadline, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), max(p.options.DrainTimeout, 0), ErrDrainTimeout)
	defer cancel()
	if p.options.DrainQueued {
		_, _ = p.queue.Drain(deadline) // asked once more when the runs have ended
	}
	s.stop(context.Cause(ctx))
	timedOut := false
	select {
	case <-ended:
	case <-deadline.Done():
		timedOut = true
		interrupt(ErrDrainTimeout)
		p.await(ended)
	}
	return p.verdict(s, timedOut)
}

// verdict returns the error of a session that has ended.
func (p *Pool[T]) verdict(s *session[T], timedOut bool) error {
	err := s.failure()
	if left := p.left(s); len(left) > 0 {
		err = join(err, &DrainError[T]{Left: left, TimedOut: timedOut})
	}
	return err
}

// join is errors.Join that leaves a single error as it is.
func join(first, second error) error {
	if first == nil {
		return second
	}
	return errors.Join(first, second)
}

// await blocks until the workers have ended or are given up.
func (p *Pool[T]) await(ended <-chan struct{}) {
	if p.options.AbandonAfter <= 0 {
		<-ended
		return
	}
	timer := time.NewTimer(p.options.AbandonAfter)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
	}
}

// left returns the items that were not done: runs that were interrupted, or that failed
// and were refused a retry, runs that are abandoned, and what the queue still holds if it
// was to be drained.
func (p *Pool[T]) left(s *session[T]) []T {
	left, seen := []T(nil), make(map[T]bool)
	add := func(items []T) {
		for _, item := range items {
			if !seen[item] {
				seen[item] = true
				left = append(left, item)
			}
		}
	}
	add(s.left())
	for _, running := range p.Stats().Running {
		add([]T{running.Item})
	}
	if p.options.DrainQueued && p.queue.ShuttingDown() {
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		queued, _ := p.queue.Drain(ended)
		add(queued)
	}
	return left
}

func (p *Pool[T]) begin() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.active {
		return false
	}
	p.active = true
	return true
}

func (p *Pool[T]) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.active = false
}

// work takes items until take ends or there are no more, and runs them; runs is
// the parent of every run's context.
func (p *Pool[T]) work(take, runs context.Context, s *session[T]) {
	r, finished := p.enlist(), false
	defer func() {
		p.dismiss(r)
		if !finished { // runtime.Goexit: this goroutine is lost, its work is not
			s.workers.Go(func() { p.work(take, runs, s) })
		}
	}()
	for {
		item, err := p.queue.GetContext(take)
		if err != nil {
			finished = true
			if !errors.Is(err, workqueue.ErrShutDown) && take.Err() == nil {
				s.fail(err)
			}
			return
		}
		p.handle(runs, s, r, item)
	}
}

// enlist gives a worker its place in the list of runs under way.
func (p *Pool[T]) enlist() *run[T] {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := &run[T]{}
	p.workers[r] = struct{}{}
	return r
}

func (p *Pool[T]) dismiss(r *run[T]) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.workers, r)
}

// fail keeps the error that ended a worker, and ends the others.
func (s *session[T]) fail(err error) {
	s.mu.Lock()
	s.err = cmp.Or(s.err, err)
	s.mu.Unlock()
	s.stop(err)
}

// note keeps in mind what a run leaves undone: by an interruption, or as its retry, once
// the queue is shut down, is refused.
func (s *session[T]) note(item T, left bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.undone.note(item, left)
}

func (s *session[T]) left() []T {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.undone.items()
}

func (s *session[T]) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}
