// Package sleep waits for a time or the end of a context.
package sleep

import (
	"context"
	"time"
)

// For waits for d and returns nil, or the cause of ctx when it ends first or has ended
// before. It does not wait for a d of 0 or less.
func For(ctx context.Context, d time.Duration) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
