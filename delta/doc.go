// Package delta holds what one handler has still to be told.
//
// A Queue sits between the one writer of a store and one handler. Changes go in
// as (state before, state after) pairs, in the order of the store; events come
// out in the order in which their keys first had something to say. An entry
// keeps only two states: what the handler saw last, and what is true now. From
// these two follow all the rules of coalescing:
//
//	Add    then Update                 one Added, newest state
//	Add    then Delete                 nothing
//	Update then Update                 one Modified, first old and newest new state
//	Update then Delete                 one Deleted
//	Delete then Add, another UID       Deleted, then Added; others between are not told
//	Delete then Add, the same UID      one Modified
//	Resync over a pending change       the pending change alone
//
// With Bound 0 (the policy Latest) there is at most one entry a key, so memory
// is bounded by the number of keys. With a Bound of n (the policy Every) each
// change is an event of its own while fewer than n are waiting; beyond that,
// changes coalesce as above and Event.Merged counts them, so that a slow reader
// costs detail, never memory or truth.
//
// A handler may join others at a queue: it takes the state of the store and adds
// a Mark that is a fence. Nothing coalesces across it, so what is popped behind it
// follows from that state. Fences that wait cost at most an entry a key each.
//
// Push never blocks; a Queue is safe for concurrent use by writers and one reader.
package delta
