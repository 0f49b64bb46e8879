package informer

import "runtime/debug"

// begin lets the courier call the handler unless that is closed; end follows.
func (r *Registration) begin() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calling = !r.closed.Load()
	return r.calling
}

// end says that no call is in flight.
func (r *Registration) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calling = false
	if r.idle != nil {
		close(r.idle)
		r.idle = nil
	}
}

// await blocks while a call is in flight.
func (r *Registration) await() {
	r.mu.Lock()
	if !r.calling {
		r.mu.Unlock()
		return
	}
	if r.idle == nil {
		r.idle = make(chan struct{})
	}
	idle := r.idle
	r.mu.Unlock()
	<-idle
}

// panicked counts and reports what the handler did at event.
func (r *Registration) panicked(event Event, value any) {
	p := &PanicError{Handler: r.options.Name, Event: event, Value: value, Stack: debug.Stack()}
	r.mu.Lock()
	r.panics++
	r.lastPanic = p
	r.mu.Unlock()
	if r.informer.options.OnPanic != nil {
		r.informer.options.OnPanic(p)
	}
}
