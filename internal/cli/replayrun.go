package cli

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/gocampus/hark/internal/cli/engine"
	"github.com/gocampus/hark/internal/text"
	"github.com/gocampus/hark/record"
	"github.com/gocampus/hark/watch"
)

// newReplayRunFlags adds the flags of "hark run" that are about the program. A
// replay has no server to ask.
func newReplayRunFlags(s *session, cmd *cobra.Command) *runFlags {
	f := &runFlags{watching: &watchFlags{connection: &connection{session: s, flags: genericclioptions.NewConfigFlags(true)}}}
	own := &cobra.Command{}
	f.add(own)
	own.Flags().VisitAll(func(flag *pflag.Flag) {
		if flag.Name != "resync" { // nothing is listened to anew
			cmd.Flags().AddFlag(flag)
		}
	})
	completeWords(cmd, "on", onWords...)
	completeWords(cmd, "fair-by", "namespace")
	completePaths(cmd, "state")
	return f
}

// given names one of these flags that was typed, "" when none was.
func (f *runFlags) given(cmd *cobra.Command) string {
	own := &cobra.Command{}
	(&runFlags{}).add(own)
	name := ""
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		if own.Flags().Lookup(flag.Name) != nil {
			name = flag.Name
		}
	})
	return name
}

// planReplayRun checks what is to be run.
func (s *session) planReplayRun(cmd *cobra.Command, f *replayFlags, path string, program []string) (*runPlan, error) {
	if len(program) == 0 {
		return nil, usageError(s.say(text.NoProgram), s.tryHelp(cmd))
	}
	for _, name := range [...]string{"output", "diff", "explain"} { // nothing is printed
		if cmd.Flags().Changed(name) {
			return nil, usageError(s.say(text.NotWithProgram, "flag", name), s.tryHelp(cmd))
		}
	}
	return s.planProgram(cmd, f.run, program, &watchPlan{session: s, flags: f.run.watching}, path)
}

// replay runs the program for a recording.
func (p *runPlan) replay(ctx context.Context, r *replaying) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var kinds []string
	for _, stream := range r.tape.Streams() {
		kinds = append(kinds, stream.Kind.GVK.Kind)
	}
	announce := func() {
		p.say(text.ReplayRunning, "command", filepath.Base(p.command.Path), "kinds", p.session.lang.List(kinds),
			"time", r.tape.header.Time.Local().Format(time.DateTime), "file", r.tape.name)
	}
	p.tape = r.tape
	feed := &replayFeed{replaying: r}
	err := p.operate(ctx, cancel, announce, feed)
	if feed.damage != nil && context.Cause(ctx) == nil {
		return feed.damage // what is parked was said
	}
	return err
}

// replayFeed is a recording that is played to a program.
type replayFeed struct {
	*replaying
	changed map[int]bool // streams that have told a change: what existed is complete
	damage  error        // where the recording ended; what was before is run
}

// Run implements engine.Feed. What existed at the beginning has been told when each
// stream has told a change, or the recording ends.
func (f *replayFeed) Run(ctx context.Context, sink engine.Sink) error {
	f.changed = map[int]bool{}
	synced := false
	err := f.run(ctx, func(e record.Event, before *record.Event) error {
		if e.Cause != watch.CauseInitial {
			f.changed[e.Stream] = true
		}
		if !synced && len(f.changed) == len(f.tape.Streams()) {
			synced = true
			sink.Synced()
		}
		sink.Tell(engine.Event{Event: toldEvent(e, before), Kind: f.tape.Streams()[e.Stream].Kind, Time: e.Time})
		return nil
	})
	if damage, ok := errors.AsType[*record.DamageError](err); ok && damage != nil {
		f.damage, err = err, nil
	}
	if err == nil && !synced {
		sink.Synced()
	}
	return err
}
