package story

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/gocampus/hark/harktest/internal/kind"
	"github.com/gocampus/hark/harktest/internal/service"
	"github.com/gocampus/hark/key"
)

// Options of a Story; all fields but Before must be set.
type Options struct {
	Nodes                 []string
	Schedule, Start, Stop time.Duration
	// Before is called with each change before it is reacted to.
	Before func(context.Context, schema.GroupVersionResource, metav1.Object)
}

// Story is the state of the players. It belongs to the goroutine of Run.
type Story struct {
	service *service.Service
	options Options
	agenda  agenda
	pods    map[types.UID]*podState
	owned   map[types.UID]map[item]struct{}  // objects by the UIDs of their owners
	refs    map[item][]metav1.OwnerReference // as owned knows them
	watches map[schema.GroupVersionResource]*service.Watch
	changes uint64 // of the registry, when watches was made
	turn    int    // of the nodes
	told    int64  // Events recorded
	address uint16 // the last pod IP, as an offset
}

// New returns a story over a service.
func New(s *service.Service, o Options) *Story {
	return &Story{
		service: s, options: o, agenda: newAgenda(), pods: map[types.UID]*podState{}, owned: map[types.UID]map[item]struct{}{},
		refs:    map[item][]metav1.OwnerReference{},
		watches: map[schema.GroupVersionResource]*service.Watch{},
	}
}

// Run plays until ctx ends and returns its cause.
func (s *Story) Run(ctx context.Context) error {
	if err := s.createNodes(); err != nil {
		return err
	}
	for {
		_, wake := s.service.Store().Changed()
		s.observe(ctx)
		s.work()
		if !s.wait(ctx, wake) {
			return context.Cause(ctx)
		}
	}
}

// wait blocks until something changed or something is due.
func (s *Story) wait(ctx context.Context, wake <-chan struct{}) bool {
	var due <-chan time.Time
	if at, ok := s.agenda.next(); ok {
		timer := time.NewTimer(time.Until(at))
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-ctx.Done():
		return false
	case <-wake:
	case <-due:
	}
	return true
}

// observe reads what has changed of every kind.
func (s *Story) observe(ctx context.Context) {
	if changes := s.service.Kinds().Changes(); changes != s.changes {
		s.changes = changes
		s.forget()
	}
	for _, k := range s.service.Kinds().All() {
		if k.Hub != nil || !k.Serves("watch") {
			continue
		}
		s.observeKind(ctx, k)
	}
}

// forget drops the watches of kinds that are gone.
func (s *Story) forget() {
	for gvr := range s.watches {
		if s.service.Kinds().ByResource(gvr) == nil {
			delete(s.watches, gvr)
		}
	}
}

func (s *Story) observeKind(ctx context.Context, k *kind.Kind) {
	w := s.watches[k.GVR()]
	if w == nil {
		opened, err := s.service.Watch(service.Target{Kind: k}, service.ListOptions{}, 0)
		if err != nil {
			return // an older version was never asked for: try again at the next change
		}
		w = opened
		s.watches[k.GVR()] = w
		records, _, _ := w.Initial()
		for _, record := range records {
			s.seen(ctx, k, service.Event{Type: watch.Added, Version: record.Value})
		}
	}
	for {
		batch, err := w.Poll()
		if err != nil { // renumbered, or fallen behind: begin anew
			delete(s.watches, k.GVR())
			return
		}
		for _, e := range batch.Events {
			s.seen(ctx, k, e)
		}
		if batch.Wake != nil {
			return
		}
	}
}

// seen notes what an event asks the players to look at.
func (s *Story) seen(ctx context.Context, k *kind.Kind, e service.Event) {
	m := e.Version.Meta()
	if s.options.Before != nil {
		s.options.Before(ctx, k.GVR(), m)
	}
	it := item{k, key.Key{Namespace: m.GetNamespace(), Name: m.GetName()}}
	s.noteOwners(it, e)
	if _, played := s.player(k); played {
		s.agenda.add(it, time.Now())
	} else if m.GetDeletionTimestamp() != nil || len(m.GetOwnerReferences()) > 0 {
		s.agenda.add(it, time.Now())
	}
	if m.GetNamespace() != "" && e.Type == watch.Deleted {
		s.wakeNamespace(m.GetNamespace())
	}
}

func (s *Story) player(k *kind.Kind) (func(item) time.Duration, bool) {
	switch k.Storage() {
	case "pods":
		return s.playPod, true
	case "replicasets.apps":
		return s.playReplicaSet, true
	case "deployments.apps":
		return s.playDeployment, true
	case "namespaces":
		return s.playNamespace, true
	}
	return nil, false
}

// work does all that is due.
func (s *Story) work() {
	for {
		it, ok := s.agenda.take(time.Now())
		if !ok {
			return
		}
		if s.collect(it) {
			continue
		}
		if play, played := s.player(it.kind); played {
			if again := play(it); again > 0 {
				s.agenda.add(it, time.Now().Add(again))
			}
		}
	}
}

// retry is when something is looked at again after a write failed.
const retry = 50 * time.Millisecond

// storyManager owns the fields that the players write.
const storyManager = "kube-controller-manager"

func (s *Story) write() service.WriteOptions { return service.WriteOptions{Manager: storyManager} }

// kindOf returns a built-in kind.
func (s *Story) kindOf(gv schema.GroupVersion, resource string) *kind.Kind {
	return s.service.Kinds().ByResource(gv.WithResource(resource))
}

func (s *Story) podKind() *kind.Kind { return s.kindOf(corev1.SchemeGroupVersion, "pods") }

// get returns the newest object of an item, or nil. It must not be changed.
func get[T any](s *Story, it item) *T {
	version, err := s.service.Get(it.target())
	if err != nil {
		return nil
	}
	obj, _ := any(version.Object()).(*T)
	return obj
}
