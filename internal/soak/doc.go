// Package soak is a test: it drives an API server with a random history and
// random faults while several informers, handlers and a worker pool follow it,
// and checks all of them against a model. It has no code of its own to use.
//
//	make soak SOAK=10m          as long as asked
//	go test ./internal/soak -v -args -seed 42 -episodes 1
//
// An episode is one server with its followers, in virtual time. In the end,
// with all faults lifted:
//
//   - every informer's store is what the server has of what it selects;
//   - the fold of every handler's events is its informer's store, and each
//     event followed from what that handler was told before;
//   - no handler saw an object's version go back, unless the server's did;
//   - every key whose object changed was run successfully after its last change;
//   - no two runs of one key overlapped;
//   - no goroutine is left (the bubble of testing/synctest would not end).
package soak
