package cli

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gocampus/hark/internal/cli/engine"
	"github.com/gocampus/hark/internal/cli/hook"
	"github.com/gocampus/hark/internal/diff"
	"github.com/gocampus/hark/internal/printer"
	"github.com/gocampus/hark/internal/redact"
	"github.com/gocampus/hark/internal/text"
)

// runVoice says what becomes of runs, and passes on what programs write: stdout to
// stdout, stderr to stderr.
type runVoice struct {
	plan *watchPlan
	// failed ends the command when standard output cannot be written.
	failed context.CancelCauseFunc

	mu   sync.Mutex // guards what follows
	said map[string]bool
}

// clock is how a line tells the time, as in the lines of "hark watch".
const clock = "15:04:05"

// Pass implements hook.Output. Each line gets the time, the key and the attempt.
func (v *runVoice) Pass(r *hook.Request, stderr bool, lines []byte) {
	prefix := "[" + time.Now().Format(clock) + "] "
	if r != nil {
		prefix += text.Printable(r.Key.String()) + " #" + strconv.Itoa(r.Attempt) + " "
	}
	prefix += "| "
	if !stderr {
		if _, err := v.plan.session.out.Write(withPrefix(prefix, lines, isTerminal(v.plan.session.Out))); err != nil {
			v.failed(err)
		}
		return
	}
	block := withPrefix(prefix, lines, isTerminal(v.plan.session.Err))
	v.plan.mu.Lock()
	defer v.plan.mu.Unlock()
	_, _ = v.plan.session.Err.Write(block) // where it is closed there is nobody to tell
}

// withPrefix puts a prefix before each line. What goes to a terminal must not steer
// it; elsewhere each byte is passed on as it is.
func withPrefix(prefix string, lines []byte, onTerminal bool) []byte {
	out := make([]byte, 0, len(lines)+(bytes.Count(lines, []byte("\n"))+1)*len(prefix))
	for line := range bytes.Lines(lines) {
		out = append(out, prefix...)
		if onTerminal {
			shown := strings.ReplaceAll(strings.TrimSuffix(string(line), "\n"), "\t", "    ")
			line = append([]byte(text.Printable(shown)), '\n')
		}
		out = append(out, line...)
	}
	return out
}

// run says how a run ended that did not go well.
func (v *runVoice) run(r engine.Run) {
	key, attempt := r.Key.String(), strconv.Itoa(r.Attempt)
	var line string
	switch say := v.plan.session.say; r.Outcome {
	case engine.Retried:
		line = say(text.RunFailed, "key", key, "attempt", attempt, "reason", r.Err.Error(), "pause", r.Next.String())
	case engine.Again:
		line = say(text.RunAgain, "key", key, "attempt", attempt, "pause", r.Next.String())
	case engine.Parked:
		line = say(text.RunParked, "key", key, "attempt", attempt, "reason", r.Err.Error())
	case engine.Interrupted:
		line = say(text.RunBroken, "key", key, "attempt", attempt)
	default:
		return
	}
	v.plan.line(text.Printable(oneLine(line)))
}

// loop says loudly that a key is run by its own work, with what keeps changing.
func (v *runVoice) loop(l engine.HotLoop) {
	say := v.plan.session.say
	block := []byte(say(text.HotLoop, "key", text.Printable(l.Key.String()), "runs", strconv.Itoa(l.Loop.Runs),
		"window", l.Loop.Window.String(), "pause", l.Penalty.String()) + "\n")
	for _, change := range masked(l.Request, l.Changes) {
		block = printer.AppendChange(block, change)
	}
	try := say(text.TryHotLoop)
	if !l.Sure {
		try = say(text.TryFieldManager)
	}
	v.plan.line(string(block) + "try: " + try)
}

// masked hides the values of a Secret's changes from people.
func masked(r *hook.Request, changes []diff.Change) []diff.Change {
	group, _, grouped := strings.Cut(r.Key.APIVersion, "/")
	if !grouped {
		group = ""
	}
	if !redact.Applies(group, r.Key.Kind) {
		return changes
	}
	changes = slices.Clone(changes)
	for i := range changes {
		c := &changes[i]
		if c.Op != diff.Added {
			c.Old = redact.Mask
		}
		if c.Op != diff.Removed {
			c.New = redact.MaskChanged
		}
	}
	return changes
}

// maxSaid bounds the different complaints that are said.
const maxSaid = 100

// first tells whether a complaint was not said yet.
func (v *runVoice) first(complaint string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.said[complaint] || len(v.said) >= maxSaid {
		return false
	}
	if v.said == nil {
		v.said = map[string]bool{}
	}
	v.said[complaint] = true
	return true
}

// whenError says once what is wrong with --when.
func (v *runVoice) whenError(k engine.Key, err error) {
	if v.first("when: " + err.Error()) {
		line := v.plan.session.say(text.WhenFailed, "key", k.String(), "reason", err.Error())
		v.plan.line(text.Printable(oneLine(line)) + "\ntry: " + v.plan.session.say(text.TryWhen))
	}
}

// saveError says once what is wrong with the state file.
func (v *runVoice) saveError(err error) {
	if v.first("state: " + err.Error()) {
		v.plan.line(text.Printable(oneLine(v.plan.session.say(text.StateFailed, "reason", err.Error()))))
	}
}

// maxListed bounds the keys that the summary names of each sort.
const maxListed = 20

// summary says what was done and what is left.
func (v *runVoice) summary(s *engine.Summary) {
	say := v.plan.session.say
	v.plan.line(say(text.RunSummary, "runs", strconv.Itoa(s.Runs), "done", strconv.Itoa(s.Done+s.Requeued),
		"retries", strconv.Itoa(s.Retried+s.Again), "parked", strconv.Itoa(s.Parked), "broken", strconv.Itoa(s.Interrupted)))
	v.list(text.SummaryParked, s.ParkedKeys)
	v.list(text.SummaryFailing, s.FailingKeys)
}

func (v *runVoice) list(m text.Message, troubles []engine.Trouble) {
	for i, t := range troubles {
		if i == maxListed {
			v.plan.say(text.SummaryMore, "number", strconv.Itoa(len(troubles)-maxListed))
			return
		}
		line := v.plan.session.say(m, "key", t.Key.String(), "tries", strconv.Itoa(t.Tries), "reason", t.Err)
		v.plan.line("  " + text.Printable(oneLine(line)))
	}
}

// dryRun is a program that only says what would be run, and why.
type dryRun struct {
	command hook.Command
	voice   *runVoice
}

// Run implements engine.Program.
func (d *dryRun) Run(_ context.Context, r *hook.Request) (hook.Result, error) {
	words := []string{shellWord(d.command.Path)}
	for _, arg := range d.command.For(r.Key) {
		words = append(words, shellWord(arg))
	}
	var causes []string
	for _, c := range r.Causes {
		causes = append(causes, string(c.Type)+" ("+c.Cause+")")
	}
	session := d.voice.plan.session
	line := session.say(text.WouldRun, "key", r.Key.String(), "command", strings.Join(words, " "), "causes", session.lang.List(causes))
	block := []byte("[" + time.Now().Format(clock) + "] " + text.Printable(line) + "\n")
	for _, c := range r.Causes {
		if c.Diff != nil {
			for _, change := range masked(r, *c.Diff) {
				block = printer.AppendChange(block, change)
			}
		}
	}
	if _, err := session.out.Write(block); err != nil {
		d.voice.failed(fmt.Errorf("standard output: %w", err))
	}
	return hook.Result{}, nil
}
