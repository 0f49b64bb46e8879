package rows

import (
	"strconv"

	"github.com/gocampus/hark/bench/internal/report"
	"github.com/gocampus/hark/bench/internal/sides"
)

// The sides by name.
const (
	clientGo          = "client-go"
	clientGoStripped  = "client-go-stripped"
	controllerRuntime = "controller-runtime"
	hark              = "hark"
	harkCompact       = "hark-compact"
	harkDefault       = "hark-default"
	bare              = "wire"
)

// study is one job done by several sides.
type study struct {
	name   string
	job    sides.Job
	sides  []string
	rounds int
	rows   []row
}

// row is read off a study: one measure of two sides.
type row struct {
	name, work string
	measure    string
	base, hark string // sides; "" means client-go and hark
	// baseMeasure is another measure for the base; "" means measure.
	baseMeasure string
	unit        report.Unit
	per         int // the measure is divided by it; 0 means 1
	goal        report.Goal
}

func atLeast(ratio float64) report.Goal { return report.Goal{AtLeast: ratio} }
func atMost(ratio float64) report.Goal  { return report.Goal{AtMost: ratio} }

// line reads the row off samples.
func (w row) line(s samples) report.Line {
	base, ours, baseMeasure, per := w.base, w.hark, w.baseMeasure, float64(max(w.per, 1))
	if base == "" {
		base = clientGo
	}
	if ours == "" {
		ours = hark
	}
	if baseMeasure == "" {
		baseMeasure = w.measure
	}
	l := report.Line{
		Name: w.name, Work: w.work, Unit: w.unit, Goal: w.goal,
		Base: s.median(base, baseMeasure) / per, Hark: s.median(ours, w.measure) / per, Spread: report.Spread(s[ours][w.measure]),
		BaseSpread: report.Spread(s[base][baseMeasure]),
	}
	l.Ratio = l.Base / l.Hark
	return l
}

// Scale is how much is done.
type Scale struct {
	Rounds         int
	LargeRounds    int // of the large sync rows
	Small, Large   int // objects of the sync rows
	Changes, Storm int
	Keys           int
	Reads          int   // objects of the read rows
	Growth         []int // numbers of objects
	GrowthChanges  int
	GrowthRounds   int
	ClientGoTo     int // the largest growth for client-go, which needs 20 KB a pod
	Starts         int
}

// Full is what the documents' figures are made with, Quick a form for every day.
var (
	Full = Scale{
		Rounds: 3, LargeRounds: 3, Small: 20_000, Large: 100_000, Changes: 40_000, Storm: 200_000, Keys: 100_000, Reads: 100_000,
		Growth: []int{1000, 10_000, 100_000, 1_000_000}, GrowthChanges: 40_000, GrowthRounds: 2, ClientGoTo: 100_000, Starts: 15,
	}
	Quick = Scale{
		Rounds: 2, LargeRounds: 1, Small: 5000, Large: 20_000, Changes: 10_000, Storm: 20_000, Keys: 50_000, Reads: 5000,
		Growth: []int{1000, 10_000, 100_000}, GrowthChanges: 10_000, GrowthRounds: 1, ClientGoTo: 10_000, Starts: 5,
	}
)

// stormKeys is how many objects change in a storm, beside the one that ends it.
const stormKeys = 1000

func (s Scale) studies() []study {
	all := []study{s.pods(), s.manyPods(), s.strangers(), s.widgets(), s.storm(), s.stormPaused(), s.reconcile(), s.reconcileOwn(), s.fanout(), s.reads()}
	return append(all, s.queues()...)
}

