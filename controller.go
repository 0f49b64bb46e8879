package hark

import (
	"context"
	"errors"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gocampus/hark/informer"
	"github.com/gocampus/hark/key"
	"github.com/gocampus/hark/kube"
	"github.com/gocampus/hark/store"
	"github.com/gocampus/hark/wire"
	"github.com/gocampus/hark/worker"
	"github.com/gocampus/hark/workqueue"
)

// Result of a successful run: the zero value means done, RequeueAfter asks for
// another run later.
type Result = worker.Result

// Permanent marks an error as one that trying again cannot mend: the key is
// parked until its object changes or it is requeued by hand.
func Permanent(err error) error { return worker.Permanent(err) }

// Reconcile brings the world in line with one object. object is the newest
// version when the run starts, decoded for this run alone unless Options.ReadOnly
// says otherwise, or nil when it does not exist any more. Runs of one key never overlap. An error is tried again
// with a growing pause.
type Reconcile[T any] func(ctx context.Context, k key.Key, object *T) (Result, error)

// Options of a Controller for objects of the Go type T, such as
// appsv1.Deployment. Reconcile is required.
type Options[T any] struct {
	// Name for logs and errors; "" means the Go type's name.
	Name string
	// Namespace to look at; "" means all.
	Namespace string
	// LabelSelector and FieldSelector in the API's text form; "" selects all.
	LabelSelector string
	FieldSelector string
	// Kind to look at. The zero Kind means that of T, which must then be a
	// generated API type; for unstructured.Unstructured give what
	// kube.Client.Resolve returns.
	Kind kube.Kind
	// Reconcile does the work.
	Reconcile Reconcile[T]
	// Also are further kinds whose changes lead to runs.
	Also []Also
	// Resync is how often every key that is not parked is run again, without any
	// request; 0 means never.
	Resync time.Duration
	// Backoff after failed runs; the zero value is 10 ms, doubled up to 1000 s.
	Backoff workqueue.Backoff
	// Workers, Timeout, MaxTries, DrainTimeout and AbandonAfter are those of
	// worker.Options.
	Workers      int
	Timeout      time.Duration
	MaxTries     int
	DrainTimeout time.Duration
	AbandonAfter time.Duration
	// Informers shares watches between controllers: those that ask for the same
	// kind, namespace and selectors have one. Run it beside them; its Configure
	// gives indexes and hears of changes of state. Nil means that this controller
	// has its own, and logs those.
	Informers *kube.Informers
	// Compact keeps the objects of this controller's own informers in a fraction
	// of the memory, for some microseconds a change: see store.Options.
	Compact bool
	// ReadOnly promises that Reconcile does not change its object: then all runs
	// that read one version, of other controllers too, may be given the same one,
	// decoded once: see kube.View. By default each run decodes its own.
	ReadOnly bool
	// Logger for changes of state and failed runs; nil means slog.Default().
	Logger *slog.Logger
}

// Also is a kind beside the main one: when one of its objects changes, Keys
// says which keys of the main kind are to be run.
type Also struct {
	Kind          kube.Kind
	Namespace     string // "" means all
	LabelSelector string
	FieldSelector string
	// Keys maps a change to keys of the main kind; several changes of an object
	// may come as one. It must not block. Required; see OwnedBy.
	Keys func(informer.Event) []key.Key
}

// OwnedBy is a Keys function: the controlling owner of the object that changed,
// if it is of that kind ("Deployment", or "Deployment.apps" to be exact about the
// API group), in the object's namespace; after a change of owner the former one
// too.
func OwnedBy(kind string) func(informer.Event) []key.Key {
	kind, group, exact := strings.Cut(kind, ".")
	owner := func(o *wire.Object) (key.Key, bool) {
		if o == nil {
			return key.Key{}, false
		}
		owner := o.Meta().Owner
		apiGroup, _, grouped := strings.Cut(owner.APIVersion, "/")
		if owner.Kind != kind || exact && (!grouped || apiGroup != group) {
			return key.Key{}, false
		}
		return key.Key{Namespace: o.Key().Namespace, Name: strings.Clone(owner.Name)}, true
	}
	return func(e informer.Event) []key.Key {
		var keys []key.Key
		for _, o := range []*wire.Object{e.Old, e.New} {
			if k, ok := owner(o); ok && !slices.Contains(keys, k) {
				keys = append(keys, k)
			}
		}
		return keys
	}
}

