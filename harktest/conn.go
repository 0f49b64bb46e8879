package harktest

import (
	"context"
	"crypto/tls"
	"errors"
	"maps"
	"net"
	"net/http"
	"sync"
)

// errBroken is the cause of what ends because the server broke its connection.
var errBroken = errors.New("harktest: the server broke the connection")

// connections are the open ones, so that they can be broken. Each has a context,
// the parent of those of its requests: net/http notices a broken HTTP/1.1
// connection only once a request's body was read to its end, and a request that is
// held must not outlive its connection for that.
type connections struct {
	served sync.WaitGroup // one for each that net/http has not done with

	mu   sync.Mutex // guards open
	open map[net.Conn]context.CancelCauseFunc
}

// add is the server's ConnContext hook, called with each new connection.
func (c *connections) add(ctx context.Context, conn net.Conn) context.Context {
	ctx, cancel := context.WithCancelCause(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open == nil {
		c.open = map[net.Conn]context.CancelCauseFunc{}
	}
	c.open[conn] = cancel
	c.served.Add(1)
	return ctx
}

// note is the server's ConnState hook.
func (c *connections) note(conn net.Conn, state http.ConnState) {
	if state != http.StateClosed && state != http.StateHijacked {
		return
	}
	c.mu.Lock()
	cancel, found := c.open[conn]
	delete(c.open, conn)
	c.mu.Unlock()
	if found {
		cancel(net.ErrClosed)
		c.served.Done()
	}
}

// breakAll closes every connection as a process that dies does: with a reset.
func (c *connections) breakAll() {
	c.mu.Lock()
	broken := maps.Clone(c.open)
	c.mu.Unlock()
	for conn, cancel := range broken {
		cancel(errBroken)
		if secure, ok := conn.(*tls.Conn); ok {
			conn = secure.NetConn() // without the good-bye of TLS
		}
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		_ = conn.Close()
	}
}

// pipeHost is the name under which clients know an in-memory server.
const pipeHost = "harktest.local"

// pipeListener accepts connections that are pipes within the process.
type pipeListener struct {
	conns chan net.Conn
	done  chan struct{}
	close func()
}

func newPipeListener() *pipeListener {
	l := &pipeListener{conns: make(chan net.Conn), done: make(chan struct{})}
	l.close = sync.OnceFunc(func() { close(l.done) })
	return l
}

// Accept implements net.Listener.
func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *pipeListener) Close() error {
	l.close()
	return nil
}

// Addr implements net.Listener.
func (l *pipeListener) Addr() net.Addr { return pipeAddr{} }

// dial connects to the listener.
func (l *pipeListener) dial(ctx context.Context) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case l.conns <- server:
		return client, nil
	case <-l.done:
		return nil, &net.OpError{Op: "dial", Net: "pipe", Err: net.ErrClosed}
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return pipeHost }