func (s Scale) pods() study {
	n := strconv.Itoa(s.Small)
	objects := n + " pods"
	return study{
		name: "pods", job: sides.Job{Work: "follow", Set: "pods", Objects: s.Small, Changes: s.Changes, Warm: s.Small},
		sides: []string{clientGo, clientGoStripped, hark, harkDefault, harkCompact}, rounds: s.Rounds,
		rows: []row{
			{name: "sync-cpu-" + n, work: "CPU an object, from nothing to synced, " + objects, measure: sides.SyncCPU, per: s.Small, unit: report.Seconds, goal: atLeast(12)},
			{name: "sync-wall-" + n, work: "time until synced, " + objects, measure: sides.SyncWall, unit: report.Seconds, goal: atLeast(6)},
			{name: "sync-peak-" + n, work: "peak heap while syncing, " + objects, measure: sides.SyncPeak, unit: report.Bytes, goal: atLeast(6)},
			{name: "sync-cpu-" + n + "-compact", work: "the same with the compact store", measure: sides.SyncCPU, hark: harkCompact, per: s.Small, unit: report.Seconds},
			{name: "sync-peak-" + n + "-compact", work: "the same with the compact store", measure: sides.SyncPeak, hark: harkCompact, unit: report.Bytes},
			{name: "heap", work: "live heap an object, " + objects, measure: sides.Heap, unit: report.Bytes, goal: atLeast(4)},
			{name: "heap-compact", work: "the same with the compact store", measure: sides.Heap, hark: harkCompact, unit: report.Bytes, goal: atLeast(10)},
			{name: "heap-stripped", work: "the same, client-go dropping managedFields", measure: sides.Heap, base: clientGoStripped, unit: report.Bytes},
			{name: "event-cpu", work: "CPU an update, from the wire to a key in a worker's hands", measure: sides.EventCPU, per: s.Changes, unit: report.Seconds, goal: atLeast(10)},
			{name: "event-cpu-default", work: "the same with a handler by default, not quick", measure: sides.EventCPU, hark: harkDefault, per: s.Changes, unit: report.Seconds},
			{name: "event-cpu-compact", work: "CPU an update with the compact store", measure: sides.EventCPU, hark: harkCompact, per: s.Changes, unit: report.Seconds},
			{name: "event-wall", work: "time an update", measure: sides.EventWall, per: s.Changes, unit: report.Seconds},
			{name: "event-heap-compact", work: "live heap an object after the updates, compact store", measure: sides.EventHeap, hark: harkCompact, unit: report.Bytes},
		},
	}
}

func (s Scale) manyPods() study {
	n := strconv.Itoa(s.Large)
	return study{
		name: "pods-many", job: sides.Job{Work: "follow", Set: "pods", Objects: s.Large},
		sides: []string{clientGo, hark, harkCompact}, rounds: s.LargeRounds,
		rows: []row{
			{name: "sync-cpu-" + n, work: "CPU an object, " + n + " pods", measure: sides.SyncCPU, per: s.Large, unit: report.Seconds, goal: atLeast(12)},
			{name: "sync-wall-" + n, work: "time until synced, " + n + " pods", measure: sides.SyncWall, unit: report.Seconds, goal: atLeast(6)},
			{name: "sync-peak-" + n, work: "peak heap while syncing, " + n + " pods", measure: sides.SyncPeak, unit: report.Bytes, goal: atLeast(6)},
			{name: "sync-cpu-" + n + "-compact", work: "the same with the compact store", measure: sides.SyncCPU, hark: harkCompact, per: s.Large, unit: report.Seconds},
			{name: "sync-peak-" + n + "-compact", work: "the same with the compact store", measure: sides.SyncPeak, hark: harkCompact, unit: report.Bytes},
			{name: "heap-" + n + "-compact", work: "live heap an object, compact store", measure: sides.Heap, hark: harkCompact, unit: report.Bytes},
		},
	}
}

