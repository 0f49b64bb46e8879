package record

import (
	"context"
	"math"
	"strconv"
	"sync"
	"time"

	"github.com/gocampus/hark/internal/sleep"
	"github.com/gocampus/hark/watch"
)

// PlayerOptions of a Player. The zero value plays at the recorded pace.
type PlayerOptions struct {
	// Speed is how many times as fast as recorded to play; 0 means 1, and
	// math.Inf(1) or less than 0 without pauses.
	Speed float64
	// OnEvents is called from the goroutine of Run, or of Step, when events have
	// been played: one of a watch, or all that one list told. Nil calls nobody.
	OnEvents func([]Event)
}

// Player moves through a recording, and is the Source of each of its streams. It
// begins behind the initial state. Its methods are safe for concurrent use, but
// Run and Step are for one goroutine.
type Player struct {
	recording *Recording
	options   PlayerOptions
	steps     []step
	tracks    []*track

	mu      sync.Mutex
	played  int           // steps
	changed chan struct{} // closed and made anew at each step
}

// track is one stream of a player.
type track struct {
	player *Player
	base   uint64
	steps  []*step

	// Guarded by player.mu.
	played  int // of steps
	version uint64
	state   *State
}

// NewPlayer returns a player of a recording.
func NewPlayer(r *Recording, o PlayerOptions) *Player {
	p := &Player{recording: r, options: o, changed: make(chan struct{})}
	steps, base := stepsOf(r)
	p.steps = steps
	for stream := range r.Streams {
		p.tracks = append(p.tracks, &track{player: p, base: base[stream], version: base[stream], state: NewState()})
	}
	for _, e := range r.Initial {
		p.tracks[e.Stream].state.Apply(e)
	}
	for i := range steps {
		t := p.tracks[steps[i].stream]
		t.steps = append(t.steps, &steps[i])
	}
	return p
}

// Source returns the source of a stream, by its index: what is true of it now, and
// what will happen. It knows nothing of selectors: the recording was made with
// one. Changes that were found by a list in the recording are found by a list
// again: the watch before ends as expired (410).
func (p *Player) Source(stream int) watch.Source { return p.tracks[stream] }

// Run plays what is left at its pace and returns nil, or the cause of ctx when it
// ends before. Time stands still between Runs, and where nothing was recorded it
// passes as it did.
func (p *Player) Run(ctx context.Context) error {
	began := time.Now()
	clock := p.position()
	for {
		at, ok := p.next()
		if !ok {
			return nil
		}
		if err := sleep.For(ctx, time.Until(began.Add(p.scaled(at.Sub(clock))))); err != nil {
			return err
		}
		p.Step()
	}
}

// position is the time in the recording up to which was played.
func (p *Player) position() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.played == 0 {
		return p.recording.Start()
	}
	return p.steps[p.played-1].at
}

// next returns the time of the next step, if there is one.
func (p *Player) next() (time.Time, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.played == len(p.steps) {
		return time.Time{}, false
	}
	return p.steps[p.played].at, true
}

// scaled is a time of the recording at the player's speed.
func (p *Player) scaled(d time.Duration) time.Duration { return Scaled(d, p.options.Speed) }

// Scaled returns how long a pause of a recording takes at a speed; see
// PlayerOptions.Speed.
func Scaled(d time.Duration, speed float64) time.Duration {
	switch {
	case speed == 0 || speed == 1:
		return d
	case speed < 0 || math.IsInf(speed, 1) || d <= 0:
		return 0
	}
	if scaled := float64(d) / speed; scaled < math.MaxInt64 {
		return time.Duration(scaled)
	}
	return math.MaxInt64
}

// Step plays the next events, one as a rule and more where a list told them, and
// reports whether there were any.
func (p *Player) Step() bool {
	events := p.step()
	if len(events) > 0 && p.options.OnEvents != nil {
		p.options.OnEvents(events)
	}
	return len(events) > 0
}

func (p *Player) step() []Event {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.played == len(p.steps) {
		return nil
	}
	s := &p.steps[p.played]
	p.played++
	t := p.tracks[s.stream]
	t.played++
	t.version = s.version
	for _, e := range s.events {
		t.state.Apply(e)
	}
	close(p.changed)
	p.changed = make(chan struct{})
	return s.events
}

// versionText is a list version as the API has it.
func versionText(version uint64) string { return strconv.FormatUint(version, 10) }
