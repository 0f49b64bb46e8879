package recordtest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocampus/hark/informer"
	"github.com/gocampus/hark/key"
	"github.com/gocampus/hark/record"
	"github.com/gocampus/hark/reflector"
	"github.com/gocampus/hark/store"
	"github.com/gocampus/hark/wire"
	"github.com/gocampus/hark/worker"
	"github.com/gocampus/hark/workqueue"
)

// Load loads a recording for a test, compressed or as plain lines. Damage fails
// the test.
func Load(t testing.TB, path string) *record.Recording {
	t.Helper()
	recording, err := record.Load(path, record.LoadOptions{})
	if err != nil {
		t.Fatalf("recordtest: %v", err)
	}
	if recording.Damage != nil {
		t.Fatalf("recordtest: %v", recording.Damage)
	}
	return recording
}

// Options of Play. Work is needed.
type Options struct {
	// Stream to play, by its index in the recording; default the first.
	Stream int
	// Seed chooses the interleaving of the workers. Default 0.
	Seed uint64
	// Workers is the number of runs at a time; 0 means 2.
	Workers int
	// Speed is that of record.PlayerOptions; default as recorded. Time is virtual:
	// it costs nothing.
	Speed float64
	// Delay is the longest pause of a run; see NewProbe.
	Delay time.Duration
	// Settle is how long retries may go on after the last event; 0 means an hour.
	Settle time.Duration
	// Work does the work for one key. object is its newest version, nil when it is
	// gone; get reads others of the stream.
	Work func(ctx context.Context, k key.Key, object *wire.Object, get func(key.Key) *wire.Object) (worker.Result, error)
}

// Result is what became of a recording that was played.
type Result struct {
	// Runs of each key, in their order.
	Runs map[key.Key][]Run
	// Final is the informer's state at the end.
	Final map[key.Key]*wire.Object
	// Parked are the keys that failed for good.
	Parked []key.Key
}

// Play plays one stream of a recording into an informer, whose changes are worked
// off by workers that run o.Work, all in a synctest bubble. It fails the test when
// a key was run twice at once, when no successful run of a key saw its last state
// and it is not parked, or when the final state is not the recording's.
// It must not be called within a bubble.
func Play(t *testing.T, r *record.Recording, o Options) *Result {
	t.Helper()
	if o.Work == nil {
		panic("recordtest: Options.Work is missing")
	}
	if err := streamOf(r, o.Stream); err != nil {
		t.Fatal(err)
	}
	result := &Result{}
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		p := newPlaying(r, o)
		p.run(t)
		p.check(t, result)
	})
	return result
}

// streamOf returns an error where a recording has no such stream.
func streamOf(r *record.Recording, stream int) error {
	if stream < 0 || stream >= len(r.Streams) {
		return fmt.Errorf("recordtest: there is no stream %d: the recording has %d, counted from 0", stream, len(r.Streams))
	}
	return nil
}

// playing is one Play.
type playing struct {
	options   Options
	recording *record.Recording
	probe     *Probe
	informer  *informer.Informer
	queue     *workqueue.Queue[key.Key]
	pool      *worker.Pool[key.Key]
	player    *record.Player
	told      map[key.Key]bool // keys of the stream; written by the player's goroutine, read at the end

	mu   sync.Mutex
	seen map[key.Key]*wire.Object // by the last successful run
}

func newPlaying(r *record.Recording, o Options) *playing {
	if o.Settle == 0 {
		o.Settle = time.Hour
	}
	p := &playing{
		options: o, recording: r, probe: NewProbe(o.Seed, o.Delay), told: map[key.Key]bool{}, seen: map[key.Key]*wire.Object{},
		queue: workqueue.New(workqueue.Options[key.Key]{}),
	}
	p.player = record.NewPlayer(r, record.PlayerOptions{Speed: o.Speed, OnEvents: p.note})
	// A recording has no faults: whatever is tried again is tried at once.
	tuning := reflector.Options{MinBackoff: time.Millisecond, MaxBackoff: time.Millisecond}
	p.informer = informer.New(p.player.Source(o.Stream), informer.Options{Reflector: tuning})
	p.pool = worker.New(p.queue, p.work, worker.Options[key.Key]{Workers: o.Workers})
	return p
}

