package engine

import (
	"context"
	"time"

	"github.com/gocampus/hark/informer"
	"github.com/gocampus/hark/key"
	"github.com/gocampus/hark/kube"
)

// Event is one change, as an informer tells a handler: undecoded, with the state
// before and after.
type Event struct {
	informer.Event
	Kind kube.Kind
	Time time.Time // when it arrived
}

// Sink takes what a Feed has. Its methods are safe for concurrent use and return
// soon.
type Sink interface {
	// Tell takes a change. Changes of one object come in order, and each Old is the
	// New told before.
	Tell(Event)
	// Synced is called once, when everything that existed at the beginning has been
	// told.
	Synced()
}

// Feed is where changes come from: a cluster that is listened to, or a recording
// that is played.
type Feed interface {
	// Run tells sink until ctx ends, and then returns; the error does not count. When
	// it returns nil before that there is nothing more to come, as at the end of a
	// recording: the engine works off what it has and ends. Any other error ends the
	// engine with it.
	Run(ctx context.Context, sink Sink) error
}

// Key is an object of some kind: two objects of different kinds are different keys
// though they have the same name.
type Key struct {
	Resource string // as kubectl names it: "pods", "deployments.apps"
	key.Key
}

// String returns pods/default/web, or nodes/node-1.
func (k Key) String() string { return k.Resource + "/" + k.Key.String() }

func (e *Event) key() Key { return Key{e.Kind.String(), e.Key} }
