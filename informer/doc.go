// Package informer keeps a local copy of the objects of one kind and tells
// handlers what changes: a reflector, a store, and one delta queue a handler.
//
// Any number of handlers share one list and one watch. Each has its own queue
// and goroutine: a slow handler delays neither the reader nor another handler,
// and what waits for it is bounded by the number of keys (see package delta).
// Handlers that promise to be quick (HandlerOptions.Quick) share one queue and one
// goroutine: they hear the same in the same order, each in turn, and one that is
// slow after all delays the other quick ones alone. Closing or failing is each
// one's own affair. What came together is told together: whoever tells handlers is
// woken before the reader waits for anything, not once an event.
//
// Order and loss. A handler hears of one object in the order of its versions;
// of different objects in the order in which they first had something to tell.
// Only a complete list takes a handler back, behind what it has heard of an object or
// before its deletion: when the server's history began anew, or something was missed.
// It always hears of the newest state; states in between may be merged. (A quick
// handler hears up to 64 events that were the newest when its batch began.) What it
// has been told is a fold of its events: applying Added, Modified and Deleted
// to an empty map gives the store's content, once its queue is empty.
//
// Own writes. A program that has just written an object can hand in the server's
// answer (Observe): reads of the store see it at once, handlers when the watch
// tells of it. Until then reads are ahead of what handlers have been told.
//
// Identity. An object that was deleted and made again under the same name (a
// new UID) is told as Deleted, then Added, never as Modified.
//
// What handlers get is immutable and undecoded; decoding it is the business of
// package kube.
package informer
