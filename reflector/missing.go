package reflector

import (
	"context"

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
// for l.parking at most. A source that has said so in vain is heard again only
// after the pause of any other failure.
func (l *loop) park(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, l.parking)
	defer cancel()
	if l.woken {
		sleep(ctx, l.pausing)
	}
	awaiter, ok := l.r.source.(Awaiter)
	l.woken = ok && awaiter.Await(ctx) == nil
	if !l.woken {
		<-ctx.Done()
	}
}

// parked reports whether all that is going on is that the kind is missing.
func (l *loop) parked() bool { return l.parking > 0 && isMissing(l.reason) }

func isMissing(err *watch.Error) bool { return err != nil && err.Kind == watch.KindNotFound }
