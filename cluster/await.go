package cluster

import (
	"context"
	"fmt"
	"time"
)

// Servers of another process can only be asked again and again.
const (
	askInterval = 50 * time.Millisecond
	askTimeout  = 5 * time.Second // of one question
)

// await asks until ready returns nil. It fails with a *ServerError about the named
// server when ctx ends, and about any server that ends meanwhile.
func (c *Cluster) await(ctx context.Context, server string, ready func(context.Context) error) error {
	tick := time.NewTicker(askInterval)
	defer tick.Stop()
	for {
		once, cancel := context.WithTimeout(ctx, askTimeout)
		err := ready(once)
		cancel()
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-c.done:
			return c.Err()
		case <-c.closing:
			return ErrClosed
		case <-ctx.Done():
			return c.notReady(ctx, server, err)
		}
	}
}

// notReady describes a server that was waited for in vain.
func (c *Cluster) notReady(ctx context.Context, server string, last error) error {
	e := &ServerError{Server: server, Err: fmt.Errorf("%w; last: %w", context.Cause(ctx), last)}
	if p := c.process(server); p != nil {
		e.Log = tailOfFile(p.log)
	}
	return e
}
