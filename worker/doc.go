// Package worker runs a function for every item of a work queue, on a fixed
// number of goroutines.
//
// What becomes of an item depends on how its run ends:
//
//	nil                        success: its failures are forgotten
//	nil, Result.RequeueAfter   success, and it runs again after that time
//	an error                   it is retried after the queue's backoff
//	a panic                    the same, with a *PanicError that holds the stack
//	Permanent(err)             it is parked
//	an error, MaxTries reached it is parked
//
// Done is called after every run, however it ended, runtime.Goexit included,
// and not before the function has returned: an item never runs twice at once. A
// worker goes from one item to the next without a pause, and a failing item
// waits in the queue, not in a worker, so that it delays no other.
//
// # Parking
//
// A parked item is not retried. It is listed by [Pool.Parked] with its last
// error until it runs again: because somebody added it to the queue (an object
// that changes deserves a new try), or by [Pool.Requeue]. Its tries then count
// from the beginning. At most [Options].MaxParked items are listed.
//
// # Ending
//
// When the context of [Pool.Run] ends no further item is taken. Runs under way
// may finish within Options.DrainTimeout; then their contexts end with the
// cause [ErrDrainTimeout], and Run returns a [DrainError] that names the items
// whose runs failed by that. They are queued again, uncounted, for whoever runs
// the queue next. With Options.DrainQueued the queue is shut down, what is
// queued is run too, and what could not be is named, as is what fails then. What is
// delayed when a queue is shut down, a retry too, is dropped and not named: those who
// watch the objects add all of them when they start again.
package worker
