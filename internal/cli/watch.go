package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/gocampus/hark/internal/printer"
	"github.com/gocampus/hark/internal/text"
)

// watchFlags are the flags of "hark watch".
type watchFlags struct {
	connection    *connection
	allNamespaces bool
	selector      string
	fieldSelector string
	output        string
	color         *string
	diff          bool
	explain       bool
	wait, noWait  bool
	managedFields bool
	limit         *time.Duration
	recording     *recordFlags
}

// newWatch is "hark watch".
func newWatch(s *session) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "watch TYPE[,TYPE...] [NAME...] [flags]",
		Short:   s.say(text.WatchShort),
		Long:    s.say(text.WatchLong),
		Example: s.say(text.WatchExamples, "command", s.command),
	}
	w := &watchFlags{connection: newConnection(s, cmd), color: addColorFlag(cmd), limit: addForFlag(cmd), recording: addRecordFlag(cmd)}
	flags := cmd.Flags()
	flags.BoolVarP(&w.allNamespaces, "all-namespaces", "A", false, "")
	flags.StringVarP(&w.selector, "selector", "l", "", "")
	flags.StringVar(&w.fieldSelector, "field-selector", "", "")
	flags.StringVarP(&w.output, "output", "o", string(printer.Text), "")
	flags.BoolVar(&w.diff, "diff", false, "")
	flags.BoolVar(&w.explain, "explain", false, "")
	flags.BoolVar(&w.wait, "wait", false, "")
	flags.BoolVar(&w.noWait, "no-wait", false, "")
	flags.BoolVar(&w.managedFields, "show-managed-fields", false, "")
	completeWords(cmd, "output", "text", "json", "yaml", "name")
	w.addCompletions(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return s.watch(cmd, w, args) }
	return cmd
}

// watch checks what was typed, then watches until it is told to end.
func (s *session) watch(cmd *cobra.Command, w *watchFlags, args []string) error {
	plan, err := s.planWatch(cmd, w, args)
	if err != nil {
		return err
	}
	ctx, cancel, err := s.limited(cmd, *w.limit)
	if err != nil {
		return err
	}
	defer cancel()
	return s.ended(ctx, plan.run(ctx))
}

// planWatch checks everything that can be checked without a server.
func (s *session) planWatch(cmd *cobra.Command, w *watchFlags, args []string) (*watchPlan, error) {
	targets, err := w.targets(args)
	if err != nil {
		return nil, usageError(err.Error(), s.tryHelp(cmd))
	}
	format, err := printer.ParseFormat(w.output)
	if err != nil {
		return nil, usageError(err.Error(), s.tryHelp(cmd))
	}
	color, err := s.colored(cmd, *w.color)
	if err != nil {
		return nil, err
	}
	if err := w.recording.check(s, cmd); err != nil {
		return nil, err
	}
	return &watchPlan{
		session: s, flags: w, targets: targets, recording: w.recording,
		printing: printer.Options{Format: format, Lang: s.lang, Diff: w.diff, Explain: w.explain, Color: color},
	}, nil
}

// targets reads the arguments and checks that the flags go with them.
func (w *watchFlags) targets(args []string) ([]target, error) {
	targets, err := parseTargets(args)
	if err != nil {
		return nil, err
	}
	named := targets[0].name != ""
	switch {
	case named && w.allNamespaces:
		return nil, errors.New("a resource cannot be retrieved by name across all namespaces")
	case w.wait && w.noWait:
		return nil, errors.New("--wait and --no-wait exclude each other")
	case named && w.selector != "":
		return nil, errors.New("name cannot be provided when a selector is specified")
	}
	return targets, nil
}

// addForFlag adds --for to a command.
func addForFlag(cmd *cobra.Command) *time.Duration {
	return cmd.Flags().Duration("for", 0, "")
}

// errTimeUp is the cause of a context that --for ended.
var errTimeUp = fmt.Errorf("the time given by --for is up: %w", context.DeadlineExceeded)

// limited returns the command's context, which --for may end, and the end of who
// reads standard output.
func (s *session) limited(cmd *cobra.Command, limit time.Duration) (context.Context, context.CancelFunc, error) {
	if limit < 0 {
		message := s.say(text.BadFor, "value", fmt.Sprint(limit))
		return nil, nil, usageError(message, s.tryHelp(cmd))
	}
	ctx, unread := s.whileRead(cmd.Context())
	if limit == 0 {
		return ctx, unread, nil
	}
	ctx, cancel := endsAfter(ctx, limit, errTimeUp)
	return ctx, func() { cancel(); unread() }, nil
}

// endsAfter returns a context that ends after a time with the cause. Unlike one
// of context.WithTimeout it has no deadline to look up, for the sake of
// client-go's rate limiter: that fails at once, with an error of its own, when a
// deadline comes before its turn.
func endsAfter(parent context.Context, limit time.Duration, cause error) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	timer := time.AfterFunc(limit, func() { cancel(cause) })
	return ctx, func() {
		timer.Stop()
		cancel(nil)
	}
}

// ended tells an error from the end of ctx, which is the regular end of a
// command that goes on for ever.
func (s *session) ended(ctx context.Context, err error) error {
	if ctx.Err() != nil && (err == nil || errors.Is(err, context.Cause(ctx)) || errors.Is(err, ctx.Err())) {
		return nil
	}
	return err
}
