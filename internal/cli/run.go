package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gocampus/hark/internal/cli/engine"
	"github.com/gocampus/hark/internal/cli/when"
	"github.com/gocampus/hark/internal/text"
	"github.com/gocampus/hark/watch"
	"github.com/gocampus/hark/workqueue"
)

// runFlags are the flags of "hark run" that it does not share with "hark watch".
type runFlags struct {
	watching  *watchFlags
	recording *recordFlags // nil for a replay

	workers, maxTries                     int
	timeout, resync, debounce, grace      time.Duration
	backoff, fairBy, when, state, hotLoop string
	fieldManager                          string
	on                                    []string
	once, dryRun, stream                  bool
}

// defaultFieldManager is the name under which a program is asked to write.
const defaultFieldManager = "hark-run"

// The words of --on, and what they stand for.
var (
	onWords = []string{"add", "update", "delete"}
	onTypes = []watch.EventType{watch.EventAdded, watch.EventModified, watch.EventDeleted}
)

// newRun is "hark run".
func newRun(s *session) *cobra.Command {
	cmd := &cobra.Command{
		Use:                   "run TYPE[,TYPE...] [flags] -- CMD [ARGS...]",
		Short:                 s.say(text.RunShort),
		Long:                  s.say(text.RunLong, "namespace", "{namespace}", "name", "{name}", "kind", "{kind}"),
		Example:               s.say(text.RunExamples, "command", s.command, "namespace", "{namespace}", "name", "{name}"),
		DisableFlagsInUseLine: true,
	}
	w := &watchFlags{connection: newConnection(s, cmd)}
	f := &runFlags{watching: w, recording: addRecordFlag(cmd)}
	flags := cmd.Flags()
	flags.BoolVarP(&w.allNamespaces, "all-namespaces", "A", false, "")
	flags.StringVarP(&w.selector, "selector", "l", "", "")
	flags.StringVar(&w.fieldSelector, "field-selector", "", "")
	flags.BoolVar(&w.wait, "wait", false, "")
	flags.BoolVar(&w.noWait, "no-wait", false, "")
	f.add(cmd)
	f.addCompletions(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return s.runProgram(cmd, f, args) }
	return cmd
}

// add adds the flags to the command.
func (f *runFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.IntVar(&f.workers, "workers", 2, "")
	flags.DurationVar(&f.timeout, "timeout", time.Minute, "")
	flags.IntVar(&f.maxTries, "max-tries", 0, "")
	flags.StringVar(&f.backoff, "backoff", "10ms..1000s", "")
	flags.DurationVar(&f.resync, "resync", 0, "")
	flags.DurationVar(&f.debounce, "debounce", 0, "")
	flags.StringVar(&f.fairBy, "fair-by", "", "")
	flags.StringSliceVar(&f.on, "on", onWords, "")
	flags.Lookup("on").DefValue = "" // which is all
	flags.StringVar(&f.when, "when", "", "")
	flags.BoolVar(&f.once, "once", false, "")
	flags.BoolVar(&f.dryRun, "dry-run", false, "")
	flags.StringVar(&f.state, "state", "", "")
	flags.BoolVar(&f.stream, "stream", false, "")
	flags.DurationVar(&f.grace, "grace", 30*time.Second, "")
	flags.StringVar(&f.fieldManager, "field-manager", defaultFieldManager, "")
	flags.StringVar(&f.hotLoop, "hot-loop", "10/10s", "")
}

// addCompletions completes types up to the "--", and files and commands after it.
func (f *runFlags) addCompletions(cmd *cobra.Command) {
	f.watching.addCompletions(cmd)
	types := cmd.ValidArgsFunction
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		// cobra forgets the "--" of what was typed.
		if slices.Contains(f.watching.connection.session.args, "--") && typed != "--" {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return types(cmd, args, typed)
	}
	completeWords(cmd, "on", onWords...)
	completeWords(cmd, "fair-by", "namespace")
	completePaths(cmd, "state")
}

// options are those of the engine that follow from the flags alone.
func (f *runFlags) options(cmd *cobra.Command) (engine.Options, error) {
	o := engine.Options{
		Workers: f.workers, Timeout: f.timeout, Grace: f.grace, MaxTries: f.maxTries, Debounce: f.debounce,
		Once: f.once, FieldManager: f.fieldManager, Named: cmd.Flags().Changed("field-manager"),
	}
	if err := f.checkRanges(); err != nil {
		return o, err
	}
	var err error
	if o.Backoff, err = parseBackoff(f.backoff); err != nil {
		return o, err
	}
	if o.Loop, err = parseLoop(f.hotLoop); err != nil {
		return o, err
	}
	if o.On, err = parseOn(f.on); err != nil {
		return o, err
	}
	switch f.fairBy {
	case "":
	case "namespace":
		o.FairByNamespace = true
	default:
		return o, fmt.Errorf("--fair-by must be namespace, not %q", f.fairBy)
	}
	if f.when == "" {
		return o, nil
	}
	expression, err := when.Compile(f.when)
	if err != nil {
		return o, fmt.Errorf("--when: %w", err)
	}
	o.When = expression.Match
	return o, nil
}

// checkRanges refuses numbers that make no sense.
func (f *runFlags) checkRanges() error {
	switch {
	case f.workers < 1:
		return fmt.Errorf("--workers must be at least 1, not %d", f.workers)
	case f.maxTries < 0:
		return fmt.Errorf("--max-tries must not be negative: %d", f.maxTries)
	case f.fieldManager == "":
		return errors.New("--field-manager must not be empty")
	}
	for name, value := range map[string]time.Duration{"timeout": f.timeout, "resync": f.resync, "debounce": f.debounce, "grace": f.grace} {
		if value < 0 {
			return fmt.Errorf("--%s must not be negative: %v", name, value)
		}
	}
	return nil
}

// parseBackoff reads MIN..MAX.
func parseBackoff(value string) (workqueue.Backoff, error) {
	low, high, both := strings.Cut(value, "..")
	base, err := time.ParseDuration(low)
	top, topErr := time.ParseDuration(high)
	if !both || err != nil || topErr != nil || base <= 0 || top < base {
		return workqueue.Backoff{}, fmt.Errorf("--backoff must be two times such as 10ms..1000s, not %q", value)
	}
	return workqueue.Backoff{Base: base, Max: top}, nil
}

// parseLoop reads RUNS/TIME, or 0.
func parseLoop(value string) (engine.Loop, error) {
	if value == "0" {
		return engine.Loop{}, nil
	}
	runs, window, both := strings.Cut(value, "/")
	n, err := strconv.Atoi(runs)
	d, windowErr := time.ParseDuration(window)
	if !both || err != nil || windowErr != nil || n < 1 || n > 1000 || d <= 0 {
		return engine.Loop{}, fmt.Errorf("--hot-loop must be runs and a time such as 10/10s, or 0, not %q", value)
	}
	return engine.Loop{Runs: n, Window: d}, nil
}

// parseOn reads the types of changes.
func parseOn(words []string) (map[watch.EventType]bool, error) {
	if len(words) == 0 {
		return nil, fmt.Errorf("--on must be of %s, not empty", strings.Join(onWords, ","))
	}
	on := map[watch.EventType]bool{}
	for _, word := range words {
		i := slices.Index(onWords, word)
		if i < 0 {
			return nil, fmt.Errorf("--on must be of %s, not %q", strings.Join(onWords, ","), word)
		}
		on[onTypes[i]] = true
	}
	return on, nil
}
