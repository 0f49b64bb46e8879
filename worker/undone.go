package worker

import "slices"

// undone are the items whose last run was interrupted, or failed and waits for its retry.
// The zero value has none.
type undone[T comparable] struct {
	last map[T]unfinished
	runs int
	room int // how many there may be before those that nobody retries are looked for
}

type unfinished struct {
	run         int // the order of runs
	interrupted bool
}

// firstRoom is the least room.
const firstRoom = 1024

// note replaces what is known of an item by the outcome of its last run. It returns those
// to look at, each with its run, when there are many more than at the last look: a retry
// that somebody took back from the queue has no further run.
func (u *undone[T]) note(item T, outcome Outcome) (suspects map[T]int) {
	if outcome != Interrupted && outcome != Retried {
		delete(u.last, item)
		return nil
	}
	if u.last == nil {
		u.last, u.room = map[T]unfinished{}, firstRoom
	}
	u.runs++
	u.last[item] = unfinished{u.runs, outcome == Interrupted}
	if len(u.last) <= u.room {
		return nil
	}
	u.room = 2 * len(u.last) // until the look is over
	suspects = make(map[T]int, len(u.last))
	for item, last := range u.last {
		if !last.interrupted {
			suspects[item] = last.run
		}
	}
	return suspects
}

// forget drops items that have had no other run than these.
func (u *undone[T]) forget(items map[T]int) {
	for item, run := range items {
		if u.last[item].run == run {
			delete(u.last, item)
		}
	}
	u.room = max(2*len(u.last), firstRoom)
}

// items returns them by the order of their last runs; those that wait for a retry only
// if that will not come.
func (u *undone[T]) items(noRetry bool) []T {
	var items []T
	for item, last := range u.last {
		if last.interrupted || noRetry {
			items = append(items, item)
		}
	}
	slices.SortFunc(items, func(a, b T) int { return u.last[a].run - u.last[b].run })
	return items
}