// strangers are pods that have no siblings, which a compact store pays for in time.
func (s Scale) strangers() study {
	n := s.Small / 2
	objects := strconv.Itoa(n) + " pods, each of its own ReplicaSet"
	return study{
		name: "strangers", job: sides.Job{Work: "follow", Set: "lone", Objects: n, Changes: s.Changes / 2, Warm: n},
		sides: []string{clientGo, hark, harkCompact}, rounds: (s.Rounds + 1) / 2,
		rows: []row{
			{name: "sync-cpu-lone", work: "CPU an object, " + objects, measure: sides.SyncCPU, per: n, unit: report.Seconds},
			{name: "sync-cpu-lone-compact", work: "the same with the compact store", measure: sides.SyncCPU, hark: harkCompact, per: n, unit: report.Seconds},
			{name: "event-cpu-lone", work: "CPU an update, " + objects, measure: sides.EventCPU, per: s.Changes / 2, unit: report.Seconds},
			{name: "event-cpu-lone-compact", work: "the same with the compact store", measure: sides.EventCPU, hark: harkCompact, per: s.Changes / 2, unit: report.Seconds},
		},
	}
}

func (s Scale) widgets() study {
	n := strconv.Itoa(s.Small) + " custom resources of 8 KB in JSON"
	return study{
		name: "widgets", job: sides.Job{Work: "follow", Set: "widgets", Objects: s.Small, Changes: s.Changes, Warm: s.Small},
		sides: []string{clientGo, hark, harkCompact}, rounds: (s.Rounds + 1) / 2,
		rows: []row{
			{name: "sync-cpu-json", work: "CPU an object, " + n, measure: sides.SyncCPU, per: s.Small, unit: report.Seconds, goal: atLeast(10)},
			{name: "event-cpu-json", work: "CPU an update, " + n, measure: sides.EventCPU, per: s.Changes, unit: report.Seconds, goal: atLeast(10)},
			{name: "heap-json", work: "live heap an object, " + n, measure: sides.Heap, unit: report.Bytes},
			{name: "heap-json-compact", work: "the same with the compact store", measure: sides.Heap, hark: harkCompact, unit: report.Bytes},
		},
	}
}

func (s Scale) storm() study {
	return study{
		name: "storm", job: sides.Job{Work: "follow", Set: "pods", Objects: stormKeys + 1, Changes: s.Storm, Read: true},
		sides: []string{clientGo, hark}, rounds: (s.Rounds + 1) / 2,
		rows: []row{
			{name: "storm", work: "CPU an update to 1,000 keys; the worker reads the newest object once a run", measure: sides.EventCPU, per: s.Storm, unit: report.Seconds, goal: atLeast(8)},
			{name: "storm-runs", work: "runs of the worker", measure: sides.Runs, unit: report.Times},
		},
	}
}

// pause is what one run of a worker waits for in the paused storm, in
// microseconds: a short request to the API.
const pause = 1000

func (s Scale) stormPaused() study {
	st := s.storm()
	st.name, st.job.Busy = "storm-1ms", pause
	st.rows = []row{{name: "storm-1ms", work: "the same, each run waiting 1 ms as for a request", measure: sides.EventCPU, per: s.Storm, unit: report.Seconds}}
	return st
}

func (s Scale) reconcile() study {
	return study{
		name: "reconcile", job: sides.Job{Work: "follow", Set: "pods", Objects: s.Changes + 1, Changes: s.Changes, Warm: s.Changes, Read: true},
		sides: []string{clientGo, hark}, rounds: (s.Rounds + 1) / 2,
		rows: []row{{name: "reconcile", work: "CPU an update that a worker reads once", measure: sides.EventCPU, per: s.Changes, unit: report.Seconds, goal: atLeast(2)}},
	}
}

func (s Scale) reconcileOwn() study {
	st := s.reconcile()
	st.name, st.job.Own = "reconcile-own", true
	st.rows = []row{{name: "reconcile-own", work: "the same, each run with an object that it may change: a deep copy, or kube.As", measure: sides.EventCPU, per: s.Changes, unit: report.Seconds}}
	return st
}

