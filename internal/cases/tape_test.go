package cases

import (
	"fmt"
	"sync"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"

	"github.com/gocampus/hark/informer"
	"github.com/gocampus/hark/kube"
	"github.com/gocampus/hark/wire"
)

// tape writes down what a handler is told: "ADDED a=1 initial",
// "MODIFIED a=1>2 watch", "DELETED a=2 relist?" (? for a state that nobody saw).
type tape struct {
	mu    sync.Mutex
	lines []string
}

func (l *tape) note(e informer.Event) {
	text := fmt.Sprintf("%s %s=%s %s", e.Type, e.Key.Name, number(e.Object()), e.Cause)
	if e.Old != nil && e.New != nil {
		text = fmt.Sprintf("%s %s=%s>%s %s", e.Type, e.Key.Name, number(e.Old), number(e.New), e.Cause)
	}
	if e.FinalStateUnknown {
		text += "?"
	}
	l.add(text)
}

// add writes down a line.
func (l *tape) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, line)
}

// number is the state of a map.
func number(o *wire.Object) string {
	m, err := kube.As[corev1.ConfigMap](o)
	if err != nil {
		return "(" + err.Error() + ")"
	}
	return m.Data["n"]
}

// take returns what was written since the last take.
func (l *tape) take() []string {
	synctest.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := l.lines
	l.lines = nil
	return lines
}

// cell is a value that a test shares with what it runs.
type cell[T any] struct {
	mu    sync.Mutex
	value T
}

func (c *cell[T]) get() T {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.value
}

func (c *cell[T]) change(change func(*T)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(&c.value)
}
