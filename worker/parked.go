package worker

import (
	"container/list"
	"time"
)

// ParkedItem is an item that is not retried.
type ParkedItem[T comparable] struct {
	Item T
	// Err is the error of its last run.
	Err error
	// Tries is the number of runs in a row that failed, the last one included.
	Tries int
	// Since its last run ended.
	Since time.Time
}

// parking lists the parked items, the oldest first. Invariant: entries[p.Item]
// is the element that holds p.
type parking[T comparable] struct {
	order   list.List
	entries map[T]*list.Element
}

// add lists p, which is not listed, and tells whether the oldest had to go for it.
func (l *parking[T]) add(p ParkedItem[T], limit int) (dropped bool) {
	if l.entries == nil {
		l.entries = make(map[T]*list.Element)
	}
	l.entries[p.Item] = l.order.PushBack(p)
	if l.order.Len() <= limit {
		return false
	}
	oldest := l.order.Front().Value.(ParkedItem[T])
	l.remove(oldest.Item)
	return true
}

func (l *parking[T]) remove(item T) {
	if element, ok := l.entries[item]; ok {
		l.order.Remove(element)
		delete(l.entries, item)
	}
}

func (l *parking[T]) all() []ParkedItem[T] {
	all := make([]ParkedItem[T], 0, l.order.Len())
	for element := l.order.Front(); element != nil; element = element.Next() {
		all = append(all, element.Value.(ParkedItem[T]))
	}
	return all
}

// Parked returns the parked items, the one parked first first.
func (p *Pool[T]) Parked() []ParkedItem[T] {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.parking.all()
}

// IsParked tells whether an item is parked.
func (p *Pool[T]) IsParked(item T) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, parked := p.parking.entries[item]
	return parked
}

// Requeue adds a parked item to the queue and tells whether it is parked. It
// leaves the list when its run starts.
func (p *Pool[T]) Requeue(item T) bool {
	parked := p.IsParked(item)
	if parked {
		p.queue.Add(item)
	}
	return parked
}
