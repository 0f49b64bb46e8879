package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/gocampus/hark/informer"
	"github.com/gocampus/hark/internal/cli/follow"
	"github.com/gocampus/hark/internal/printer"
	"github.com/gocampus/hark/internal/sleep"
	"github.com/gocampus/hark/internal/text"
	"github.com/gocampus/hark/record"
	"github.com/gocampus/hark/watch"
)

// replayFlags are the flags of "hark replay".
type replayFlags struct {
	speed, from, to string
	output          string
	color           *string
	diff, explain   bool
	limit           *time.Duration
	run             *runFlags // with -- CMD
}

// newReplay is "hark replay".
func newReplay(s *session) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "replay FILE [flags] [-- CMD [ARGS...]]",
		Short:   s.say(text.ReplayShort),
		Long:    s.say(text.ReplayLong),
		Example: s.say(text.ReplayExamples, "command", s.command),

		DisableFlagsInUseLine: true,
	}
	f := &replayFlags{color: addColorFlag(cmd), limit: addForFlag(cmd), run: newReplayRunFlags(s, cmd)}
	flags := cmd.Flags()
	addSpeedFlag(cmd, &f.speed)
	flags.StringVar(&f.from, "from", "", "")
	flags.StringVar(&f.to, "to", "", "")
	flags.StringVarP(&f.output, "output", "o", string(printer.Text), "")
	flags.BoolVar(&f.diff, "diff", false, "")
	flags.BoolVar(&f.explain, "explain", false, "")
	completeWords(cmd, "output", "text", "json", "yaml", "name")
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if cmd.ArgsLenAtDash() >= 0 {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return completeOneFile(cmd, args, typed)
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return s.replay(cmd, f, args) }
	return cmd
}

func addSpeedFlag(cmd *cobra.Command, speed *string) {
	cmd.Flags().StringVar(speed, "speed", "1", "")
	completeWords(cmd, "speed", "1", "10", "max")
}

// completeOneFile completes the one file that a command takes.
func completeOneFile(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveDefault
}

// parseSpeed refuses what is no speed.
func (s *session) parseSpeed(cmd *cobra.Command, value string) (float64, error) {
	speed, err := parsedSpeed(value)
	if err != nil {
		return 0, usageError(s.say(text.BadSpeed, "value", fmt.Sprintf("%q", value)), s.tryHelp(cmd))
	}
	return speed, nil
}

// parsedSpeed reads a number above 0, or max.
func parsedSpeed(value string) (float64, error) {
	if value == "max" {
		return math.Inf(1), nil
	}
	speed, err := strconv.ParseFloat(value, 64)
	if err == nil && (math.IsNaN(speed) || speed <= 0) {
		err = strconv.ErrRange
	}
	return speed, err
}

// replay checks what was typed, then plays the file: to be read, or to a program.
func (s *session) replay(cmd *cobra.Command, f *replayFlags, args []string) error {
	var program []string
	if dash := cmd.ArgsLenAtDash(); dash >= 0 {
		args, program = args[:dash], args[dash:]
	}
	if len(args) != 1 {
		return usageError(s.say(text.OneRecording, "command", cmd.CommandPath()), s.tryHelp(cmd))
	}
	r, err := s.planReplay(cmd, f)
	if err != nil {
		return err
	}
	var plan *runPlan
	if cmd.ArgsLenAtDash() >= 0 {
		if plan, err = s.planReplayRun(cmd, f, args[0], program); err != nil {
			return err
		}
	} else if name := f.run.given(cmd); name != "" {
		return usageError(s.say(text.OnlyWithProgram, "flag", name), s.tryHelp(cmd))
	}
	if r.tape, err = s.openTape(args[0]); err != nil {
		return err
	}
	defer r.tape.close()
	start := r.tape.header.Time
	if r.from, err = s.parseTime(cmd, "from", f.from, start); err != nil {
		return err
	}
	if r.to, err = s.parseTime(cmd, "to", f.to, start); err != nil {
		return err
	}
	if !r.to.IsZero() && r.from.After(r.to) {
		return usageError(s.say(text.TimesReversed), s.tryHelp(cmd))
	}
	ctx, cancel, err := s.limited(cmd, *f.limit)
	if err != nil {
		return err
	}
	defer cancel()
	if plan != nil {
		return s.ended(ctx, plan.replay(ctx, r))
	}
	r.banner()
	return s.ended(ctx, r.run(ctx, r.print))
}

// planReplay checks everything that can be checked without the file.
func (s *session) planReplay(cmd *cobra.Command, f *replayFlags) (*replaying, error) {
	format, err := printer.ParseFormat(f.output)
	if err != nil {
		return nil, usageError(err.Error(), s.tryHelp(cmd))
	}
	color, err := s.colored(cmd, *f.color)
	if err != nil {
		return nil, err
	}
	speed, err := s.parseSpeed(cmd, f.speed)
	if err != nil {
		return nil, err
	}
	return &replaying{session: s, speed: speed, state: record.NewState(), printing: printer.Options{
		Format: format, Lang: s.lang, Diff: f.diff, Explain: f.explain, Color: color,
	}}, nil
}

