package demo

import (
	"slices"
	"sync"

	"github.com/gocampus/hark/informer"
)

// audience tells the parts what has been shown, so that a step follows when the
// one before is on the screen. The zero value is ready to use.
type audience struct {
	mu      sync.Mutex
	waiting []*expectation
}

type expectation struct {
	match func(informer.Event) bool
	met   chan struct{}
}

// expect returns a channel that is closed when an event that matches has been
// shown from now on. match must be quick and must not call the audience.
func (a *audience) expect(match func(informer.Event) bool) <-chan struct{} {
	e := &expectation{match: match, met: make(chan struct{})}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.waiting = append(a.waiting, e)
	return e.met
}

// saw is told of each event once it is on the screen.
func (a *audience) saw(event informer.Event) {
	a.mu.Lock()
	waiting := slices.Clone(a.waiting)
	a.mu.Unlock()
	for _, e := range waiting {
		if e.match(event) {
			a.meet(e)
		}
	}
}

func (a *audience) meet(e *expectation) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if i := slices.Index(a.waiting, e); i >= 0 {
		a.waiting = slices.Delete(a.waiting, i, i+1)
		close(e.met)
	}
}
