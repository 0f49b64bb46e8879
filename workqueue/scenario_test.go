package workqueue_test

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	clientgo "k8s.io/client-go/util/workqueue"

	"github.com/gocampus/hark/workqueue"
)

var rewrite = flag.Bool("rewrite", false, "write the answers in testdata anew")

// A scenario file holds commands, each after "> " and followed by its answers.
// Lines that begin with # are comments. The commands are the cases of
// scenario.do.

func TestScenariosBehaveAsRecorded(t *testing.T) {
	for _, path := range scenarioFiles(t, "testdata/*.txt") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			compareScenario(t, path, runScenario(t, path, nil), *rewrite)
		})
	}
}

// TestWhatClientGoDoesRightWeDoTheSame runs the same scenarios on both queues.
func TestWhatClientGoDoesRightWeDoTheSame(t *testing.T) {
	for _, path := range scenarioFiles(t, "testdata/parity/*.txt") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := clientgo.NewTypedRateLimitingQueue(
					clientgo.NewTypedItemExponentialFailureRateLimiter[string](10*time.Millisecond, 1000*time.Second))
				defer q.ShutDown()
				compareScenario(t, path, runScenario(t, path, q), *rewrite)
			})
			compareScenario(t, path, runScenario(t, path, nil), false)
		})
	}
}

func scenarioFiles(t *testing.T, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("Glob(%s) = %v, %v", pattern, paths, err)
	}
	return paths
}

func compareScenario(t *testing.T, path, got string, write bool) {
	t.Helper()
	if write {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(strings.Split(got, "\n"), strings.Split(string(want), "\n")); diff != "" {
		t.Errorf("%s (-got +want; -rewrite records it):\n%s", path, diff)
	}
}

// scenario is a queue that commands are given to.
type scenario struct {
	queue clientgo.TypedRateLimitingInterface[string]
	ours  *workqueue.Queue[string] // nil for client-go's
	start time.Time

	// mu guards the answers that come by themselves.
	mu    sync.Mutex
	later []string
}

// runScenario returns the file with the answers of q, or of a new queue of ours.
func runScenario(t *testing.T, path string, q clientgo.TypedRateLimitingInterface[string]) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	play := func(t *testing.T) {
		s := &scenario{queue: q, start: time.Now()}
		if q == nil {
			s.make(nil)
		}
		s.play(string(data), &out)
		s.queue.ShutDown()
		synctest.Wait()
	}
	if q != nil {
		play(t) // in the bubble of q
	} else {
		synctest.Test(t, play)
	}
	return out.String()
}

func (s *scenario) play(file string, out *strings.Builder) {
	for line := range strings.Lines(file) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "#"):
			fmt.Fprintln(out, line)
		case strings.HasPrefix(line, "> "):
			fmt.Fprintf(out, "%s\n", line)
			for _, answer := range s.command(strings.Fields(line[2:])) {
				fmt.Fprintf(out, "  %s\n", answer)
			}
		case line == "":
			fmt.Fprintln(out)
		}
	}
}

// command does one command and returns its answers.
func (s *scenario) command(words []string) []string {
	answers := s.do(words[0], words[1:])
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.Sort(s.later) // they come from goroutines
	answers = append(answers, s.later...)
	s.later = nil
	return answers
}

// do knows the commands that both queues have.
func (s *scenario) do(verb string, args []string) []string {
	switch verb {
	case "add":
		for _, item := range args {
			s.queue.Add(item)
		}
	case "after":
		s.queue.AddAfter(args[0], duration(args[1]))
	case "retry":
		s.queue.AddRateLimited(args[0])
	case "get":
		return s.get()
	case "done":
		s.queue.Done(args[0])
	case "forget":
		s.queue.Forget(args[0])
	case "requeues":
		return []string{strconv.Itoa(s.queue.NumRequeues(args[0]))}
	case "len":
		return []string{strconv.Itoa(s.queue.Len())}
	case "wait":
		time.Sleep(duration(args[0]))
	case "shutdown":
		s.queue.ShutDown()
	case "drain":
		go func() {
			s.queue.ShutDownWithDrain()
			s.report("drained")
		}()
	case "shutting":
		return []string{strconv.FormatBool(s.queue.ShuttingDown())}
	default:
		return s.doOurs(verb, args)
	}
	return nil
}