// note keeps the keys that there were.
func (p *playing) note(events []record.Event) {
	for _, e := range events {
		if e.Stream == p.options.Stream {
			p.told[e.Key] = true
		}
	}
}

// work is one run.
func (p *playing) work(ctx context.Context, k key.Key) (worker.Result, error) {
	var result worker.Result
	var object *wire.Object
	err := p.probe.Run(ctx, k, func() error {
		var err error
		object = p.get(k)
		result, err = p.options.Work(ctx, k, object, p.get)
		return err
	})
	if err == nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.seen[k] = object
	}
	return result, err
}

// lost reports whether no run has seen the end of a key. One that came and went
// before anybody was told needs none.
func (p *playing) lost(k key.Key, end *wire.Object) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	seen, ran := p.seen[k]
	switch {
	case !ran:
		return end != nil || len(p.probe.Runs()[k]) > 0
	case end == nil || seen == nil:
		return end != seen
	}
	return !seen.Equal(end)
}

// get returns the newest version of an object, or nil.
func (p *playing) get(k key.Key) *wire.Object {
	object, _ := p.informer.Store().Get(k)
	return object
}

// run plays the recording to its end and waits for what follows from it.
func (p *playing) run(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if _, err := p.informer.Handle(func(e informer.Event) { p.queue.Add(e.Key) }, informer.HandlerOptions{}); err != nil {
		t.Fatal(err)
	}
	p.note(p.recording.Initial)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	running.Go(func() { _ = p.informer.Run(ctx) }) // the end of ctx
	if err := p.informer.WaitSync(ctx); err != nil {
		t.Fatal(err)
	}
	running.Go(func() { _ = p.pool.Run(ctx) }) // likewise, with what is left undone, which is looked at
	if err := p.player.Run(ctx); err != nil {
		t.Fatal(err)
	}
	p.settle()
}

// settle waits until nothing is queued, delayed or running any more.
func (p *playing) settle() {
	end := time.Now().Add(p.options.Settle)
	for time.Now().Before(end) {
		time.Sleep(time.Second) // of the bubble: a relist has come through as well
		synctest.Wait()
		if s := p.queue.Stats(); s.Queued+s.Delayed+s.Processing == 0 {
			return
		}
	}
}

// check fails the test for what should not be, and fills in the result.
func (p *playing) check(t testing.TB, result *Result) {
	t.Helper()
	for _, parked := range p.pool.Parked() {
		result.Parked = append(result.Parked, parked.Item)
		delete(p.told, parked.Item)
	}
	result.Runs, result.Final = p.probe.Runs(), contentOf(p.informer.Store())
	for _, k := range p.probe.Overlaps() {
		t.Errorf("recordtest: seed %d: %s was run twice at once", p.options.Seed, k)
	}
	want := p.recording.Final()[p.options.Stream]
	for k := range p.told {
		if p.lost(k, want[k]) {
			t.Errorf("recordtest: seed %d: no run of %s saw its end, %v: %v", p.options.Seed, k, want[k], result.Runs[k])
		}
	}
	for k, object := range want {
		if got := result.Final[k]; got == nil || !got.Equal(object) {
			t.Errorf("recordtest: seed %d: at the end %s is %v; the recording ends with %v", p.options.Seed, k, got, object)
		}
	}
	for k, object := range result.Final {
		if want[k] == nil {
			t.Errorf("recordtest: seed %d: at the end there is %v, which the recording does not have", p.options.Seed, object)
		}
	}
}

func contentOf(s *store.Store) map[key.Key]*wire.Object {
	content := map[key.Key]*wire.Object{}
	for object := range s.All() {
		content[object.Key()] = object
	}
	return content
}
