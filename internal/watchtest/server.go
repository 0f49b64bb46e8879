package watchtest

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"

	"github.com/gocampus/hark/watch"
	"github.com/gocampus/hark/wire"
)

// Server is a watch.Source over objects that change at random, with a history
// that is compacted and faults that come by chance: what a reflector must
// survive. It is safe for concurrent use.
type Server struct {
	mu      sync.Mutex
	rng     *rand.Rand
	chance  int // one fault in so many occasions; 0 means none
	faults  map[string]int
	version int
	oldest  int // versions up to this one are compacted
	objects map[string]*wire.Object
	history []past
	changed chan struct{} // closed and made anew at each change
}

// past is one event of the history.
type past struct {
	version int
	event   watch.Event
}

// NewServer returns an empty server that takes its chances from rng.
func NewServer(rng *rand.Rand) *Server {
	return &Server{rng: rng, faults: map[string]int{}, objects: map[string]*wire.Object{}, changed: make(chan struct{}), version: 1}
}

// SetFaults makes one occasion in n a fault; 0 ends them.
func (s *Server) SetFaults(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chance = n
}

// Faults returns how many faults of each kind there were.
func (s *Server) Faults() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]int{}
	for kind, n := range s.faults {
		out[kind] = n
	}
	return out
}

// Mutate makes one random change among n names, and sometimes compacts.
func (s *Server) Mutate(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := fmt.Sprintf("k%d", s.rng.IntN(n))
	old := s.objects[name]
	s.version++
	switch {
	case old == nil:
		s.write(watch.EventAdded, name, fmt.Sprintf("%s/u%d@%d", name, s.version, s.version))
	case s.rng.IntN(4) == 0:
		s.write(watch.EventDeleted, name, fmt.Sprintf("%s/%s@%d", name, old.UID(), s.version))
	default:
		s.write(watch.EventModified, name, fmt.Sprintf("%s/%s@%d", name, old.UID(), s.version))
	}
	if s.rng.IntN(50) == 0 {
		s.oldest = s.version - s.rng.IntN(10)
	}
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *Server) write(t watch.EventType, name, text string) {
	o := Object(text)
	s.objects[name] = o
	if t == watch.EventDeleted {
		delete(s.objects, name)
	}
	s.history = append(s.history, past{s.version, watch.Event{Type: t, Object: o}})
}

// Content returns what is true now, sorted, in Text's notation.
func (s *Server) Content() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, o := range s.objects {
		out = append(out, Text(o))
	}
	slices.Sort(out)
	return out
}

// fault throws the dice for one kind of fault.
func (s *Server) fault(kind string) bool {
	if s.chance == 0 || s.rng.IntN(s.chance) != 0 {
		return false
	}
	s.faults[kind]++
	return true
}

// refuse returns a random refusal, or nil.
func (s *Server) refuse() error {
	for kind, err := range map[string]*watch.Error{
		"unavailable":       {Kind: watch.KindUnavailable},
		"forbidden":         {Kind: watch.KindForbidden},
		"not found":         {Kind: watch.KindNotFound},
		"too many requests": {Kind: watch.KindTooManyRequests},
		"expired":           {Kind: watch.KindExpired},
		"too large":         {Kind: watch.KindTooLargeVersion},
	} {
		if s.fault(kind) {
			return err
		}
	}
	return nil
}

// List implements watch.Source, with pages that are cut from one state only if
// it has not changed: else the continue token has expired.
func (s *Server) List(ctx context.Context, o watch.ListOptions) (watch.ListStream, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refuse(); err != nil {
		return nil, err
	}
	start, version := 0, s.version
	if o.Continue != "" {
		if n, _ := fmt.Sscanf(o.Continue, "%d-%d", &version, &start); n != 2 || version != s.version {
			return nil, &watch.Error{Kind: watch.KindExpired}
		}
	}
	items := s.sorted()[start:]
	answer := Answer{Meta: wire.ListMeta{ResourceVersion: strconv.Itoa(version)}, Items: items}
	if o.Limit > 0 && int64(len(items)) > o.Limit {
		answer.Items = items[:o.Limit]
		answer.Meta.Continue = fmt.Sprintf("%d-%d", version, start+int(o.Limit))
	}
	for _, item := range answer.Items {
		answer.Steps = append(answer.Steps, Step{Event: watch.Event{Object: item}})
	}
	answer.End = io.EOF
	if s.fault("list cut") {
		answer.Steps = answer.Steps[:s.rng.IntN(len(answer.Steps)+1)]
		answer.End = &watch.Error{Kind: watch.KindMalformed}
	}
	return &list{stream: stream{ctx: ctx, answer: answer}}, nil
}

