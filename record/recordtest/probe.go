package recordtest

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"sync"
	"time"

	"github.com/gocampus/hark/key"
)

// Probe watches the runs of a function: how many there were of each key, when, and
// whether two of one key overlapped. It delays them by times that depend on Seed,
// the key and the number of the run alone, so that each seed is another
// interleaving of workers. It is safe for concurrent use.
type Probe struct {
	seed  uint64
	delay time.Duration

	mu       sync.Mutex
	runs     map[key.Key][]Run
	running  map[key.Key]int
	overlaps []key.Key
}

// Run is one run of a key.
type Run struct {
	Started, Ended time.Time
	Err            error
}

// errNoReturn is the error of a run that panicked or ended its goroutine.
var errNoReturn = errors.New("recordtest: the run did not return")

// DefaultDelay is the longest pause of a Probe at the beginning and at the end of a
// run.
const DefaultDelay = 100 * time.Millisecond

// NewProbe returns a probe for a seed. Runs begin and end with a pause of up to
// delay; 0 means DefaultDelay, less means none.
func NewProbe(seed uint64, delay time.Duration) *Probe {
	if delay == 0 {
		delay = DefaultDelay
	}
	return &Probe{seed: seed, delay: delay, runs: map[key.Key][]Run{}, running: map[key.Key]int{}}
}

// Run runs do for a key, and returns its error. A context that ends interrupts the
// pauses, not do.
func (p *Probe) Run(ctx context.Context, k key.Key, do func() error) error {
	number := p.begin(k)
	run := Run{Started: time.Now(), Err: errNoReturn}
	defer func() { p.end(k, run) }()
	p.pause(ctx, k, number, "before")
	run.Err = do()
	p.pause(ctx, k, number, "after")
	return run.Err
}

// begin counts a run in and returns its number.
func (p *Probe) begin(k key.Key) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running[k]++; p.running[k] == 2 {
		p.overlaps = append(p.overlaps, k)
	}
	return len(p.runs[k])
}

func (p *Probe) end(k key.Key, run Run) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running[k]--
	run.Ended = time.Now()
	p.runs[k] = append(p.runs[k], run)
}

// pause waits for a time that the seed chooses.
func (p *Probe) pause(ctx context.Context, k key.Key, number int, where string) {
	if p.delay <= 0 {
		return
	}
	timer := time.NewTimer(p.chosen(k, number, where))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// chosen is the length of one pause. It does not depend on the order of calls.
func (p *Probe) chosen(k key.Key, number int, where string) time.Duration {
	hash := fnv.New64a()
	_, _ = hash.Write(binary.LittleEndian.AppendUint64(nil, p.seed)) // never fails
	_, _ = fmt.Fprintf(hash, "%s\x00%s\x00%d\x00%s", k.Namespace, k.Name, number, where)
	mixed := hash.Sum64() // its low bits differ little for names that do
	mixed ^= mixed >> 31
	mixed *= 0x9e3779b97f4a7c15
	mixed ^= mixed >> 29
	return time.Duration(mixed % uint64(p.delay))
}

// Runs returns the runs of each key that have ended.
func (p *Probe) Runs() map[key.Key][]Run {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := make(map[key.Key][]Run, len(p.runs))
	for k, runs := range p.runs {
		out[k] = slices.Clone(runs)
	}
	return out
}

// Overlaps returns the keys that were run twice at once.
func (p *Probe) Overlaps() []key.Key {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.overlaps)
}

// Lost returns the keys without a successful run that began when their last change
// was there or later. changed has the time of the last change of each key.
func (p *Probe) Lost(changed map[key.Key]time.Time) []key.Key {
	p.mu.Lock()
	defer p.mu.Unlock()
	var lost []key.Key
	for k, at := range changed {
		seen := func(r Run) bool { return r.Err == nil && !r.Started.Before(at) }
		if !slices.ContainsFunc(p.runs[k], seen) {
			lost = append(lost, k)
		}
	}
	slices.SortFunc(lost, key.Key.Compare)
	return lost
}
