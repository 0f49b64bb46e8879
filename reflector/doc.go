// Package reflector keeps a sink equal to what a source has: it lists, watches,
// resumes, falls back and starts again, for ever, and says what it is doing.
//
// The protocol is a pure state machine (machine.go, listing.go, watching.go,
// failure.go): step(input, now) moves the state and returns the effects to carry
// out. It has no I/O, clock, lock or goroutine, and every rule of the list/watch
// protocol is in it:
//
//   - A streaming list first (KEP-3157); LIST and WATCH where the server refuses
//     it, or where the bookmark that ends the initial events does not come
//     within a bound. The choice is remembered.
//   - Bookmarks and events move the version that a broken watch resumes from;
//     the initial events of a streaming list do not.
//   - 410: a list not older than the last version, or than what an unfinished list
//     has shown; only when that fails too, a consistent read ("").
//   - "Too large resource version": a consistent read.
//   - 429: not before Retry-After.
//   - A version that goes backwards ends the watch: a consistent list settles
//     what is true.
//   - Before the end of a streaming list's initial events, a change that is older
//     than what the list has shown was sent again and is left out.
//   - 401, 403, refused and broken connections: a state with a reason, and
//     another try after a growing, jittered delay.
//   - 404: the server does not have the kind (any more). The reflector parks: it
//     keeps quiet and its reason, asks rarely, and goes on at once where the
//     source can tell that the kind is there again (Awaiter).
//
// The shell (reflector.go) runs it: one goroutine reads, and one timer ends a
// request that has gone deaf. Before anything that may block, a read, a request, a
// pause or a callback, the sink is flushed.
//
// Source: https://kubernetes.io/docs/reference/using-api/api-concepts/.
package reflector