func (s *Server) sorted() []*wire.Object {
	var out []*wire.Object
	for _, o := range s.objects {
		out = append(out, o)
	}
	slices.SortFunc(out, func(a, b *wire.Object) int { return a.Key().Compare(b.Key()) })
	return out
}

// Watch implements watch.Source.
func (s *Server) Watch(ctx context.Context, o watch.WatchOptions) (watch.Stream, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refuse(); err != nil {
		return nil, err
	}
	w := &serverWatch{server: s, ctx: ctx}
	if o.SendInitialEvents {
		for _, item := range s.sorted() {
			w.pending = append(w.pending, watch.Event{Type: watch.EventAdded, Object: item})
		}
		switch {
		case s.fault("end bookmark withheld"):
		case s.fault("end bookmark late"):
			w.late = 1 + s.rng.IntN(10)
		default:
			w.pending = append(w.pending, initialEnd(s.version))
		}
		w.version = s.version
		return w, nil
	}
	version, err := strconv.Atoi(o.ResourceVersion)
	if err != nil {
		return nil, &watch.Error{Kind: watch.KindInvalid}
	}
	if version < s.oldest {
		return nil, &watch.Error{Kind: watch.KindExpired}
	}
	w.version = version
	return w, nil
}

type serverWatch struct {
	server  *Server
	ctx     context.Context
	version int // sent up to here
	pending []watch.Event
	late    int  // changes still to come before the end bookmark; 0: it was sent, or is withheld
	told    bool // a change came that cannot be an item of the initial state
}

func initialEnd(version int) watch.Event {
	return watch.Event{Type: watch.EventBookmark, ResourceVersion: strconv.Itoa(version), InitialEventsEnd: true}
}

// Next implements watch.Stream.
func (w *serverWatch) Next() (watch.Event, error) {
	for {
		event, changed, err := w.tryNext()
		if changed == nil {
			return event, err
		}
		select {
		case <-changed:
		case <-w.ctx.Done():
			return watch.Event{}, context.Cause(w.ctx)
		}
	}
}

// tryNext returns what to send now, or a channel to wait for.
func (w *serverWatch) tryNext() (watch.Event, <-chan struct{}, error) {
	s := w.server
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case w.ctx.Err() != nil:
		return watch.Event{}, nil, context.Cause(w.ctx)
	case s.fault("watch cut"):
		return watch.Event{}, nil, &watch.Error{Kind: watch.KindUnavailable}
	case s.fault("watch closed"):
		return watch.Event{}, nil, io.EOF
	case s.rng.IntN(10) == 0 && s.fault("half-open"): // rarer: it takes minutes
		return watch.Event{}, make(chan struct{}), nil
	case len(w.pending) > 0:
		e := w.pending[0]
		w.pending = w.pending[1:]
		return e, nil, nil
	case w.version < s.oldest && w.version < s.version:
		return watch.Event{Type: watch.EventError, Err: &watch.Error{Kind: watch.KindExpired}}, nil, nil
	}
	next, _ := slices.BinarySearchFunc(s.history, w.version+1, func(c past, v int) int { return c.version - v })
	if next == len(s.history) {
		return watch.Event{}, s.changed, nil
	}
	c := s.history[next]
	switch {
	case s.fault("doubled"): // sent, and not moved on
	case w.mayReplay() && s.fault("replayed") && next > 0:
		return s.history[s.rng.IntN(next)].event, nil, nil
	case s.fault("bookmark"):
		return watch.Event{Type: watch.EventBookmark, ResourceVersion: strconv.Itoa(w.version)}, nil, nil
	default:
		w.sent(c)
	}
	return c.event, nil, nil
}

// mayReplay is false where a list would be wrong for ever: before its end nothing
// tells an ADDED that is sent again right after the items from one of them.
func (w *serverWatch) mayReplay() bool { return w.late == 0 || w.told }

// sent moves on behind a change, and to the end of the initial events if it is due.
func (w *serverWatch) sent(c past) {
	w.version = c.version
	w.told = w.told || c.event.Type != watch.EventAdded
	if w.late > 0 {
		w.late--
		if w.late == 0 {
			w.pending = append(w.pending, initialEnd(w.version))
		}
	}
}

// Close implements watch.Stream.
func (w *serverWatch) Close() error { return nil }
