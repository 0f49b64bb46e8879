package demo

import "sync"

// mark is a value that moves on, and that others can wait for to reach a value.
// The zero value is ready to use.
type mark struct {
	mu      sync.Mutex
	value   string
	waiting map[string]chan struct{}
}

// set moves the mark.
func (m *mark) set(value string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.value = value
	if waiting := m.waiting[value]; waiting != nil {
		close(waiting)
		delete(m.waiting, value)
	}
}

// now returns the value that was set last.
func (m *mark) now() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.value
}

// reached returns a channel that is closed when the mark is set to value from
// now on.
func (m *mark) reached(value string) <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	waiting := m.waiting[value]
	if waiting == nil {
		waiting = make(chan struct{})
		if m.waiting == nil {
			m.waiting = map[string]chan struct{}{}
		}
		m.waiting[value] = waiting
	}
	return waiting
}
