package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gocampus/hark/internal/text"
)

// newRoot builds the tree of commands for one session.
func newRoot(s *session) *cobra.Command {
	root := &cobra.Command{
		Use:           "hark",
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: s.command},
		Short:         s.say(text.RootShort),
		Long:          s.say(text.RootLong),
		SilenceErrors: true, // finish reports them
		SilenceUsage:  true,
		Args:          s.knownCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },

		SuggestionsMinimumDistance: 2,
	}
	root.CompletionOptions.DisableDefaultCmd = true // completion.go has our own
	root.PersistentFlags().BoolP("help", "h", false, "")
	root.PersistentFlags().String("lang", "", "")
	completeWords(root, "lang", string(text.English), string(text.Chinese))
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		s.asked = cmd.CommandPath()
		return s.checkLang(cmd)
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usageError(err.Error(), s.tryHelp(cmd))
	})
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { s.help(cmd) })
	root.AddCommand(newWatch(s), newRun(s), newRecord(s), newReplay(s), newDemo(s), newAPIServer(s), newVersion(s), newCompletion(s))
	root.SetHelpCommand(newHelp(s))
	return root
}

// knownCommand refuses arguments of the root: they are commands that do not exist.
func (s *session) knownCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	message := fmt.Sprintf("unknown command %q for %q", args[0], s.command)
	if alike := root.SuggestionsFor(args[0]); len(alike) > 0 {
		return usageError(message, s.command+" "+alike[0])
	}
	return usageError(message, s.tryHelp(root))
}

// checkLang refuses a --lang that is no language: the flag was read before it
// could be parsed, see newSession.
func (s *session) checkLang(cmd *cobra.Command) error {
	flag := cmd.Flags().Lookup("lang")
	if flag == nil || !flag.Changed {
		return nil
	}
	value := flag.Value.String()
	if _, err := text.ParseLang(value); err != nil {
		return usageError(s.say(text.BadLang, "value", fmt.Sprintf("%q", value)), s.tryHelp(cmd))
	}
	return nil
}

// noArguments refuses arguments of a command that takes none.
func (s *session) noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	message := s.say(text.TooMany, "command", cmd.CommandPath(), "value", strings.Join(args, " "))
	return usageError(message, s.tryHelp(cmd))
}
