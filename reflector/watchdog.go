package reflector

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// errDeaf is the cause with which a request is cancelled at its deadline.
var errDeaf = errors.New("reflector: nothing came before the deadline")

// watchdog cancels a request at its deadline. Moving the deadline costs one
// atomic store: the timer finds out when it fires.
type watchdog struct {
	deadline atomic.Int64 // in Unix nanoseconds
	deaf     atomic.Bool  // the deadline passed
	timer    *time.Timer
	cancel   context.CancelCauseFunc
}

// guardRequest returns a context for one request and the watchdog over it.
func guardRequest(ctx context.Context, deadline time.Time) (context.Context, *watchdog) {
	ctx, cancel := context.WithCancelCause(ctx)
	d := &watchdog{cancel: cancel}
	d.deadline.Store(deadline.UnixNano())
	d.timer = time.AfterFunc(time.Hour, d.fire) // set at once; fire reads d.timer
	d.timer.Reset(time.Until(deadline))
	return ctx, d
}

func (d *watchdog) move(deadline time.Time) { d.deadline.Store(deadline.UnixNano()) }

func (d *watchdog) fire() {
	left := time.Until(time.Unix(0, d.deadline.Load()))
	if left > 0 {
		d.timer.Reset(left)
		return
	}
	d.deaf.Store(true)
	d.cancel(errDeaf)
}

// stop ends the request.
func (d *watchdog) stop(cause error) {
	d.timer.Stop()
	d.cancel(cause)
}
