package follow

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/gocampus/hark/informer"
	"github.com/gocampus/hark/internal/printer"
	"github.com/gocampus/hark/internal/text"
	"github.com/gocampus/hark/kube"
	"github.com/gocampus/hark/record"
	"github.com/gocampus/hark/reflector"
	"github.com/gocampus/hark/watch"
	"github.com/gocampus/hark/wire"
)

// DefaultWaiting is how many events may wait for the output, for each target,
// before changes of one object are merged.
const DefaultWaiting = 1 << 14

// Target is one thing to watch.
type Target struct {
	// Resolve finds the kind; it may wait for it. It is called once.
	Resolve func(context.Context) (kube.Kind, error)
	// Name of the one object to watch; "" watches all.
	Name string
}

// Options of a Follower. Client is needed, and Printer and Out or Handle.
type Options struct {
	Client *kube.Client
	// Namespace to watch; "" watches all. A cluster-scoped kind has none.
	Namespace string
	// LabelSelector and FieldSelector, as the server understands them.
	LabelSelector, FieldSelector string
	Printer                      *printer.Printer
	// Out takes the events: one Write for each.
	Out io.Writer
	// Say is told, line by line, what becomes of the connections. It must be
	// safe for concurrent use and return soon: what it is told by waits for it.
	// Nil says nothing.
	Say func(string)
	// Handle takes the events instead of Printer and Out, one after another for each
	// target; nil prints them.
	Handle func(kube.Kind, informer.Event)
	// Resync is how often Handle is told again what is there; 0 means never.
	Resync time.Duration
	// Encoding to ask the server for; see kube.SourceOptions.
	Encoding wire.Encoding
	// Record is told each event, beside Handle or Printer; nil records nothing. Ask for
	// JSON (Encoding), which is recorded as it is.
	Record *record.Recorder
	// Printed is told of each event after it was written; nil for nobody.
	Printed func(informer.Event)
	// Ready is called for each target when all that existed is printed; nil
	// calls nobody.
	Ready func()
	// Lang of what Say is told; English when empty.
	Lang text.Lang
	// NoWait gives up what is otherwise waited for: an object of the Name, a
	// permission, a resource that the server does not have, new credentials. Lost
	// connections are made again all the same.
	NoWait bool
	// KeepManagedFields leaves metadata.managedFields in the objects; by default
	// they are cut.
	KeepManagedFields bool
	// Waiting bounds the events that wait for Out; 0 means DefaultWaiting.
	Waiting int
	// Reflector tunes how lists and watches are made; its callbacks are the
	// Follower's.
	Reflector reflector.Options
}

// Choice says what of a kind is watched, for a target of that name.
func (o *Options) Choice(name string) kube.SourceOptions {
	return kube.SourceOptions{
		Namespace:     o.Namespace,
		LabelSelector: o.LabelSelector,
		FieldSelector: fieldSelector(o.FieldSelector, name),

		KeepManagedFields: o.KeepManagedFields, Encoding: o.Encoding,
	}
}

// Follower watches targets and prints what happens to them.
type Follower struct {
	options Options

	mu     sync.Mutex // one event at a time: it is held while Out and Record write
	buffer []byte
	merged bool // it was said that changes are merged
	taken  map[taken]bool
}

// taken is what a target turned out to be.
type taken struct {
	kind kube.Kind
	name string
}

// New returns a Follower; it does nothing before Run.
func New(o Options) *Follower {
	if o.Waiting == 0 {
		o.Waiting = DefaultWaiting
	}
	if o.Lang == "" {
		o.Lang = text.English
	}
	if o.Say == nil {
		o.Say = func(string) {}
	}
	return &Follower{options: o, taken: map[taken]bool{}}
}

// Run follows the targets until ctx ends, and returns its cause, or until one
// cannot be followed at all: the server refuses what was asked (a selector) or
// who asks, or Out fails. Then it returns that error: a *RefusedError or Out's.
func (f *Follower) Run(ctx context.Context, targets []Target) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var running sync.WaitGroup
	for _, target := range targets {
		running.Go(func() {
			if err := f.follow(ctx, cancel, target); err != nil {
				cancel(err)
			}
		})
	}
	running.Wait()
	return context.Cause(ctx)
}

// RefusedError tells that the server refused a request in a way that trying
// again does not mend.
type RefusedError struct {
	Err *watch.Error
	// Check is a command that shows what is missing, or "".
	Check string
}

// Error implements error.
func (e *RefusedError) Error() string { return e.Err.Error() }

// Unwrap returns the server's answer.
func (e *RefusedError) Unwrap() error { return e.Err }

// follow runs one target's informer.
func (f *Follower) follow(ctx context.Context, cancel context.CancelCauseFunc, target Target) error {
	kind, err := target.Resolve(ctx)
	if err != nil {
		return err
	}
	if !f.take(taken{kind, target.Name}) {
		return nil // two targets that turned out to be one
	}
	stream := f.stream(kind, target.Name, cancel)
	tuning := f.options.Reflector
	tuning.OnStatus = stream.status
	tuning.OnBadObject = stream.badObject
	choice := f.options.Choice(target.Name)
	i := informer.New(f.options.Client.Source(kind, choice), informer.Options{
		Reflector: tuning,
		OnPanic:   func(p *informer.PanicError) { cancel(p) },
	})
	if f.options.Record != nil {
		stream.tap = f.options.Record.Tap(kind, choice)
	}
	registration, err := i.Handle(stream.event, informer.HandlerOptions{
		Name: "follow", Every: f.options.Waiting, Resync: f.options.Resync,
	})
	if err != nil {
		return err
	}
	if stream.tap != nil {
		stream.tap.Await(registration.Synced())
	}
	var waiting sync.WaitGroup
	waiting.Go(func() { stream.ready(ctx, i, registration) })
	err = i.Run(ctx)
	waiting.Wait()
	if errors.Is(err, context.Cause(ctx)) {
		return nil // Run of the Follower tells the cause
	}
	return err
}

// take reports whether nobody follows the same already.
func (f *Follower) take(what taken) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.taken[what] {
		return false
	}
	f.taken[what] = true
	return true
}

// fieldSelector adds the choice of one name to the user's selector.
func fieldSelector(selector, name string) string {
	switch {
	case name == "":
		return selector
	case selector == "":
		return "metadata.name=" + name
	}
	return "metadata.name=" + name + "," + selector
}

// say writes a line about a connection.
func (f *Follower) say(m text.Message, pairs ...string) {
	f.options.Say(text.Printable(f.options.Lang.Say(m, pairs...)))
}
