package reflector

import (
	"context"

	"github.com/gocampus/hark/internal/sleep"
	"github.com/gocampus/hark/watch"
)

// Awaiter is what a Source has that can tell when a kind that the server did not
// have may be there. Without it the reflector asks again after growing pauses.
type Awaiter interface {
	// Await returns nil when it is worth while to ask for the kind again, and
	// the cause of ctx when that ends. Any other error means that the source
	// cannot tell.
	Await(context.Context) error
}

// park waits for a missing kind: until the source says that it may be there, or
// for l.parking at most. A source that has said so in vain is heard again after a
// pause that grows each time: a server may tell of a kind a moment before it has it.
func (l *loop) park(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, l.parking)
	defer cancel()
	if l.vain > 0 {
		_ = sleep.For(ctx, l.m.tuning.backoff(l.vain))
	}
	awaiter, ok := l.r.source.(Awaiter)
	if ok && awaiter.Await(ctx) == nil {
		l.vain++ // until the kind is heard
		return
	}
	l.vain = 0
	<-ctx.Done()
}

// parked reports whether all that is going on is that the kind is missing.
func (l *loop) parked() bool { return l.parking > 0 && isMissing(l.reason) }

func isMissing(err *watch.Error) bool { return err != nil && err.Kind == watch.KindNotFound }