// doOurs knows the commands that only our queue has.
func (s *scenario) doOurs(verb string, args []string) []string {
	switch verb {
	case "new":
		s.make(args)
	case "with":
		s.ours.AddWith(args[0], addOptions(args[1:]))
	case "cancel":
		return []string{strconv.FormatBool(s.ours.Cancel(args[0]))}
	case "fail":
		s.ours.RecordError(args[0], errors.New(strings.Join(args[1:], " ")))
	case "take":
		return s.take()
	case "drainfor":
		ctx, cancel := context.WithTimeout(context.Background(), duration(args[0]))
		go func() {
			defer cancel()
			left, err := s.ours.Drain(ctx)
			s.report(fmt.Sprintf("left %v: %v", left, err))
		}()
	case "show":
		return s.show()
	case "stats":
		return []string{strings.Trim(fmt.Sprintf("%+v", s.ours.Stats()), "{}")}
	default:
		panic("unknown command " + verb)
	}
	return nil
}

func (s *scenario) make(args []string) {
	if s.ours != nil {
		s.ours.ShutDown()
	}
	options := workqueue.Options[string]{Times: true, OnMisuse: func(item string) { s.report("misuse of " + item) }}
	for _, arg := range args {
		name, value, _ := strings.Cut(arg, "=")
		switch name {
		case "lanes":
			options.Lane = func(item string) string { lane, _, _ := strings.Cut(item, "/"); return lane }
		case "aging":
			options.Aging = duration(value)
		case "failures":
			options.MaxFailures = number(value)
		case "base":
			options.Backoff.Base = duration(value)
		case "max":
			options.Backoff.Max = duration(value)
		default:
			panic("unknown option " + arg)
		}
	}
	s.ours = workqueue.New(options)
	s.queue = s.ours
}

// get gets an item unless that would block.
func (s *scenario) get() []string {
	synctest.Wait()
	if s.queue.Len() == 0 && !s.queue.ShuttingDown() {
		return []string{"nothing"}
	}
	item, shutdown := s.queue.Get()
	if shutdown {
		return []string{"shutdown"}
	}
	return []string{item}
}

func (s *scenario) take() []string {
	d, err := s.ours.GetWith(context.Background())
	if err != nil {
		return []string{err.Error()}
	}
	return []string{fmt.Sprintf("%s priority %d failures %d queued %s reasons %v+%d",
		d.Item, d.Priority, d.Failures, s.at(d.Queued), d.Reasons, d.MoreReasons)}
}

func (s *scenario) show() []string {
	snapshot := s.ours.Snapshot()
	var lines []string
	for _, part := range []struct {
		name    string
		entries []workqueue.Entry[string]
	}{
		{"queued", snapshot.Queued}, {"delayed", snapshot.Delayed},
		{"processing", snapshot.Processing}, {"failing", snapshot.Failing},
	} {
		if part.name == "processing" {
			slices.SortFunc(part.entries, func(a, b workqueue.Entry[string]) int { return cmp.Compare(a.Item, b.Item) })
		}
		for _, e := range part.entries {
			lines = append(lines, part.name+" "+s.entry(e))
		}
	}
	return lines
}

func (s *scenario) entry(e workqueue.Entry[string]) string {
	var b strings.Builder
	b.WriteString(e.Item)
	for _, at := range []struct {
		name string
		time time.Time
	}{{"queued", e.Queued}, {"started", e.Started}, {"due", e.Due}, {"failed", e.FailedAt}} {
		if !at.time.IsZero() {
			fmt.Fprintf(&b, " %s=%s", at.name, s.at(at.time))
		}
	}
	if e.Again {
		b.WriteString(" again")
	}
	if e.Priority != 0 {
		fmt.Fprintf(&b, " priority=%d", e.Priority)
	}
	if e.Lane != "" {
		fmt.Fprintf(&b, " lane=%s", e.Lane)
	}
	if e.Failures != 0 || e.LastError != "" {
		fmt.Fprintf(&b, " failures=%d %q", e.Failures, e.LastError)
	}
	if len(e.Reasons) > 0 {
		fmt.Fprintf(&b, " reasons=%v+%d", e.Reasons, e.MoreReasons)
	}
	return b.String()
}

// at is the time since the start of the scenario.
func (s *scenario) at(t time.Time) string { return t.Sub(s.start).String() }

func (s *scenario) report(answer string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.later = append(s.later, answer)
}

func addOptions(args []string) workqueue.AddOptions {
	var options workqueue.AddOptions
	for _, arg := range args {
		name, value, _ := strings.Cut(arg, "=")
		switch name {
		case "after":
			options.After = duration(value)
		case "priority":
			options.Priority = number(value)
		case "reason":
			options.Reason = value
		case "when":
			options.When = map[string]workqueue.When{"latest": workqueue.Latest, "replace": workqueue.Replace}[value]
		default:
			panic("unknown option " + arg)
		}
	}
	return options
}

func duration(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		panic(err)
	}
	return d
}

func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return n
}
