package story

import (
	"cmp"
	"container/heap"
	"time"

	"github.com/gocampus/hark/harktest/internal/kind"
	"github.com/gocampus/hark/harktest/internal/service"
	"github.com/gocampus/hark/key"
)

// item is an object to look at.
type item struct {
	kind *kind.Kind
	key  key.Key
}

func (it item) target() service.Target {
	return service.Target{Kind: it.kind, Namespace: it.key.Namespace, Name: it.key.Name}
}

// agenda says what is to be looked at, and when. An item is in it once, at the
// earliest time that was asked for.
type agenda struct {
	due   map[item]time.Time
	queue appointments // may hold entries that due no longer agrees with
	added int          // appointments ever
}

func newAgenda() agenda { return agenda{due: map[item]time.Time{}} }

func (a *agenda) add(it item, at time.Time) {
	if old, found := a.due[it]; found && !at.Before(old) {
		return
	}
	a.due[it] = at
	a.added++
	heap.Push(&a.queue, appointment{it, at, a.added})
}

// next returns when the next item is due.
func (a *agenda) next() (time.Time, bool) {
	for len(a.queue) > 0 {
		first := a.queue[0]
		if at, found := a.due[first.item]; found && at.Equal(first.at) {
			return first.at, true
		}
		heap.Pop(&a.queue) // it was moved or done
	}
	return time.Time{}, false
}

// take removes and returns an item that is due now.
func (a *agenda) take(now time.Time) (item, bool) {
	at, found := a.next()
	if !found || at.After(now) {
		return item{}, false
	}
	first := heap.Pop(&a.queue).(appointment)
	delete(a.due, first.item)
	return first.item, true
}

type appointment struct {
	item  item
	at    time.Time
	order int // of those at the same time
}

// appointments is a heap, the earliest first.
type appointments []appointment

func (a appointments) Len() int      { return len(a) }
func (a appointments) Swap(i, j int) { a[i], a[j] = a[j], a[i] }

// Less implements heap.Interface.
func (a appointments) Less(i, j int) bool {
	return cmp.Or(a[i].at.Compare(a[j].at), cmp.Compare(a[i].order, a[j].order)) < 0
}

// Push implements heap.Interface.
func (a *appointments) Push(x any) { *a = append(*a, x.(appointment)) }

// Pop implements heap.Interface.
func (a *appointments) Pop() any {
	last := (*a)[len(*a)-1]
	*a = (*a)[:len(*a)-1]
	return last
}
