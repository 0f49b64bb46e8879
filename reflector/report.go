package reflector

import (
	"context"
	"fmt"
	"time"
)

// Status returns a copy of the current state. It is safe for concurrent use.
func (r *Reflector) Status() Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.status
}

// Synced is closed when the sink has held one complete state.
func (r *Reflector) Synced() <-chan struct{} { return r.synced }

// WaitSync blocks until the sink has held one complete state. When ctx ends
// first, the error is its cause together with the reason of the newest failure:
// what the reflector is waiting for. It is ErrStopped when Run ends first.
func (r *Reflector) WaitSync(ctx context.Context) error {
	select {
	case <-r.synced:
		return nil
	case <-r.stopped:
	case <-ctx.Done():
	}
	status := r.Status()
	switch {
	case status.Synced: // both came at once
		return nil
	case ctx.Err() == nil:
		return ErrStopped
	}
	if status.Reason != nil {
		return fmt.Errorf("not synced (%w): %s: %w", context.Cause(ctx), status.Phase, status.Reason)
	}
	return fmt.Errorf("not synced (%w): %s", context.Cause(ctx), status.Phase)
}

// show publishes the state, with a call of OnStatus if it changed visibly.
func (l *loop) show() {
	phase := l.m.phase
	var retry time.Time
	switch {
	case l.waiting:
		phase, retry = Waiting, time.Now().Add(max(l.pausing, l.parking))
	case l.parked(): // asking whether the kind is there is no news
		phase = Waiting
	}
	l.r.publish(func(s *Status) {
		s.Phase, s.Retry, s.Reason = phase, retry, l.reason
		s.Synced, s.ResourceVersion, s.Failures = l.m.synced, l.m.resume, l.m.failures
		s.LastEvent, s.Counts = l.last, l.counts
	})
}

// count publishes the numbers that every event moves.
func (l *loop) count() {
	r := l.r
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status.ResourceVersion, r.status.Failures = l.m.resume, l.m.failures
	r.status.LastEvent, r.status.Counts = l.last, l.counts
}

// publish changes the status, wakes those who wait and calls OnStatus.
func (r *Reflector) publish(change func(*Status)) {
	r.mu.Lock()
	before := r.status
	change(&r.status)
	if r.status.Phase != before.Phase {
		r.status.Since = time.Now()
	}
	after := r.status
	if after.Synced && !before.Synced {
		close(r.synced)
	}
	r.mu.Unlock()
	if r.options.OnStatus != nil && (after.Phase != before.Phase || after.Reason != before.Reason || after.Synced != before.Synced) {
		r.options.OnStatus(after)
	}
}