// parseTime reads a time, a time of the day on which the recording began, or a
// time from its beginning; "" is the zero time.
func (s *session) parseTime(cmd *cobra.Command, flag, value string, start time.Time) (time.Time, error) {
	if value == "" {
		return time.Time{}, nil
	}
	if at, err := time.Parse(time.RFC3339Nano, value); err == nil {
		return at, nil
	}
	if after, err := time.ParseDuration(value); err == nil && after >= 0 {
		return start.Add(after), nil
	}
	if clock, err := time.Parse(time.TimeOnly, value); err == nil {
		day := start.Local()
		at := time.Date(day.Year(), day.Month(), day.Day(), clock.Hour(), clock.Minute(), clock.Second(), clock.Nanosecond(), time.Local)
		if at.Before(start.Truncate(time.Second)) { // it is after midnight
			at = at.AddDate(0, 0, 1)
			said := s.say(text.NextDay, "flag", flag, "time", at.Format(time.DateTime))
			_, _ = fmt.Fprintln(s.Err, said) // else there is nobody to tell
		}
		return at, nil
	}
	return time.Time{}, usageError(s.say(text.BadTime, "flag", flag, "value", fmt.Sprintf("%q", value)), s.tryHelp(cmd))
}

// replaying is one recording that is played to be read.
type replaying struct {
	session  *session
	tape     *tape
	speed    float64
	from, to time.Time
	printing printer.Options

	printer *printer.Printer
	state   *record.State
	buffer  []byte
	began   time.Time // here
	clock   time.Time // in the recording, when it began; zero before
}

// telling takes an event and the one that told of its object before, or nil.
type telling func(e record.Event, before *record.Event) error

// run plays the recording to its end, or to where it is damaged.
func (r *replaying) run(ctx context.Context, tell telling) error {
	r.began = time.Now()
	r.clock = r.from
	passed := r.from.IsZero() // all that was before --from
	for {
		e, err := r.tape.Next()
		if err == nil && !passed && e.Time.Before(r.from) {
			r.state.Apply(e)
			continue
		}
		if !passed {
			passed = true
			if err := r.beginning(tell); err != nil {
				return err
			}
		}
		switch {
		case err == io.EOF:
			r.session.openEnd(r.tape)
			return nil
		case err != nil:
			return r.session.damaged(err)
		case !r.to.IsZero() && e.Time.After(r.to):
			continue // of two streams, one may be a little late
		}
		if err := r.play(ctx, e, tell); err != nil {
			return err
		}
	}
}

// beginning tells what is true at --from.
func (r *replaying) beginning(tell telling) error {
	for _, e := range r.state.Events(r.from) {
		if err := tell(e, nil); err != nil {
			return err
		}
	}
	return nil
}

// play tells one event when it is its time.
func (r *replaying) play(ctx context.Context, e record.Event, tell telling) error {
	if r.clock.IsZero() {
		r.clock = e.Time
	}
	due := r.began.Add(record.Scaled(e.Time.Sub(r.clock), r.speed))
	if err := sleep.For(ctx, time.Until(due)); err != nil {
		return err
	}
	old, known := r.state.Apply(e)
	if known {
		return tell(e, &old)
	}
	return tell(e, nil)
}

// banner says what is played.
func (r *replaying) banner() {
	var kinds []string
	for _, stream := range r.tape.Streams() {
		kinds = append(kinds, stream.Kind.GVK.Kind)
	}
	r.printer = printer.New(r.printing)
	r.know()
	s := r.session
	_, _ = fmt.Fprintln(s.Err, text.Printable(s.say(text.Replaying, "kinds", s.lang.List(kinds), // else there is nobody to tell
		"time", r.tape.header.Time.Local().Format(time.DateTime), "file", r.tape.name)))
}

// know gives the printer the kinds that are known so far: one that the server had
// late comes in the middle of a recording.
func (r *replaying) know() {
	for _, stream := range r.tape.Streams()[len(r.printing.Kinds):] {
		r.printing.Kinds = append(r.printing.Kinds, follow.PrintedKind(stream.Kind))
	}
	r.printing.ShowKind = len(r.printing.Kinds) > 1
	r.printer.ShowKinds(r.printing.ShowKind, r.printing.Kinds)
}

// print prints an event as hark watch does.
func (r *replaying) print(e record.Event, before *record.Event) error {
	if len(r.tape.Streams()) > len(r.printing.Kinds) {
		r.know()
	}
	event := printedEvent(r.printer, r.tape.Streams()[e.Stream], e, before)
	out, err := r.printer.Append(r.buffer[:0], event)
	if err != nil {
		return err
	}
	r.buffer = out
	_, err = r.session.out.Write(out)
	return err
}

// printedEvent is what a printer takes for an event of a recording.
func printedEvent(p *printer.Printer, stream record.Stream, e record.Event, before *record.Event) printer.Event {
	event := follow.Printed(p, stream.Kind, toldEvent(e, before), e.Time.Local())
	if e.Err != "" { // the object has nothing but its metadata
		event.Object, event.Err = nil, errors.New(e.Err)
	}
	return event
}

// toldEvent is what a handler was told.
func toldEvent(e record.Event, before *record.Event) informer.Event {
	told := informer.Event{Type: e.Type, Cause: e.Cause, Key: e.Key, Merged: e.Merged, FinalStateUnknown: e.FinalStateUnknown}
	switch {
	case e.Type == watch.EventDeleted:
		told.Old = e.Object
	case e.Type == watch.EventModified && before != nil:
		told.Old = before.Object
	}
	if e.Type != watch.EventDeleted {
		told.New = e.Object
	}
	return told
}
