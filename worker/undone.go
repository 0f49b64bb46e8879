package worker

import "slices"

// undone are the items whose last run was interrupted, or failed and waits for its retry.
// The zero value has none.
type undone[T comparable] struct {
	last map[T]unfinished
	runs int
}

type unfinished struct {
	run         int // the order of runs
	interrupted bool
}

// note replaces what is known of an item by the outcome of its last run.
func (u *undone[T]) note(item T, outcome Outcome) {
	if outcome != Interrupted && outcome != Retried {
		delete(u.last, item)
		return
	}
	if u.last == nil {
		u.last = map[T]unfinished{}
	}
	u.runs++
	u.last[item] = unfinished{u.runs, outcome == Interrupted}
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
