package cli

import (
	"cmp"
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/gocampus/hark/internal/redact"
	"github.com/gocampus/hark/internal/text"
)

// recordFlags say how to record. A command of its own has -o, others --record.
type recordFlags struct {
	path, rotate string
	redact       []string
	keep         int
	own          bool // -o, which is needed

	maxSize int64 // of rotate; set by check
}

// addRecordFlag adds --record to a command that does something else with what it is
// told, and what goes with it.
func addRecordFlag(cmd *cobra.Command) *recordFlags {
	f := &recordFlags{}
	cmd.Flags().StringVar(&f.path, "record", "", "")
	completePaths(cmd, "record")
	f.add(cmd)
	return f
}

func (f *recordFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVar(&f.redact, "redact", nil, "")
	flags.StringVar(&f.rotate, "rotate", "", "")
	flags.IntVar(&f.keep, "keep", 0, "")
}

// newRecord is "hark record".
func newRecord(s *session) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "record -o FILE TYPE[,TYPE...] [NAME...] [flags]",
		Short:   s.say(text.RecordShort),
		Long:    s.say(text.RecordLong),
		Example: s.say(text.RecordExamples, "command", s.command),

		DisableFlagsInUseLine: true,
	}
	f := &recordFlags{own: true}
	w := &watchFlags{connection: newConnection(s, cmd), limit: addForFlag(cmd), recording: f}
	flags := cmd.Flags()
	flags.StringVarP(&f.path, "output", "o", "", "")
	f.add(cmd)
	flags.BoolVarP(&w.allNamespaces, "all-namespaces", "A", false, "")
	flags.StringVarP(&w.selector, "selector", "l", "", "")
	flags.StringVar(&w.fieldSelector, "field-selector", "", "")
	flags.BoolVar(&w.wait, "wait", false, "")
	flags.BoolVar(&w.noWait, "no-wait", false, "")
	flags.BoolVar(&w.managedFields, "show-managed-fields", false, "")
	annotate(cmd, "output", valueWords, "FILE|-")
	completePaths(cmd, "output")
	w.addCompletions(cmd)
	cmd.AddCommand(newRecordShow(s))
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return s.record(cmd, w, args) }
	return cmd
}

// record checks what was typed, then records until it is told to end.
func (s *session) record(cmd *cobra.Command, w *watchFlags, args []string) error {
	targets, err := w.targets(args)
	if err != nil {
		return usageError(err.Error(), s.tryHelp(cmd))
	}
	if err := w.recording.check(s, cmd); err != nil {
		return err
	}
	ctx, cancel, err := s.limited(cmd, *w.limit)
	if err != nil {
		return err
	}
	defer cancel()
	plan := &watchPlan{session: s, flags: w, targets: targets, recording: w.recording, recordOnly: true}
	return s.ended(ctx, plan.run(ctx))
}

// check refuses flags that do not go together.
func (f *recordFlags) check(s *session, cmd *cobra.Command) error {
	wrong := func(m text.Message, pairs ...string) error {
		return usageError(s.say(m, pairs...), s.tryHelp(cmd))
	}
	for _, name := range [...]string{"redact", "rotate", "keep"} {
		if !f.own && f.path == "" && cmd.Flags().Changed(name) {
			return wrong(text.OnlyWithRecord, "flag", name)
		}
	}
	if f.own && f.path != "" && isOutput(f.path, s.Out) {
		f.path = standardOutput // such as /dev/stdout, which opened anew would begin at its first byte
	}
	switch {
	case f.path == "" && f.own:
		return wrong(text.NeedsFile)
	case f.path == standardOutput && !f.own:
		return wrong(text.StdoutTaken)
	case !f.own && f.path != "" && isOutput(f.path, s.Out, s.Err):
		return wrong(text.OutputTaken, "command", s.command, "flag", "record", "file", f.path)
	case f.own && f.path != standardOutput && isOutput(f.path, s.Err), f.own && f.path == standardOutput && oneStream(s.Out, s.Err):
		return wrong(text.OutputTaken, "command", s.command, "flag", "output", "file", f.path)
	case f.path == standardOutput && isTerminal(s.Out):
		return wrong(text.NotOnTerminal)
	case f.path == standardOutput && f.rotate != "":
		return wrong(text.OnlyFiles)
	case f.keep < 0 || f.keep > 0 && f.rotate == "":
		return wrong(text.BadKeep)
	}
	for _, path := range f.redact {
		if _, err := redact.ParsePath(path); err != nil {
			return usageError("--redact: "+err.Error(), s.tryHelp(cmd))
		}
	}
	if f.rotate == "" {
		return nil
	}
	var err error
	if f.maxSize, err = parseSize(f.rotate); err != nil {
		return wrong(text.BadSize, "value", f.rotate)
	}
	return nil
}

// standardOutput is the name of standard output where a file is expected.
const standardOutput = "-"

// parseSize reads 100M, 100MB, 64Mi, 1G, and K like k.
func parseSize(value string) (int64, error) {
	value = strings.TrimSuffix(value, "B")
	if thousands, ok := strings.CutSuffix(value, "K"); ok {
		value = thousands + "k" // a quantity knows no other
	}
	quantity, err := resource.ParseQuantity(value)
	if err != nil {
		return 0, err
	}
	size, ok := quantity.AsInt64()
	if !ok || size <= 0 {
		return 0, errors.New("a size is above 0")
	}
	return size, nil
}

// said is the file as messages name it.
func (f *recordFlags) said(s *session) string {
	if f.path == standardOutput {
		return "stdout"
	}
	return shellWord(cmp.Or(f.path, "-"))
}
