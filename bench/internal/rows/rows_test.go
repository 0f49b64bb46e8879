package rows

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gocampus/hark/bench/internal/serve"
	"github.com/gocampus/hark/bench/internal/sides"
)

// TestMain is also the other processes of the benchmark.
func TestMain(m *testing.M) {
	if err := other(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func other(args []string) error {
	switch {
	case len(args) == 1 && args[0] == "serve":
		lines, err := os.ReadFile("../../testdata/pods.ndjson")
		var orders io.Reader = os.Stdin
		if os.Getenv(oneOrder) != "" {
			orders = &oneLine{in: orders}
		}
		if err == nil {
			err = serve.Main(orders, os.Stdout, lines)
		}
		if err == nil {
			os.Exit(0)
		}
		return err
	case len(args) == 2 && args[0] == "side" && os.Getenv(silent) != "":
		os.Exit(3)
	case len(args) == 2 && args[0] == "side":
		err := sides.Main(args[1], os.Stdin, os.Stdout)
		if err == nil {
			os.Exit(0)
		}
		return err
	}
	return nil
}

// Variables of the environment that make the other processes misbehave: the server
// ends after one order, a side without a result.
const oneOrder, silent = "BENCH_TEST_ONE_ORDER", "BENCH_TEST_SILENT"

// oneLine reads no more than a line.
type oneLine struct {
	in   io.Reader
	read bool
}

func (o *oneLine) Read(p []byte) (int, error) {
	if o.read {
		return 0, io.EOF
	}
	n, err := o.in.Read(p[:1])
	o.read = n == 1 && p[0] == '\n'
	return n, err
}

// asked are the rows that the benchmark is asked for, with n for a number of objects.
var asked = []string{
	"sync-cpu-n", "sync-wall-n", "sync-peak-n", "sync-cpu-json", "heap", "heap-compact", "heap-mixed", "heap-mixed-compact",
	"event-cpu", "event-cpu-json", "storm", "reconcile", "fanout",
	"queue-cycle", "queue-burst", "queue-parallel", "queue-after", "queue-ratelimited",
	"get-hot", "get-cold", "get-cold-lister", "list", "growth-sync-cpu", "growth-heap", "growth-event", "headline",
}

var tiny = Scale{
	Rounds: 1, LargeRounds: 1, Small: 100, Large: 200, Changes: 200, Storm: 300, Keys: 500, Reads: 300,
	Growth: []int{50, 100, 200}, GrowthChanges: 100, GrowthRounds: 1, ClientGoTo: 100,
}

// started returns a runner whose other processes are this test's binary.
func started(t *testing.T) *Runner {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := &Runner{Program: program, Log: io.Discard}
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// TestEveryRowIsMeasured does all but start, which builds two programs.
func TestEveryRowIsMeasured(t *testing.T) {
	var out bytes.Buffer
	all, err := started(t).All(t.Context(), tiny, regexp.MustCompile("^(?:[^s]|sto)"), &out)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, l := range all.Lines {
		if math.IsNaN(l.Ratio) || math.IsNaN(l.Base) || math.IsNaN(l.Hark) {
			t.Errorf("%s was not measured: %s", l.Name, l)
		}
		if seen[l.Name] {
			t.Errorf("%s comes twice", l.Name)
		}
		seen[l.Name] = true
		if !strings.Contains(out.String(), l.String()+"\n") {
			t.Errorf("%s was not printed", l.Name)
		}
	}
	for _, name := range asked {
		for _, n := range []int{tiny.Small, tiny.Large} {
			if want := strings.Replace(name, "-n", fmt.Sprintf("-%d", n), 1); !seen[want] && strings.HasSuffix(name, "-n") || !seen[name] && !strings.HasSuffix(name, "-n") {
				t.Errorf("there is no row %s", want)
			}
		}
	}
	if len(all.Limits) != 4 || len(all.Plots) != 3 {
		t.Errorf("%d limits and %d plots; want 4 and 3", len(all.Limits), len(all.Plots))
	}
}

func TestTheWorkerHasEveryChangeInItsHands(t *testing.T) {
	r := started(t)
	for _, side := range []string{clientGo, hark} {
		for _, set := range []string{"pods", "lone", "configmaps", "widgets"} {
			got, err := r.do(t.Context(), sides.Job{Side: side, Work: "follow", Set: set, Objects: 301, Changes: 300, Warm: 20, Handlers: 2})
			if err != nil {
				t.Fatal(err)
			}
			if got[sides.Runs] != 300 { // of 300 objects, one change each
				t.Errorf("%s had %v keys of 300 %s", side, got[sides.Runs], set)
			}
		}
	}
}

func TestEachMeasureOfEachSideHasAProfile(t *testing.T) {
	r := started(t)
	r.Profiles = t.TempDir()
	for _, c := range []struct {
		job      sides.Job
		measures []string
	}{
		{sides.Job{Work: "queue-cycle", Objects: 100}, []string{sides.OpCPU}},
		{sides.Job{Work: "follow", Set: "pods", Objects: 10, Warm: 10, Changes: 10}, []string{sides.SyncCPU, sides.EventCPU, sides.Heap}},
		{sides.Job{Work: "read", Set: "pods", Objects: 10}, []string{sides.GetCold, sides.GetHot, sides.List}},
	} {
		st := study{name: c.job.Work, job: c.job, sides: []string{clientGo, hark}, rounds: 2}
		if _, err := r.run(t.Context(), st); err != nil {
			t.Fatal(err)
		}
		for _, side := range st.sides {
			for _, measure := range c.measures {
				file := filepath.Join(r.Profiles, st.name+"."+side+"."+measure+".pprof")
				if info, err := os.Stat(file); err != nil || info.Size() == 0 {
					t.Errorf("no profile %s: %v", file, err)
				}
			}
		}
	}
}

func TestAJobThatCannotBeDoneIsAnError(t *testing.T) {
	r := started(t)
	for _, job := range []sides.Job{
		{Side: hark, Work: "sleep"}, {Side: "informer9", Work: "follow", Set: "pods", Objects: 1},
		{Side: hark, Work: "follow", Set: "cods", Objects: 1}, {Side: "informer9", Work: "queue-cycle", Objects: 1},
	} {
		if got, err := r.do(t.Context(), job); err == nil {
			t.Errorf("%+v = %v; want an error", job, got)
		}
	}
}

// endless is a job that ends only when it is made to: the server serves nothing.
var endless = sides.Job{Side: hark, Work: "follow", Objects: 1}

func TestASideEndsWithTheServer(t *testing.T) {
	t.Setenv(oneOrder, "1")
	job := endless
	job.Set = "pods" // is the one order
	if _, err := started(t).do(t.Context(), job); err == nil || !strings.Contains(err.Error(), "the server ended") {
		t.Errorf("do = %v; want that the server ended", err)
	}
}

func TestASideEndsWithItsContext(t *testing.T) {
	r := started(t)
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	r.Log = writer(func() { cancel(why) }) // after the first job
	st := study{name: "q", job: sides.Job{Work: "queue-cycle", Objects: 10}, sides: []string{clientGo, hark}, rounds: 1}
	if _, err := r.run(ctx, st); !errors.Is(err, why) {
		t.Errorf("run = %v; want the cause", err)
	}
}

type writer func()

func (w writer) Write(p []byte) (int, error) { w(); return len(p), nil }

func TestASideEndsWithTheProcessThatWantsItsResult(t *testing.T) {
	r := started(t)
	job := endless
	job.URL = r.server.URL
	argument, err := json.Marshal(job)
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(r.Program, "side", string(argument))
	command.Stdin = strings.NewReader("") // ends at once
	if err := command.Run(); err == nil || command.ProcessState.ExitCode() != 1 {
		t.Errorf("it ended with %v; want exit status 1", err)
	}
}

func TestASideWithoutAResultSaysHowItEnded(t *testing.T) {
	t.Setenv(silent, "1")
	if _, err := started(t).do(t.Context(), endless); !errors.Is(err, errSilent) || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("do = %v; want the exit status", err)
	}
}

func TestASideThatIsLeftOutHasNoFigures(t *testing.T) {
	r := started(t)
	r.Sides = regexp.MustCompile("^controller")
	all, err := r.All(t.Context(), tiny, regexp.MustCompile("^(queue-burst|growth|limits)$"), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range all.Lines {
		if v := l.Goal.Verdict(l.Ratio); v == "PASS" {
			t.Errorf("%s; nothing was measured", l)
		}
	}
	if len(all.Limits) != 0 {
		t.Errorf("limits %v; nothing was measured", all.Limits)
	}
}

func TestWhatIsBuiltIsLookedForBeforeAnythingIsMeasured(t *testing.T) {
	r := started(t)
	t.Chdir(t.TempDir())
	var out bytes.Buffer
	if _, err := r.All(t.Context(), tiny, regexp.MustCompile("^(queue-burst|start)$"), &out); err == nil || !strings.Contains(err.Error(), "directory bench") {
		t.Errorf("All = %v; want where to run it", err)
	}
	if out.Len() > 0 {
		t.Errorf("measured before: %s", out.String())
	}
}

func TestARowIsTheRatioOfMedians(t *testing.T) {
	s := samples{clientGo: {"m": {30, 10, 20}, "other": {7}}, hark: {"m": {4, 5, 6}}, harkCompact: {"m": {2}}}
	for _, c := range []struct {
		row               row
		base, hark, ratio float64
	}{
		{row{measure: "m"}, 20, 5, 4},
		{row{measure: "m", per: 5}, 4, 1, 4},
		{row{measure: "m", hark: harkCompact}, 20, 2, 10},
		{row{measure: "m", baseMeasure: "other"}, 7, 5, 1.4},
		{row{measure: "m", base: hark, hark: harkCompact}, 5, 2, 2.5},
	} {
		if l := c.row.line(s); l.Base != c.base || l.Hark != c.hark || l.Ratio != c.ratio {
			t.Errorf("%+v: %v ÷ %v = %v; want %v ÷ %v = %v", c.row, l.Base, l.Hark, l.Ratio, c.base, c.hark, c.ratio)
		}
	}
	if l := (row{measure: "lost", goal: atLeast(1)}).line(s); l.Goal.Verdict(l.Ratio) != "FAIL" {
		t.Errorf("a row without samples: %s; want FAIL", l)
	}
}

func TestAMillionPodsAreComparedWithTheirLimit(t *testing.T) {
	heap := func(n, bytes float64) costs { return costs{sides.Heap: {{X: n, Y: bytes}}} }
	by := map[string]costs{clientGo: heap(1000, 2e7), harkCompact: heap(1e6, 2.5*(1<<30))}
	l := headline(Scale{Growth: []int{1000, million}, ClientGoTo: 1000}, by, samples{})
	if l.Ratio != 1 || l.Base != 2e10 || l.Goal.Verdict(l.Ratio) != "PASS" {
		t.Errorf("headline = %s; want 2e10 bytes for client-go, and just passed", l)
	}
	by[harkCompact] = heap(1e5, 2.6*(1<<30)/10)
	if l = headline(Scale{Growth: []int{100_000}, ClientGoTo: 1000}, by, samples{}); l.Goal.Verdict(l.Ratio) != "FAIL" || !strings.Contains(l.Work, "Hark from 100000") {
		t.Errorf("headline = %s, %s; want FAIL, and from how many", l, l.Work)
	}
}

func TestSidesTakeTurns(t *testing.T) {
	var log bytes.Buffer
	r := started(t)
	r.Log = &log
	st := study{name: "q", job: sides.Job{Work: "queue-cycle", Objects: 10}, sides: []string{clientGo, hark}, rounds: 3}
	measured, err := r.run(t.Context(), st)
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, m := range regexp.MustCompile(`round \d (\S+):`).FindAllStringSubmatch(log.String(), -1) {
		order = append(order, m[1])
	}
	if want := []string{clientGo, hark, hark, clientGo, clientGo, hark}; !slices.Equal(order, want) {
		t.Errorf("order %v; want %v", order, want)
	}
	if got := len(measured[hark][sides.OpCPU]); got != 3 {
		t.Errorf("%d samples; want 3", got)
	}
}

func TestTheFirstLineOfAToolIsTimed(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Fatal(err)
	}
	took, err := firstLine(t.Context(), []string{"sh", "-c", "echo one; exec sleep 60"}, t.TempDir(), "")
	if err != nil || took <= 0 {
		t.Errorf("firstLine = %v, %v", took, err)
	}
	if _, err := firstLine(t.Context(), []string{"sh", "-c", "echo >&2 no cluster; exit 1"}, t.TempDir(), ""); err == nil || !strings.Contains(err.Error(), "no cluster") {
		t.Errorf("firstLine of a tool that fails: %v; want what it said", err)
	}
}

func TestLimitsArePrinted(t *testing.T) {
	got := Limit{Name: "read-pods", Bytes: 6400, PerByte: 1.5e9, CPU: 2e-6}.String()
	if want := "LIMIT read-pods 1500 MB/s 2.00µs an object of 6.25KiB"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
