package workqueue

import "context"

// ShutDown refuses new items and drops the delayed ones. What is queued can
// still be got; then every Get returns at once. It ends the drains under way,
// and may be called more than once.
func (q *Queue[T]) ShutDown() {
	q.lock()
	if q.forced != nil {
		close(q.forced)
		q.forced = nil
	}
	wake, silent := q.shutDown()
	q.mu.Unlock()
	wake.signal()
	if silent != nil {
		<-silent
	}
}

// ShutDownWithDrain is ShutDown that blocks until what was queued or being
// processed is done, or until ShutDown is called. Somebody must be getting items
// and must call Done; Drain also waits with a bound.
func (q *Queue[T]) ShutDownWithDrain() {
	_, _ = q.Drain(context.Background()) // only ShutDown can end it early, and then nothing is to be said
}

// Drain is ShutDownWithDrain that also ends with ctx. It returns nil, nil when
// all is done; otherwise what is left, first what is being processed and then
// what is queued, with the cause of ctx, or with ErrShutDown if ShutDown ended
// it. What is left stays in the queue, to be got as after ShutDown.
func (q *Queue[T]) Drain(ctx context.Context) ([]T, error) {
	q.lock()
	wake, silent := q.shutDown()
	drained, forced := q.drains()
	q.mu.Unlock()
	wake.signal()
	if silent != nil {
		<-silent
	}
	err := error(nil)
	select {
	case <-drained:
		return nil, nil
	case <-forced:
		err = ErrShutDown
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	left := q.left()
	if len(left) == 0 {
		err = nil
	}
	return left, err
}

// shutDown closes the core, with the lock held.
func (q *Queue[T]) shutDown() (wake *waiter, silent <-chan struct{}) {
	q.promote() // what is due is not dropped
	q.core.close()
	silent = q.silence()
	q.checkDrained()
	return q.waiters.takeOff(q.waiters.len), silent
}

// drains returns the channels that end a drain, with the lock held.
func (q *Queue[T]) drains() (drained, forced <-chan struct{}) {
	if q.drained == nil {
		q.drained = make(chan struct{})
		q.checkDrained()
	}
	if q.forced == nil {
		q.forced = make(chan struct{})
	}
	return q.drained, q.forced
}

// checkDrained tells those who wait when everything is done, with the lock
// held. Nothing is added after close, so it stays true.
func (q *Queue[T]) checkDrained() {
	if q.drained == nil || !q.core.closed || q.core.unfinished() > 0 {
		return
	}
	select {
	case <-q.drained:
	default:
		close(q.drained)
	}
}

func (q *Queue[T]) left() []T {
	q.lock()
	defer q.mu.Unlock()
	return q.core.left()
}