// Controller watches objects of type T and runs Reconcile for each key that
// changed: once at a time for a key, with the newest version, again after a
// failure. Its methods are safe for concurrent use.
type Controller[T any] struct {
	client  *kube.Client
	options Options[T]
	queue   *workqueue.Queue[key.Key]
	pool    *worker.Pool[key.Key]

	// ready is closed when kind and feeds are set, for good. Only runs, Store and
	// Status read them, and only after that.
	ready chan struct{}
	kind  kube.Kind
	feeds []*kube.Shared // the main kind's is the first

	mu      sync.Mutex
	started bool
}

// ErrStarted is returned by a second Run of a controller.
var ErrStarted = errors.New("hark: the controller has run already; make a new one")

// New returns a controller; it does nothing before Run. It panics where a
// required field is missing.
func New[T any](client *kube.Client, o Options[T]) *Controller[T] {
	if o.Reconcile == nil {
		panic("hark: Options.Reconcile is missing")
	}
	for _, also := range o.Also {
		if also.Keys == nil || also.Kind == (kube.Kind{}) {
			panic("hark: Keys or Kind of an Also is missing")
		}
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.Name == "" {
		o.Name = reflect.TypeFor[T]().Name()
	}
	c := &Controller[T]{client: client, options: o, ready: make(chan struct{})}
	c.queue = workqueue.New(workqueue.Options[key.Key]{Backoff: o.Backoff, Times: true}) // Status tells since when
	c.pool = worker.New(c.queue, c.reconcile, worker.Options[key.Key]{
		Workers:      o.Workers,
		Timeout:      o.Timeout,
		MaxTries:     o.MaxTries,
		DrainTimeout: o.DrainTimeout,
		AbandonAfter: o.AbandonAfter,
		OnEnd:        c.logRun,
	})
	return c
}

// reconcile is one run: the newest version is read and decoded now.
func (c *Controller[T]) reconcile(ctx context.Context, k key.Key) (Result, error) {
	raw, ok := c.Store().Get(k)
	if !ok {
		return c.options.Reconcile(ctx, k, nil)
	}
	object, err := c.decode(raw)
	if err != nil {
		return Result{}, Permanent(err) // until the object changes, which runs the key again
	}
	return c.options.Reconcile(ctx, k, object)
}

func (c *Controller[T]) decode(raw *wire.Object) (*T, error) {
	if c.options.ReadOnly {
		return kube.ViewOf[T](c.kind, raw)
	}
	object := new(T)
	return object, c.kind.Decode(raw, object)
}

// Store is the local copy of the main kind, for reading. It blocks until Run has
// found the kind, and is empty when Run could not find it.
func (c *Controller[T]) Store() *store.Store {
	<-c.ready
	if len(c.feeds) == 0 {
		empty, _ := store.New(store.Options{})
		return empty
	}
	return c.feeds[0].Store()
}

// Parked are the keys that are not run any more until their object changes or
// Requeue is called.
func (c *Controller[T]) Parked() []worker.ParkedItem[key.Key] { return c.pool.Parked() }

// Requeue runs a parked key again, and reports whether it was parked.
func (c *Controller[T]) Requeue(k key.Key) bool { return c.pool.Requeue(k) }

// Enqueue asks for a run of a key, after a delay if it is positive.
func (c *Controller[T]) Enqueue(k key.Key, after time.Duration) { c.queue.AddAfter(k, after) }

// Status is what a controller shows of itself: plain data, a copy.
type Status struct {
	// Informers by what they look at: "deployments.apps in all namespaces (apps/v1)".
	Informers map[string]informer.Status
	Queue     workqueue.Snapshot[key.Key]
	Workers   worker.Stats[key.Key]
	Parked    []worker.ParkedItem[key.Key]
}

// Status returns the current state and numbers.
func (c *Controller[T]) Status() Status {
	s := Status{
		Informers: map[string]informer.Status{},
		Queue:     c.queue.Snapshot(),
		Workers:   c.pool.Stats(),
		Parked:    c.pool.Parked(),
	}
	select {
	case <-c.ready:
		for _, f := range c.feeds {
			s.Informers[f.String()] = f.Status()
		}
	default:
	}
	return s
}
