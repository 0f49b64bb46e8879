package reflector

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gocampus/hark/internal/watchtest"
	"github.com/gocampus/hark/watch"
)

var rewrite = flag.Bool("rewrite", false, "write the scenario files anew; read the diff")

// TestScenarios plays testdata/*.txt against the machine. A line is an input, a
// comment (#), or, after "> ", what the machine answered:
//
//	option streaming=off      before start; likewise:
//	option missing=drop
//	start                     Run begins
//	ADDED a@5                 an event (any type) on the watch
//	BOOKMARK 7 [end]
//	ERROR KIND
//	page VERSION [TOKEN]      a list or page is complete
//	page VERSION stale        it held an object older than the sink's
//	item a@5                  an object in a list or page
//	unreadable                one object or event could not be read
//	closed                    the server ended the watch
//	fail KIND [RETRY-AFTER]   the request failed
//	deaf                      the deadline passed
//	waited                    the pause is over
//	after DURATION            time goes by
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := playScenario(t, string(text))
			if *rewrite {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(text), got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", file, diff)
			}
		})
	}
}

// player is a machine with a clock of its own.
type player struct {
	m   machine
	now time.Time
}

func playScenario(t *testing.T, text string) string {
	tuning := Options{}.tuning()
	tuning.backoff = func(failures int) time.Duration { return exponential(800*time.Millisecond, 30*time.Second, failures) }
	tuning.missing = func(failures int) time.Duration { return exponential(800*time.Millisecond, 5*time.Minute, failures) }
	tuning.watchTimeout = func() time.Duration { return 5 * time.Minute }
	p := &player{m: machine{tuning: tuning}, now: time.Unix(1_000_000, 0)}
	var out strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, ">") {
			continue
		}
		fmt.Fprintln(&out, line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		for _, answer := range p.play(t, strings.Fields(line)) {
			fmt.Fprintln(&out, "> "+answer)
		}
	}
	return out.String()
}

func (p *player) play(t *testing.T, words []string) []string {
	switch words[0] {
	case "option":
		switch words[1] {
		case "streaming=off":
			p.m.tuning.streaming = false
		case "missing=drop":
			p.m.tuning.dropMissing = true
		default:
			t.Fatalf("unknown option %s", words[1])
		}
		return nil
	case "after":
		d, err := time.ParseDuration(words[1])
		if err != nil {
			t.Fatal(err)
		}
		p.now = p.now.Add(d)
		return nil
	}
	if words[0] == "item" {
		p.m.show(watchtest.Object(words[1]))
		return nil
	}
	var out effects
	p.m.step(parseInput(t, words), p.now, &out)
	if err := p.m.check(); err != nil {
		t.Errorf("after %q: %v", words, err)
	}
	return p.describe(&out)
}

// check holds the invariants of machine.
func (m *machine) check() error {
	switch {
	case m.phase == Watching && m.resume == "":
		return errors.New("watching from nowhere")
	case m.phase == Watching && m.shown != 0:
		return errors.New("watching after an unfinished list")
	case m.list.token != "" && m.phase != Listing:
		return fmt.Errorf("continue token kept in phase %s", m.phase)
	case m.phase == Checking && m.resume == "":
		return errors.New("checking what was never known")
	case m.deadline.After(m.limit):
		return errors.New("deadline is after the limit")
	}
	return nil
}

func parseInput(t *testing.T, words []string) input {
	word := func(i int) string {
		if i < len(words) {
			return words[i]
		}
		return ""
	}
	switch words[0] {
	case "start":
		return input{kind: started}
	case "waited":
		return input{kind: waitedLong}
	case "deaf":
		return input{kind: wentDeaf}
	case "closed":
		return input{kind: closed}
	case "unreadable":
		return input{kind: unreadable, err: &watch.Error{Kind: watch.KindObject}}
	case "page":
		if word(2) == "stale" {
			return input{kind: pageEnded, version: word(1), stale: true}
		}
		return input{kind: pageEnded, version: version(word(1)), token: word(2)}
	case "fail":
		retry, _ := time.ParseDuration(word(2))
		return input{kind: failed, err: &watch.Error{Kind: parseKind(t, word(1)), RetryAfter: retry}}
	case "ERROR":
		return input{kind: received, event: &watch.Event{Type: watch.EventError, Err: &watch.Error{Kind: parseKind(t, word(1))}}}
	case "BOOKMARK":
		return input{kind: received, event: &watch.Event{
			Type: watch.EventBookmark, ResourceVersion: version(word(1)), InitialEventsEnd: word(2) == "end"}}
	}
	return input{kind: received, event: &watch.Event{Type: watch.EventType(words[0]), Object: watchtest.Object(word(1))}}
}

// version reads "none" as no version.
func version(word string) string {
	if word == "none" {
		return ""
	}
	return word
}

func parseKind(t *testing.T, name string) watch.ErrorKind {
	for kind := watch.KindUnavailable; kind <= watch.KindObject; kind++ {
		if strings.ReplaceAll(kind.String(), " ", "-") == name {
			return kind
		}
	}
	t.Fatalf("unknown error kind %q", name)
	return 0
}

func (p *player) describe(out *effects) []string {
	var lines []string
	for _, e := range out.list[:out.n] {
		lines = append(lines, describeEffect(e))
	}
	running := slices.ContainsFunc(out.list[:out.n], func(e effect) bool { return e.kind == openList || e.kind == openWatch })
	if running {
		lines = append(lines, fmt.Sprintf("deadline in %s", p.m.deadline.Sub(p.now)))
	}
	return lines
}

func describeEffect(e effect) string {
	switch e.kind {
	case openList:
		return watchtest.ListText(e.list)
	case openWatch:
		return watchtest.WatchText(e.watch)
	case begin:
		if e.force {
			return "begin, what comes counts" + map[bool]string{true: ", known versions too"}[e.anew]
		}
		return "begin"
	case apply:
		return "apply"
	case commit:
		if e.keep {
			return "commit " + e.version + ", keep the rest"
		}
		return "commit " + e.version
	case advance:
		return "advance " + e.version
	case pause:
		if e.parked > 0 {
			return fmt.Sprintf("park for %s, or %s", e.parked, e.delay)
		}
		return "pause " + e.delay.String()
	case complain:
		return "complain: " + e.err.Error()
	}
	return fmt.Sprintf("effect %d", e.kind)
}
