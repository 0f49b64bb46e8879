package soak

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/gocampus/hark/informer"
	"github.com/gocampus/hark/key"
	"github.com/gocampus/hark/kube"
	"github.com/gocampus/hark/watch"
	"github.com/gocampus/hark/wire"
	"github.com/gocampus/hark/worker"
)

// follower is one informer with handlers, and which objects it selects.
type follower struct {
	name     string
	informer *informer.Informer
	selects  func(key.Key, truth) bool
	folds    []*fold
}

// handle adds a handler that takes its time.
func (f *follower) handle(t *testing.T, name string, pause time.Duration, strict bool, o informer.HandlerOptions) {
	fold := &fold{name: f.name + " " + name, pause: pause, strict: strict,
		objects: map[key.Key]*wire.Object{}, highest: map[string]uint64{}}
	o.Name = name
	if _, err := f.informer.Handle(fold.handle, o); err != nil {
		t.Fatal(err)
	}
	f.folds = append(f.folds, fold)
}

// fold applies a handler's events to a map and checks each of them.
type fold struct {
	name   string
	pause  time.Duration
	strict bool // versions of an object may not go back

	mu       sync.Mutex
	objects  map[key.Key]*wire.Object
	highest  map[string]uint64 // by UID
	told     int
	problems []string
}

func (f *fold) handle(e informer.Event) {
	time.Sleep(f.pause)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.told++
	f.check(e)
	if e.New == nil {
		delete(f.objects, e.Key)
		return
	}
	f.objects[e.Key] = e.New
}

// check holds an event against what was told before.
func (f *fold) check(e informer.Event) {
	before := f.objects[e.Key]
	follows := false
	switch e.Type {
	case watch.EventAdded:
		follows = before == nil && e.Old == nil && e.New != nil
	case watch.EventModified:
		follows = before != nil && e.Old != nil && e.Old.Equal(before) && e.New.UID() == before.UID()
	case watch.EventDeleted:
		follows = before != nil && e.Old != nil && e.Old.UID() == before.UID()
	}
	if !follows {
		f.problem("%s %s > %s does not follow from %v", e.Type, e.Old, e.New, before)
	}
	if e.New == nil || !f.strict {
		return
	}
	version, _ := e.New.Version()
	if version < f.highest[e.New.UID()] {
		f.problem("%s went back from version %d", e.New, f.highest[e.New.UID()])
	}
	f.highest[e.New.UID()] = version
}

func (f *fold) problem(format string, arguments ...any) {
	f.problems = append(f.problems, fmt.Sprintf(format, arguments...))
}

// runs is a worker pool's function that is slow and fails at random, and what it
// has seen.
type runs struct {
	follower *follower

	mu       sync.Mutex
	rng      *rand.Rand
	running  map[key.Key]bool
	seen     map[key.Key]string // number of the change that the last successful run saw
	count    int
	failures int
	problems []string
}

func (r *runs) run(_ context.Context, k key.Key) (worker.Result, error) {
	pause, fail := r.enter(k)
	time.Sleep(pause)
	n, err := r.read(k)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running[k] = false
	switch {
	case err != nil:
		r.problems = append(r.problems, err.Error())
	case fail == 1:
		panic("by chance")
	case fail == 2:
		r.failures++
		return worker.Result{}, errors.New("by chance")
	default:
		r.seen[k] = n
	}
	return worker.Result{}, nil
}

func (r *runs) enter(k key.Key) (pause time.Duration, fail int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.running[k] {
		r.problems = append(r.problems, fmt.Sprintf("two runs of %s at once", k))
	}
	r.running[k] = true
	r.count++
	return time.Duration(r.rng.IntN(200)) * time.Millisecond, r.rng.IntN(8)
}

// read decodes the newest version, as a controller does.
func (r *runs) read(k key.Key) (string, error) {
	raw, ok := r.follower.informer.Store().Get(k)
	if !ok {
		return "", nil
	}
	m, err := kube.As[corev1.ConfigMap](raw)
	if err != nil {
		return "", err
	}
	return m.Data["n"], nil
}
