package workqueue

import "time"

// alarm is the one timer of a queue. It is there for those who are blocked:
// whoever comes by looks at the clock himself. Invariant, when the lock is
// released: while somebody is listed as waiting and something is delayed, the
// timer is set for the earliest deadline or before it; while nothing is delayed,
// it is stopped.
type alarm struct {
	timer *time.Timer // nil until first needed
	set   bool
	due   instant // while set
	// calls counts the calls of ring that are scheduled or under way: a timer
	// that is stopped too late still calls once.
	calls int
	// silent is closed once the queue is shut down and calls is 0. It is nil
	// unless somebody waits for that.
	silent chan struct{}
}

// setAlarm sets the timer for the earliest deadline, with the lock held.
func (q *Queue[T]) setAlarm() {
	switch {
	case q.core.deadlines.len == 0:
		if q.alarm.set {
			q.stopAlarm()
		}
	case q.waiters.head != nil:
		q.alarmAt(q.core.deadlines.first())
	}
}

func (q *Queue[T]) alarmAt(due instant) {
	a := &q.alarm
	if a.set && a.due <= due {
		return
	}
	wait := time.Duration(due - q.now())
	a.set, a.due = true, due
	if a.timer == nil {
		a.timer = time.AfterFunc(wait, q.ring)
		a.calls++
	} else if !a.timer.Reset(wait) {
		a.calls++
	}
}

func (q *Queue[T]) stopAlarm() {
	q.alarm.set = false
	if q.alarm.timer != nil && q.alarm.timer.Stop() {
		q.alarm.calls--
	}
}

// ring is called by the timer, in a goroutine of its own.
func (q *Queue[T]) ring() {
	q.lock()
	var silent chan struct{}
	if q.alarm.calls--; q.alarm.calls == 0 { // otherwise it was set anew as it went off
		q.alarm.set, silent = false, q.alarm.silent
	}
	wake := q.catchUp()
	q.mu.Unlock()
	wake.signal()
	if silent != nil {
		close(silent)
	}
}

// silence stops the timer for good. The channel that it returns, if any, is
// closed when the last call of ring has ended.
func (q *Queue[T]) silence() <-chan struct{} {
	q.stopAlarm()
	if q.alarm.calls > 0 && q.alarm.silent == nil {
		q.alarm.silent = make(chan struct{})
	}
	return q.alarm.silent
}
