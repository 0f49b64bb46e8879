package record

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/gocampus/hark/key"
	"github.com/gocampus/hark/watch"
	"github.com/gocampus/hark/wire"
)

// Recording is a recording in memory: a state to begin with, and what changed
// then. It does not change; it is safe for concurrent use.
type Recording struct {
	Header  Header
	Streams []Stream
	// Initial are the events of the state that it begins with, in the order in
	// which they were recorded. All have the type EventAdded.
	Initial []Event
	// Events are the changes from then on.
	Events []Event
	// Ended tells whether the recording was ended in good order.
	Ended bool
	// Damage is where the reading ended; nil if that was the end.
	Damage *DamageError
}

// DefaultMaxBytes bounds the objects of a Recording: 1 GiB.
const DefaultMaxBytes = 1 << 30

// LoadOptions say what to load. The zero value loads all.
type LoadOptions struct {
	// From is the time from which on events are changes; what was before makes
	// the state to begin with. The zero time is the beginning.
	From time.Time
	// To is the time of the last events; the zero time is the end.
	To time.Time
	// MaxBytes bounds the memory of the objects; 0 means DefaultMaxBytes.
	MaxBytes int64
}

// ErrTooLarge tells that a recording is larger than LoadOptions.MaxBytes.
var ErrTooLarge = errors.New("record: the recording is too large for memory; choose a shorter time")

// Events is a *Reader or a *File.
type Events interface {
	Next() (Event, error)
	Streams() []Stream
	Ended() bool
	Continues() bool
}

// Load opens a recording, with all its parts, and loads it. Damage is no error:
// Recording.Damage tells of it.
func Load(path string, o LoadOptions) (*Recording, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	recording, err := ReadAll(f, o)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	recording.Header = f.Header()
	return recording, nil
}

// ReadAll loads what is left to read. Only errors that are no *DamageError are
// returned. It leaves the Header to the caller.
func ReadAll(in Events, o LoadOptions) (*Recording, error) {
	if o.MaxBytes == 0 {
		o.MaxBytes = DefaultMaxBytes
	}
	l := loading{options: o, recording: &Recording{}, state: NewState()}
	for {
		e, err := in.Next()
		if damage, ok := errors.AsType[*DamageError](err); ok {
			l.recording.Damage = damage
			break
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if !o.To.IsZero() && e.Time.After(o.To) {
			continue // of two streams, one may be a little late
		}
		if err := l.add(e); err != nil {
			return nil, err
		}
	}
	l.recording.Streams, l.recording.Ended = in.Streams(), in.Ended()
	l.recording.Initial = l.state.Events(o.From)
	return l.recording, nil
}

// loading is one ReadAll.
type loading struct {
	options   LoadOptions
	recording *Recording
	state     *State
	bytes     int64
}

func (l *loading) add(e Event) error {
	if e.Cause == watch.CauseInitial && e.Type == watch.EventAdded || e.Time.Before(l.options.From) {
		// An object that comes late to the state was there before, by its cause.
		before, _ := l.state.Apply(e)
		l.bytes -= size(before.Object)
	} else {
		l.recording.Events = append(l.recording.Events, e)
	}
	if l.bytes += size(e.Object); l.bytes > l.options.MaxBytes {
		return fmt.Errorf("%w: more than %d bytes", ErrTooLarge, l.options.MaxBytes)
	}
	return nil
}

func size(o *wire.Object) int64 {
	if o == nil {
		return 0
	}
	return int64(o.Size())
}

// Final returns the state at the end, by stream.
func (r *Recording) Final() []map[key.Key]*wire.Object {
	final := make([]map[key.Key]*wire.Object, len(r.Streams))
	for i := range final {
		final[i] = map[key.Key]*wire.Object{}
	}
	for _, events := range [...][]Event{r.Initial, r.Events} {
		for _, e := range events {
			if e.Type == watch.EventDeleted {
				delete(final[e.Stream], e.Key)
			} else {
				final[e.Stream][e.Key] = e.Object
			}
		}
	}
	return final
}

// Start is the time of the beginning, where a player's clock begins: when the last
// object of the initial state was told, or the header was written.
func (r *Recording) Start() time.Time {
	start := r.Header.Time
	if len(r.Initial) > 0 {
		start = time.Time{}
	}
	for _, e := range r.Initial {
		if e.Time.After(start) {
			start = e.Time
		}
	}
	if len(r.Events) > 0 && (start.IsZero() || r.Events[0].Time.Before(start)) {
		return r.Events[0].Time
	}
	return start
}

// State is what is true of each object, as events tell. The zero value is not
// usable: see NewState. It is for one goroutine.
type State struct {
	objects map[place]*stated
	order   int
}

// place is an object of a stream.
type place struct {
	stream int
	key    key.Key
}

// stated is an object that exists.
type stated struct {
	event Event
	order int
}

// NewState returns a state of nothing.
func NewState() *State { return &State{objects: map[place]*stated{}} }

// Apply takes in an event and returns the one that told of its object before, if the
// object existed.
func (s *State) Apply(e Event) (before Event, existed bool) {
	at := place{e.Stream, e.Key}
	known, existed := s.objects[at]
	if existed {
		before = known.event
	}
	switch {
	case e.Type == watch.EventDeleted:
		delete(s.objects, at)
	case existed && before.Object.UID() == e.Object.UID():
		known.event = e // in its place
	default:
		s.order++
		s.objects[at] = &stated{e, s.order}
	}
	return before, existed
}

// Events returns the events that make the state, in the order in which the objects
// came, as Added with CauseInitial. Those that were of the state before from keep
// their time if it is not before from.
func (s *State) Events(from time.Time) []Event {
	all := make([]*stated, 0, len(s.objects))
	for _, known := range s.objects {
		all = append(all, known)
	}
	slices.SortFunc(all, func(a, b *stated) int { return a.order - b.order })
	events := make([]Event, len(all))
	for i, known := range all {
		e := known.event
		e.Type, e.Cause, e.Merged = watch.EventAdded, watch.CauseInitial, 0
		if e.Time.Before(from) {
			e.Time = from
		}
		events[i] = e
	}
	return events
}
