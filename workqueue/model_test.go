package workqueue

import (
	"cmp"
	"math"
	"slices"
)

// model is the queue as one would explain it: a list of items, searched from
// one end to the other.
type model struct {
	items       []*modelItem // all that were ever seen
	clock       int          // counts arrivals
	turns       map[int32][]string
	jumped      bool
	closed      bool
	aging       instant
	maxFailures int
	fair        bool
	backoff     Backoff
}

type modelItem struct {
	item, lane    string
	running       bool
	ready, delays bool
	at            instant
	arrived       int // when it became ready and not running, or was delayed
	joined        int // when it joined those of its priority and lane
	priority, ran int32
	failures      int
	err           string
	recorded      int // when err was
	rested        int // when it became idle
	reasons, now  []string
}

func (m *model) find(item, lane string) *modelItem {
	for _, it := range m.items {
		if it.item == item {
			it.lane = cmp.Or(it.lane, lane)
			return it
		}
	}
	it := &modelItem{item: item, lane: lane}
	m.items = append(m.items, it)
	return it
}

func (m *model) tick() int { m.clock++; return m.clock }

// pick returns the items for which ok holds, in the order of by.
func (m *model) pick(ok func(*modelItem) bool, by func(*modelItem) int) []*modelItem {
	var picked []*modelItem
	for _, it := range m.items {
		if ok(it) {
			picked = append(picked, it)
		}
	}
	slices.SortFunc(picked, func(a, b *modelItem) int { return by(a) - by(b) })
	return picked
}

func arrived(it *modelItem) int { return it.arrived }

func (m *model) queued() []*modelItem {
	return m.pick(func(it *modelItem) bool { return it.ready && !it.running }, arrived)
}

func (m *model) delayed() []*modelItem {
	waits := m.pick(func(it *modelItem) bool { return it.delays }, arrived)
	slices.SortStableFunc(waits, func(a, b *modelItem) int {
		switch {
		case a.at < b.at:
			return -1
		case a.at > b.at:
			return 1
		}
		return 0
	})
	return waits
}

// laneOf is the lane of an item as far as turns go.
func (m *model) laneOf(it *modelItem) string {
	if m.fair {
		return it.lane
	}
	return ""
}

// join gives a queued item its place among those of its priority and lane.
func (m *model) join(it *modelItem) {
	it.joined = m.tick()
	if m.turns == nil {
		m.turns = make(map[int32][]string)
	}
	if !slices.Contains(m.turns[it.priority], m.laneOf(it)) {
		m.turns[it.priority] = append(m.turns[it.priority], m.laneOf(it))
	}
}

// leave takes the turn of its lane away if a queued item was the only one.
func (m *model) leave(it *modelItem) {
	others := slices.ContainsFunc(m.queued(), func(q *modelItem) bool {
		return q != it && q.priority == it.priority && m.laneOf(q) == m.laneOf(it)
	})
	if !others {
		m.turns[it.priority] = slices.DeleteFunc(m.turns[it.priority], func(lane string) bool { return lane == m.laneOf(it) })
	}
}

func (m *model) enqueue(it *modelItem, since instant) {
	it.ready, it.delays, it.at = true, false, since
	if !it.running {
		it.arrived = m.tick()
		m.join(it)
	}
}

func (m *model) request(item, lane string, r request, now instant) {
	if m.closed {
		return
	}
	it := m.find(item, lane)
	if r.reason != "" && !slices.Contains(it.reasons, r.reason) && len(it.reasons) < maxReasons {
		it.reasons = append(it.reasons, r.reason)
	}
	priority := r.priority
	if r.inherit && it.running {
		priority = it.ran
	}
	if isPending := it.ready || it.delays; !isPending {
		it.priority = priority
	} else if priority > it.priority {
		isQueued := it.ready && !it.running
		if isQueued {
			m.leave(it)
		}
		it.priority = priority
		if isQueued {
			m.join(it)
		}
	}
	due := now
	if r.after > 0 {
		due = now.after(r.after)
	}
	m.merge(it, r.when, due, now)
}

func (m *model) merge(it *modelItem, when When, due, now instant) {
	keep := it.ready && (when != Replace || due <= now) ||
		it.delays && when == Earliest && due >= it.at ||
		it.delays && when == Latest && due <= it.at
	if keep {
		return
	}
	if due <= now {
		m.enqueue(it, now)
		return
	}
	if it.ready && !it.running {
		m.leave(it)
	}
	it.ready, it.delays, it.at, it.arrived = false, true, due, m.tick()
}

func (m *model) promote(now instant) {
	for _, it := range m.delayed() {
		if it.at <= now {
			m.enqueue(it, it.at)
		}
	}
}

func (m *model) take(now instant) (string, bool) {
	queued := m.queued()
	if len(queued) == 0 {
		return "", false
	}
	top := int32(math.MinInt32)
	for _, it := range queued {
		top = max(top, it.priority)
	}
	it := queued[0]
	m.jumped = !m.jumped && it.priority < top && now-it.at >= m.aging
	if !m.jumped {
		lane := m.turns[top][0]
		it = m.pick(func(q *modelItem) bool {
			return q.ready && !q.running && q.priority == top && m.laneOf(q) == lane
		}, func(q *modelItem) int { return q.joined })[0]
		m.turns[top] = append(m.turns[top][1:], lane)
	}
	m.leave(it)
	it.ready, it.running, it.ran = false, true, it.priority
	it.now, it.reasons = it.reasons, nil
	return it.item, true
}

func (m *model) done(item string, now instant) bool {
	it := m.find(item, "")
	if !it.running {
		return false
	}
	it.running, it.now = false, nil
	if it.ready {
		m.enqueue(it, now)
	}
	m.rest(it)
	return true
}

func (m *model) cancel(item string) bool {
	it := m.find(item, "")
	if !it.ready && !it.delays {
		return false
	}
	if it.ready && !it.running {
		m.leave(it)
	}
	it.ready, it.delays, it.reasons = false, false, nil
	m.rest(it)
	return true
}

func (m *model) rest(it *modelItem) {
	if it.running || it.ready || it.delays {
		return
	}
	it.rested = m.tick()
	it.reasons, it.priority, it.ran = nil, 0, 0
	failing := m.failing()
	if len(failing) > m.maxFailures {
		failing[0].failures, failing[0].err = 0, ""
	}
}

func (m *model) failing() []*modelItem {
	return m.pick(func(it *modelItem) bool {
		return !it.running && !it.ready && !it.delays && (it.failures > 0 || it.err != "")
	}, func(it *modelItem) int { return it.rested })
}

func (m *model) retry(item, lane string, now instant) {
	it := m.find(item, lane)
	it.failures++
	if m.closed {
		m.rest(it)
		return
	}
	m.request(item, lane, request{after: m.backoff.Delay(it.failures), inherit: true}, now)
}

func (m *model) record(item, lane, text string) {
	it := m.find(item, lane)
	it.err, it.recorded = text, m.tick()
	withError := m.pick(func(it *modelItem) bool { return it.err != "" }, func(it *modelItem) int { return it.recorded })
	if len(withError) > m.maxFailures {
		withError[0].err = ""
	}
	m.rest(it)
}

func (m *model) forget(item string) {
	it := m.find(item, "")
	it.failures, it.err = 0, ""
}

func (m *model) close() {
	m.closed = true
	for _, it := range m.delayed() {
		it.delays, it.reasons = false, nil
		m.rest(it)
	}
}
