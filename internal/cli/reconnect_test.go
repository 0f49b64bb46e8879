package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/gocampus/hark/harktest"
)

// told is what a test looks at in a JSON line.
type told struct {
	Type, Cause, Name, ResourceVersion string
	Object                             struct {
		Metadata struct{ UID string }
	}
}

// events reads standard output as JSON lines.
func (l *live) events() []told {
	l.t.Helper()
	var out []told
	for line := range strings.Lines(l.out.String()) {
		if !strings.HasSuffix(line, "\n") {
			break // the rest of it is being written
		}
		var e told
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			l.t.Fatalf("%v in %s", err, line)
		}
		out = append(out, e)
	}
	return out
}

// short writes events as "ADDED a, MODIFIED a".
func short(events []told) string {
	var out []string
	for _, e := range events {
		out = append(out, e.Type+" "+e.Name)
	}
	return strings.Join(out, ", ")
}

// disturbances are ways in which connections come to harm while changes go on.
var disturbances = map[string]func(*cluster){
	"the server restarts":             func(c *cluster) { c.Restart(harktest.RestartOptions{}) },
	"the server restarts and forgets": func(c *cluster) { c.Restart(harktest.RestartOptions{Forget: true}) },
	"the watch ends":                  func(c *cluster) { c.CloseWatches() },
	"the watch is cut in a frame":     func(c *cluster) { c.nextWatch(harktest.Fault{CutEvent: true}) },
	"the watch tells all twice":       func(c *cluster) { c.nextWatch(harktest.Fault{DoubleEvents: 3}) },
	"the watch tells the past again":  func(c *cluster) { c.nextWatch(harktest.Fault{AfterEvents: 2, ReplayEvents: 2}) },
	"410 as an event":                 func(c *cluster) { c.nextWatch(harktest.Fault{Code: 410, EventError: true}) },
	"410 as an answer":                func(c *cluster) { c.nextWatch(harktest.Fault{Code: 410}) },
	"429 with a wish":                 func(c *cluster) { c.nextWatch(harktest.Fault{Code: 429, RetryAfter: time.Second}) },
}

// nextWatch ends the open watches and makes the next one of pods go wrong.
func (c *cluster) nextWatch(f harktest.Fault) {
	f.Verb, f.Resource, f.Times = "watch", "pods", 1
	c.Inject(f)
	c.CloseWatches()
}

func TestNothingIsLostOrDoubledWhenTheConnectionIs(t *testing.T) {
	for name, disturb := range disturbances {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, harktest.Options{})
			hark := c.watch("pods", "-o", "json")
			c.createPod("kept")
			c.createPod("gone")
			hark.until(hark.out, "both pods", func(string) bool { return len(hark.events()) == 2 })

			up := c.GoDown()
			hark.says("Pod: the connection is lost, reconnecting: ") // now, while nothing else can be said
			c.setPhase("kept", corev1.PodRunning)
			c.deletePod("gone")
			c.createPod("new")
			disturb(c)
			c.do(up())
			hark.prints(`"name":"new"`)
			c.setPhase("new", corev1.PodRunning)
			hark.until(hark.out, "six events", func(string) bool { return len(hark.events()) >= 6 })
			c.createPod("last")
			hark.prints(`"name":"last"`)
			hark.says("Pod: back to normal")
			hark.interrupt()

			counts := map[string]int{}
			for _, e := range hark.events() {
				counts[e.Type+" "+e.Name]++
			}
			want := map[string]int{
				"ADDED kept": 1, "ADDED gone": 1, "MODIFIED kept": 1, "DELETED gone": 1,
				"ADDED new": 1, "MODIFIED new": 1, "ADDED last": 1,
			}
			if d := cmp.Diff(want, counts); d != "" {
				t.Errorf("-want +got:\n%s\nin %s", d, short(hark.events()))
			}
		})
	}
}

// Whatever happens to connections, what is printed must replay to what the
// server has, without a change that is told twice.
func TestWhatIsPrintedReplaysToTheServersState(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 7))
	c := newCluster(t, harktest.Options{})
	hark := c.watch("pods", "-o", "json")
	names := slices.Sorted(maps.Keys(disturbances))
	for i := range 300 {
		c.churn(r)
		if i%60 == 59 {
			disturbances[names[r.IntN(len(names))]](c)
		}
	}
	// The first may be told of by a list whose sweep is still to come; by the
	// time of the second, which comes by the watch, all is told.
	for _, name := range []string{"the-end", "the-very-end"} {
		c.createPod(name)
		hark.prints(`"name":"` + name + `"`)
	}
	hark.interrupt()
	checkReplay(t, hark.events(), c)
}

// churn makes one random change to one of a few pods.
func (c *cluster) churn(r *rand.Rand) {
	c.t.Helper()
	name := fmt.Sprint("p", r.IntN(5))
	p := pod(name)
	switch exists := c.Get(c.t.Context(), p) == nil; {
	case !exists:
		c.createPod(name)
	case r.IntN(4) == 0:
		c.deletePod(name)
	default:
		c.do(c.Change(c.t.Context(), p, func() { p.Labels = map[string]string{"turn": fmt.Sprint(r.Uint32())} }))
	}
}

func checkReplay(t *testing.T, events []told, c *cluster) {
	t.Helper()
	state := map[string]told{}
	for i, e := range events {
		before, had := state[e.Name]
		switch e.Type {
		case "ADDED":
			if had {
				t.Errorf("event %d adds %s, which is there", i, e.Name)
			}
			state[e.Name] = e
		case "MODIFIED":
			if !had || before.ResourceVersion == e.ResourceVersion || before.Object.Metadata.UID != e.Object.Metadata.UID {
				t.Errorf("event %d modifies %s from %+v to %+v", i, e.Name, before, e)
			}
			state[e.Name] = e
		case "DELETED":
			if !had {
				t.Errorf("event %d deletes %s, which is not there", i, e.Name)
			}
			delete(state, e.Name)
		}
	}
	got, want := map[string]string{}, map[string]string{}
	for name, e := range state {
		got[name] = e.ResourceVersion
	}
	pods, err := harktest.List[*corev1.Pod](c.Server, "default")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pods {
		want[p.Name] = p.ResourceVersion
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("state (-server +replayed):\n%s", d)
	}
}
