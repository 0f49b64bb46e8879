// Package mvcc keeps objects in versions, as a store behind an API server does:
// one globally increasing version number, the newest state of every resource,
// and a bounded window of past events from which older states and watches are
// served. It knows nothing of HTTP or Kubernetes objects, starts no goroutine
// and reads no clock.
//
// The state of a resource is a persistent tree: each event in the window keeps
// the tree as it was after that event, so that a list at an older version costs
// no more than a list of the newest one, and readers never wait for writers.
//
// A watch is a cursor in the window. It has no buffer of its own: one that falls
// behind by more than its allowance is told so and must be closed, as a real
// server closes slow watchers. It never slows a writer.
package mvcc
