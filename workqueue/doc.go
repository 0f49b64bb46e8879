// Package workqueue holds the keys that need work until a worker has done it.
//
// A [Queue] is the dirty / processing / queued triple of client-go's
// util/workqueue, with the same methods: an item that is added many times
// before it is taken is delivered once; an item that is added while it is
// being processed is delivered again after Done, never to two workers at once.
// *Queue[T] satisfies client-go's TypedRateLimitingInterface[T] as it is.
//
// An item has at most one pending delivery. It is due now (queued; or, while a
// run is under way, delivered again after Done) or later (delayed). Every
// further request for the item is merged into it: the earliest moment wins
// unless [AddOptions].When says otherwise, the highest priority wins, and the
// reasons are collected. This is the choice made for an item that is added
// while it waits for a delay: the delay is taken over by the earlier delivery
// and there is no second one.
//
// # Order
//
// Items are delivered in the order in which they became due. Items added with a
// higher priority go first; with [Options].Lane, items of one priority take
// turns lane by lane, so that no lane starves another. Where priorities differ,
// an item that has been queued for Options.Aging is given every second
// delivery, oldest first, so that no stream of important items starves it.
//
// # Memory
//
// The queue is bounded by the number of different items. It starts no
// goroutine: delays are one timer, set for the earliest deadline while somebody
// waits for an item, and stopped when nothing is delayed or the queue is shut
// down. Finished items are forgotten, and their room is used for the next ones:
// adding allocates nothing unless the queue is longer than it has been lately.
// Room for more than 1024 items is given back once seven eighths of it are
// unused. That is done in one piece: in a queue of a million items such a Done
// takes some ten milliseconds, and all others wait for it. So is what ShutDown
// does with delayed items, half a second for a million, and twice that where each
// has failed; and what makes items ready that are due. While somebody waits for an
// item that is done as they become due; if nobody does, and a million are due, the next
// call takes some thirty milliseconds, or a third of a second where their moments differ.
//
// The failure count of an item is kept as long as the item is queued, delayed
// or processing, whatever the bounds. Counts of items that are none of these,
// which nobody has told the queue to Forget, are kept for the last
// Options.MaxFailures items; losing one is counted in [Stats].Evicted.
//
// # Differences from client-go 0.37
//
// Each is covered by a test that carries the number of its case.
//
//   - ShutDownWithDrain waits for queued items too, not only for those being
//     processed, and any number of callers may wait at the same time (C31).
//   - Done of an item that is not being processed changes nothing and is
//     counted and reported; in client-go it queues a re-added item twice (C32).
//   - AddAfter followed by Add is one delivery, not two (C33).
//   - A delay can be postponed, replaced or cancelled (C34).
//   - Backoff is per item: 10 ms, 20 ms, 40 ms … 1000 s. There is no bucket
//     shared by all items (C35).
//   - An item due at the time of a Get takes part in it; in client-go it is
//     queued when a goroutine comes round to it (C39).
//   - After ShutDown or ShutDownWithDrain has returned there is no goroutine
//     and no timer left, and the delayed items are freed (C42).
//   - NumRequeues of an item that is neither queued, delayed nor processing is
//     forgotten at the bound above; client-go keeps it for ever.
//   - An item that does not equal itself (a NaN) is refused, counted and
//     reported; client-go delivers it and can never mark it done.
package workqueue
