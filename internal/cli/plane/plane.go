package plane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// closeGrace is how long the control plane may take to end when it is asked to.
const closeGrace = 30 * time.Second

// ErrNoProgram is the error of Start where there is neither the program nor a go
// command to build it.
var ErrNoProgram = errors.New("plane: neither hark-cluster nor go is in PATH")

// Options of a Plane. The zero value works.
type Options struct {
	// Progress is told, line by line and from one goroutine at a time, how far the
	// build and the start are. Nil says nothing.
	Progress func(line string)
	// Dir is where a checkout is looked for, upwards. Default the working directory.
	Dir string
}

// Plane is a running control plane. Its methods are safe for concurrent use.
type Plane struct {
	dir   string // of the kubeconfig and, if need be, the program
	child *child
}

// Start builds and starts a control plane and returns when it is ready: its nodes
// take pods. ctx bounds the start, not the life; Close ends it. Start fails with
// ErrNoProgram, with a *EndedError, or with the cause of ctx, and leaves nothing
// then.
func Start(ctx context.Context, o Options) (*Plane, error) {
	dir, err := os.MkdirTemp("", "hark-plane-*")
	if err != nil {
		return nil, fmt.Errorf("plane: %w", err)
	}
	p := &Plane{dir: dir}
	if err := p.start(ctx, o); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

func (p *Plane) start(ctx context.Context, o Options) error {
	program, err := find(ctx, o, p.dir)
	if err != nil {
		return err
	}
	ready := make(chan struct{})
	announced := sync.OnceFunc(func() { close(ready) })
	c := newChild(program, "up", "--kubeconfig-out", p.Kubeconfig())
	c.tell = o.Progress
	c.printed = func(line string) {
		if strings.HasPrefix(line, "export KUBECONFIG=") {
			announced()
		}
	}
	if err := c.start(); err != nil {
		return fmt.Errorf("plane: %w", err)
	}
	p.child = c
	if filepath.Dir(program) == p.dir {
		_ = os.Remove(program) // it runs; nothing big is left even if nobody calls Close
	}
	select {
	case <-ready:
		c.setReady()
		return nil
	case <-c.done:
		return c.ended()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Kubeconfig is the path of the administrator's kubeconfig, which goes with the
// control plane.
func (p *Plane) Kubeconfig() string { return filepath.Join(p.dir, "cluster.kubeconfig") }

// Ended waits until the control plane has ended by itself and returns a
// *EndedError, or until ctx ends and returns its cause.
func (p *Plane) Ended(ctx context.Context) error {
	select {
	case <-p.child.done:
		return p.child.ended()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Close ends the control plane and returns when it and all that it had started are
// gone. It may be called more than once.
func (p *Plane) Close() error {
	if p.child != nil {
		p.child.end(closeGrace)
	}
	return os.RemoveAll(p.dir)
}
