package cluster

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"k8s.io/client-go/rest"
)

// stopGrace is how long the API server may take to end when asked to; it needs a
// second or two.
const stopGrace = 30 * time.Second

// KillAPIServer kills the API server as a crash would: connections break and, until
// RestartAPIServer, are refused. It does nothing if the server is down already.
func (c *Cluster) KillAPIServer(ctx context.Context) error {
	return c.endAPIServer(ctx, (*process).kill)
}

// StopAPIServer asks the API server to end and waits for it: connections are refused
// at once, requests are finished, watches are ended in good order within two
// seconds. It does nothing if the server is down already.
func (c *Cluster) StopAPIServer(ctx context.Context) error {
	return c.endAPIServer(ctx, func(p *process) { p.stop(stopGrace) })
}

// RestartAPIServer starts the API server on the same port, with the same store and
// certificates, and returns when it is ready. A server that runs is killed before.
// Its watch cache is new and begins at the store's present version: a watch from an
// older version is answered with 410 Gone. Lists of older versions come from the
// store, until Compact. ctx and Options.StartTimeout bound the start.
func (c *Cluster) RestartAPIServer(ctx context.Context) error {
	if err := c.take(ctx); err != nil {
		return err
	}
	defer c.give()
	if p := c.process(apiserverBinary.name); p != nil {
		p.kill()
	}
	ctx, cancel := context.WithTimeoutCause(ctx, c.options.StartTimeout,
		fmt.Errorf("not ready within %v", c.options.StartTimeout))
	defer cancel()
	return c.launchAPIServer(ctx)
}

func (c *Cluster) endAPIServer(ctx context.Context, end func(*process)) error {
	if err := c.take(ctx); err != nil {
		return err
	}
	defer c.give()
	p := c.process(apiserverBinary.name)
	if p == nil {
		return ErrClosed
	}
	end(p)
	return nil
}

// process returns a server that was started, or nil.
func (c *Cluster) process(name string) *process {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.processes[name]
}

// launchAPIServer starts the API server and waits until it is ready; for the turn's
// holder.
func (c *Cluster) launchAPIServer(ctx context.Context) error {
	if err := c.launch(apiserverBinary, apiserverArgs(c.port.number, c.options)); err != nil {
		return err
	}
	client, err := rest.HTTPClientFor(c.Config())
	if err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	defer client.CloseIdleConnections()
	// Its checks cover the store, the caches that RBAC reads and the rules and
	// namespaces that a new cluster begins with.
	return c.await(ctx, apiserverBinary.name, func(ctx context.Context) error {
		return getOK(ctx, client, c.URL()+"/readyz")
	})
}

// getOK fails unless the answer to a GET is 200.
func getOK(ctx context.Context, client *http.Client, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 64<<10))
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s\n%s", url, response.Status, body)
	}
	return nil
}