func (s Scale) fanout() study {
	return study{
		name: "fanout", job: sides.Job{Work: "follow", Set: "pods", Objects: s.Small, Changes: s.Changes, Warm: s.Small, Handlers: 10},
		sides: []string{clientGo, hark, harkDefault}, rounds: (s.Rounds + 1) / 2,
		rows: []row{
			{name: "fanout", work: "CPU an update, ten handlers that enqueue", measure: sides.EventCPU, per: s.Changes, unit: report.Seconds, goal: atLeast(8)},
			{name: "fanout-default", work: "the same with handlers by default, not quick", measure: sides.EventCPU, hark: harkDefault, per: s.Changes, unit: report.Seconds},
			{name: "fanout-sync", work: "CPU an object until synced, ten handlers", measure: sides.SyncCPU, per: s.Small, unit: report.Seconds},
			{name: "fanout-sync-default", work: "the same with handlers by default, not quick", measure: sides.SyncCPU, hark: harkDefault, per: s.Small, unit: report.Seconds},
		},
	}
}

func (s Scale) reads() study {
	return study{
		name: "reads", job: sides.Job{Work: "read", Set: "pods", Objects: s.Reads},
		sides: []string{clientGo, controllerRuntime, hark, harkCompact}, rounds: s.Rounds,
		rows: []row{
			{name: "get-hot", work: "CPU of reading one unchanged pod again; client-go's lister against kube.View", measure: sides.GetHot, unit: report.Seconds, goal: atLeast(0.5)},
			{name: "get-hot-runtime", work: "the same against controller-runtime's Get, which copies", measure: sides.GetHot, base: controllerRuntime, unit: report.Seconds},
			{name: "get-cold", work: "CPU of reading a pod never read, against the generated Unmarshal of its bytes", measure: sides.GetCold, base: hark, baseMeasure: sides.Unmarshal, unit: report.Seconds, goal: atLeast(1)},
			{name: "get-cold-lister", work: "the same against client-go's lister, which has it decoded", measure: sides.GetCold, unit: report.Seconds},
			{name: "get-cold-compact", work: "the same with the compact store, against the Unmarshal", measure: sides.GetCold, base: harkCompact, baseMeasure: sides.Unmarshal, hark: harkCompact, unit: report.Seconds},
			{name: "get-cold-runtime", work: "the same against controller-runtime's Get", measure: sides.GetCold, base: controllerRuntime, unit: report.Seconds},
			{name: "list", work: "CPU of visiting the key and a label of an object, of " + strconv.Itoa(s.Reads), measure: sides.List, unit: report.Seconds, goal: atLeast(1)},
			{name: "list-compact", work: "the same with the compact store", measure: sides.List, hark: harkCompact, unit: report.Seconds},
			{name: "list-runtime", work: "the same against controller-runtime's List", measure: sides.List, base: controllerRuntime, unit: report.Seconds},
		},
	}
}

// queueRows are the works on a queue, with the goals.
var queueRows = []struct {
	name, work string
	keys       int // times Scale.Keys
	goal       float64
}{
	{"queue-cycle", "CPU of Add, Get and Done", 2, 3},
	{"queue-burst", "CPU a key, all in and then out", 1, 2},
	{"queue-parallel", "CPU a key, 2 producers and 4 workers", 2, 2},
	{"queue-after", "CPU a key, AddAfter of 1 to 50 ms, Get and Done", 1, 5},
	{"queue-ratelimited", "CPU a key, AddRateLimited, Get, Forget and Done", 1, 5},
}

func (s Scale) queues() []study {
	var all []study
	for _, q := range queueRows {
		all = append(all, study{
			name: q.name, job: sides.Job{Work: q.name, Objects: q.keys * s.Keys}, sides: []string{clientGo, hark}, rounds: 2*s.Rounds - 1,
			rows: []row{
				{name: q.name, work: q.work, measure: sides.OpCPU, unit: report.Seconds, goal: atLeast(q.goal)},
				{name: q.name + "-wall", work: "time of the same", measure: sides.OpWall, unit: report.Seconds},
			},
		})
	}
	return all
}
