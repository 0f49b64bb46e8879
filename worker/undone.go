package worker

import "slices"

// undone are the items whose last run left work that nobody will do, each with the
// place of that run. The zero value has none.
type undone[T comparable] struct {
	last map[T]int
	runs int
}

// note replaces what is known of an item.
func (u *undone[T]) note(item T, left bool) {
	if !left {
		delete(u.last, item)
		return
	}
	if u.last == nil {
		u.last = map[T]int{}
	}
	u.runs++
	u.last[item] = u.runs
}

// items returns them in the order of those runs.
func (u *undone[T]) items() []T {
	items := make([]T, 0, len(u.last))
	for item := range u.last {
		items = append(items, item)
	}
	slices.SortFunc(items, func(a, b T) int { return u.last[a] - u.last[b] })
	return items
}
