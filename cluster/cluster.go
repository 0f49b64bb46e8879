package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// Cluster is a running control plane. Its methods are safe for concurrent use.
type Cluster struct {
	options   Options
	bin       string // directory of the binaries
	dir       *runDir
	port      *port
	authority *authority
	admin     credential

	// turn is held, by its one element, by whoever starts or ends servers.
	turn chan struct{}

	done    chan struct{} // closed with failure
	closing chan struct{} // closed by Close

	mu        sync.Mutex // guards the fields below
	processes map[string]*process
	closed    bool
	failure   error
}

// ErrClosed is the error of methods that start or end servers once Close was called.
var ErrClosed = errors.New("cluster: closed")

// New builds what is missing of the binaries, starts a control plane with an empty
// store and returns when it is ready: the API server answers and applies RBAC, the
// system namespaces exist, the nodes are ready and pods can be scheduled. ctx and
// Options.StartTimeout bound the start, not the life of the cluster; Close ends it.
//
// It fails with a *BuildError, with a *ServerError that shows the log of the server
// in question, or with the cause of ctx. Nothing is left running then.
func New(ctx context.Context, o Options) (*Cluster, error) {
	o = o.withDefaults()
	bin, err := build(ctx, o.Build, o.binaries())
	if err != nil {
		return nil, err
	}
	c, err := prepare(o, bin)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, o.StartTimeout,
		fmt.Errorf("not ready within %v", o.StartTimeout))
	defer cancel()
	if err := c.start(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// prepare makes everything that the servers need to start.
func prepare(o Options, bin string) (c *Cluster, err error) {
	c = &Cluster{
		options: o, bin: bin,
		turn:      make(chan struct{}, 1),
		processes: map[string]*process{},
		done:      make(chan struct{}),
		closing:   make(chan struct{}),
	}
	if c.authority, err = newAuthority(); err != nil {
		return nil, fmt.Errorf("cluster: certificate authority: %w", err)
	}
	c.admin = c.mustIssue(adminUser, []string{adminGroup})
	if o.LogDir != "" {
		if err := os.MkdirAll(o.LogDir, 0o755); err != nil {
			return nil, fmt.Errorf("cluster: log directory: %w", err)
		}
	}
	if c.dir, err = newRunDir(o.TempDir); err != nil {
		return nil, err
	}
	if c.port, err = reservePort(); err != nil {
		return nil, errors.Join(err, c.dir.remove())
	}
	if err := errors.Join(c.authority.writeFiles(c.dir.path), c.writeKubeconfigs()); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// start starts the servers and waits until they are ready.
func (c *Cluster) start(ctx context.Context) error {
	if err := c.take(ctx); err != nil {
		return err
	}
	defer c.give()
	if err := c.launch(etcdBinary, etcdArgs()); err != nil {
		return err
	}
	if err := c.launchAPIServer(ctx); err != nil {
		return err
	}
	for _, client := range []struct {
		omit   bool
		binary binary
		args   []string
	}{
		{c.options.NoControllerManager, managerBinary, managerArgs(c.options)},
		{c.options.NoScheduler, schedulerBinary, schedulerArgs(c.options)},
		{c.options.NoKwok, kwokBinary, kwokArgs(c.bin)},
	} {
		if client.omit {
			continue
		}
		if err := c.launch(client.binary, client.args); err != nil {
			return err
		}
	}
	return c.createNodes(ctx)
}

// take waits for the turn to start or end servers.
func (c *Cluster) take(ctx context.Context) error {
	select {
	case c.turn <- struct{}{}:
		return nil
	case <-c.closing:
		return ErrClosed
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (c *Cluster) give() { <-c.turn }

// launch starts a server, whose unexpected end is the end of the cluster's health.
func (c *Cluster) launch(b binary, args []string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return ErrClosed
	}
	p, err := startProcess(command{
		name: b.name, path: filepath.Join(c.bin, b.name), args: args,
		dir: c.dir.path, log: filepath.Join(c.LogDir(), b.name+".log"),
	}, func(p *process) { c.fail(p.failure()) })
	if err != nil {
		return err
	}
	c.processes[b.name] = p
	return nil
}

// fail keeps the first failure.
func (c *Cluster) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failure != nil || c.closed {
		return
	}
	c.failure = err
	close(c.done)
}

// Done returns a channel that is closed when a server has ended by itself; Err then
// says which, and the cluster is of no more use. Close does not close it.
func (c *Cluster) Done() <-chan struct{} { return c.done }

// Err returns the *ServerError of the server that ended by itself first, or nil.
func (c *Cluster) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failure
}

// LogDir returns the directory with a log of each server, such as kube-apiserver.log.
func (c *Cluster) LogDir() string {
	if c.options.LogDir != "" {
		return c.options.LogDir
	}
	return c.dir.path
}

// Close kills the servers and returns when they are gone and the directory of the run
// is removed. It interrupts methods that wait for a server. It may be called more than
// once: later calls do nothing. The error is that of the removal.
func (c *Cluster) Close() error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil
	}
	c.closed = true
	processes := c.processes
	c.processes = nil
	c.mu.Unlock()
	close(c.closing)
	var killed sync.WaitGroup
	for _, p := range processes {
		killed.Go(p.kill)
	}
	killed.Wait()
	c.port.release()
	return c.dir.remove()
}
