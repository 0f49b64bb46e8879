package workqueue

import "context"

// waiter is one goroutine blocked in a Get.
type waiter struct {
	woken      chan struct{} // one buffered token, sent by whoever took the waiter off the list
	prev, next *waiter
	listed     bool
}

// signal wakes a chain of waiters that were taken off the list. It is called
// without the lock and never blocks: each has room for its one token.
func (w *waiter) signal() {
	for w != nil {
		next := w.next // w is no longer ours once it is woken
		w.next = nil
		w.woken <- struct{}{}
		w = next
	}
}

// waiters is the list of blocked goroutines, the longest waiting first. A
// goroutine that is woken takes an item if there still is one, or queues up
// again: an item may go to a goroutine that came by in the meantime.
//
// Invariant: either no waiter is listed or at least as many are waking (woken
// but not yet back under the lock) as there are items to take, but for those
// that have become due since the last operation: the alarm rings for them.
type waiters struct {
	head, tail *waiter
	len        int // listed
	waking     int
	spare      *waiter
	spares     int
}

// maxSpareWaiters bounds the waiters kept for reuse.
const maxSpareWaiters = 64

// join lists the calling goroutine.
func (l *waiters) join() *waiter {
	w := l.spare
	if w == nil {
		w = &waiter{woken: make(chan struct{}, 1)}
	} else {
		l.spare, w.next = w.next, nil
		l.spares--
	}
	w.prev = l.tail
	if l.tail == nil {
		l.head = w
	} else {
		l.tail.next = w
	}
	l.tail = w
	l.len++
	w.listed = true
	return w
}

func (l *waiters) unlink(w *waiter) {
	if w.prev == nil {
		l.head = w.next
	} else {
		w.prev.next = w.next
	}
	if w.next == nil {
		l.tail = w.prev
	} else {
		w.next.prev = w.prev
	}
	w.prev, w.next, w.listed = nil, nil, false
	l.len--
}

// back ends the wait of a waiter that was woken.
func (l *waiters) back(w *waiter) {
	l.waking--
	if l.spares < maxSpareWaiters {
		w.next, l.spare = l.spare, w
		l.spares++
	}
}

// takeOff removes up to n waiters and returns them as a chain to signal.
func (l *waiters) takeOff(n int) *waiter {
	var chain, end *waiter
	for ; n > 0 && l.head != nil; n-- {
		w := l.head
		l.unlink(w)
		l.waking++
		if chain == nil {
			chain = w
		} else {
			end.next = w
		}
		end = w
	}
	return chain
}

// wake returns the waiters to signal once the lock is released.
func (q *Queue[T]) wake() *waiter {
	if q.waiters.head == nil {
		return nil
	}
	return q.waiters.takeOff(q.core.order.aged.len - q.waiters.waking)
}

// await blocks until w is woken, or ctx has ended and w is off the list.
func (q *Queue[T]) await(ctx context.Context, w *waiter) {
	select {
	case <-w.woken:
	case <-ctx.Done():
		if !q.withdraw(w) {
			<-w.woken // it is on its way
		}
	}
}

// withdraw takes w off the list as if it had been woken, unless it already is.
func (q *Queue[T]) withdraw(w *waiter) bool {
	q.lock()
	defer q.mu.Unlock()
	if !w.listed {
		return false
	}
	q.waiters.unlink(w)
	q.waiters.waking++
	return true
}

// passOn ends the wait of a waiter that leaves without an item: the one that it
// may have been woken for goes to another.
func (q *Queue[T]) passOn(w *waiter) {
	if w == nil {
		return
	}
	q.lock()
	q.waiters.back(w)
	wake := q.notify()
	q.mu.Unlock()
	wake.signal()
}
