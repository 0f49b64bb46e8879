package watch

import (
	"context"
	"time"

	"github.com/gocampus/hark/wire"
)

// Source lists and watches the objects of one kind, perhaps of one namespace
// and selector. Its methods are safe for concurrent use.
//
// Every error that a Source or its streams return is an *Error, io.EOF at the
// regular end of a stream, or the cause of a context that ended.
type Source interface {
	// List opens a list, or one page of it.
	List(context.Context, ListOptions) (ListStream, error)
	// Watch opens a watch.
	Watch(context.Context, WatchOptions) (Stream, error)
}

// ListOptions are the query parameters of a list that a reflector decides;
// selectors belong to the Source.
type ListOptions struct {
	// ResourceVersion "" asks for the newest state (a consistent read), "0" for
	// any, another for a state not older than that one.
	ResourceVersion string
	// Limit of items in one page; 0 asks for everything at once.
	Limit int64
	// Continue is the token of the page before.
	Continue string
}

// WatchOptions are the query parameters of a watch that a reflector decides.
type WatchOptions struct {
	// ResourceVersion to start after; with SendInitialEvents the state sent
	// first is not older than it ("" means the newest).
	ResourceVersion string
	// SendInitialEvents asks for a streaming list (KEP-3157): the state as
	// ADDED events, then a bookmark with InitialEventsEnd, then changes.
	SendInitialEvents bool
	// Timeout after which the server is asked to end the watch; 0 leaves it to
	// the server. Whole seconds count.
	Timeout time.Duration
}

// ListStream reads a list item by item. It is for one goroutine, except that
// Close may be called from another.
type ListStream interface {
	// Next returns the next item, or io.EOF after the last one. An *Error of
	// kind KindObject reports one bad item; the next call goes on after it.
	Next() (*wire.Object, error)
	// Meta returns what the list says of itself. It is complete once Next has
	// returned io.EOF.
	Meta() wire.ListMeta
	// Close frees the connection. It may be called more than once.
	Close() error
}

// Stream reads a watch event by event. It is for one goroutine, except that
// Close may be called from another.
type Stream interface {
	// Next blocks for the next event. io.EOF means that the server ended the
	// watch regularly. An *Error of kind KindObject reports one bad frame; the
	// next call goes on after it. An ERROR event is returned as an event.
	Next() (Event, error)
	// Close frees the connection and makes a blocked Next return. It may be
	// called more than once.
	Close() error
}

// Tuner is what a Stream or a ListStream may be besides. A stream that wraps
// another one and reads it from a goroutine of its own must not be one.
type Tuner interface {
	// Tune is called before the first Next, at most once.
	Tune(Tuning)
}

// Tuning is how the user of a stream wants it read.
type Tuning struct {
	// Keeper decides how objects are kept; nil keeps each whole.
	Keeper wire.Keeper
	// BeforeRead is called by Next before it reads from the network, which may
	// block: who gathers what came in acts on it now. Nil means nobody does.
	BeforeRead func()
}
