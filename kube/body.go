package kube

import (
	"context"
	"errors"
	"io"
	"net"
	"sync/atomic"

	"github.com/gocampus/hark/watch"
	"github.com/gocampus/hark/wire"
)

// body is the open body of a good answer. One goroutine reads it; Close may
// come from another one, also in the middle of a read.
type body struct {
	request  request
	encoding wire.Encoding
	stream   io.ReadCloser
	cause    func() error            // why the request's context ended, or nil
	cancel   context.CancelCauseFunc // ends the request

	state atomic.Int32
}

// errClosed is the cause with which Close ends a request.
var errClosed = errors.New("closed by its reader")

// The states of a body. Whoever takes it out of idle for good closes stream, so
// that stream is never closed while it is being read.
const (
	idle    = iota
	reading // inside Next
	closing // Close came during Next
	closed
)

// enter begins a read. It returns false when the body is closed.
func (b *body) enter() bool { return b.state.CompareAndSwap(idle, reading) }

// leave ends a read that brought something.
func (b *body) leave() {
	if !b.state.CompareAndSwap(reading, idle) {
		b.release()
	}
}

// fail ends a read that brought an error, and maps it. It frees the connection
// and returns final unless reading can go on after the error.
func (b *body) fail(err error) (mapped error, final bool) {
	mapped = b.mapped(err)
	if e, ok := mapped.(*watch.Error); ok && e.Kind == watch.KindObject {
		b.leave()
		return mapped, false
	}
	if mapped != io.EOF {
		b.cancel(errClosed) // first, so that closing waits for no peer
	}
	b.release()
	return mapped, true
}

// release frees the connection at the end of a read. The request is ended after
// its body: ended before, a connection that could serve again would be dropped.
func (b *body) release() {
	b.state.Store(closed)
	b.stream.Close() // nobody is left to tell an error of closing
	b.cancel(errClosed)
}

// Close ends the request, which makes a read that is under way return, and
// frees the connection.
func (b *body) Close() error {
	for {
		switch b.state.Load() {
		case closing, closed:
			return nil
		case reading:
			if b.state.CompareAndSwap(reading, closing) {
				b.cancel(errClosed)
				return nil
			}
		default:
			if b.state.CompareAndSwap(idle, closed) {
				b.cancel(errClosed)
				return b.stream.Close()
			}
		}
	}
}

func (b *body) mapped(err error) error {
	cause := b.cause()
	switch {
	case err == io.EOF:
		return err
	case cause == errClosed:
		return b.closedError()
	case cause != nil:
		return cause
	}
	return b.request.broken(err)
}

func (b *body) closedError() *watch.Error {
	return &watch.Error{
		Kind:    watch.KindUnavailable,
		Message: b.request.String() + ": the stream was closed",
		Err:     net.ErrClosed,
	}
}
