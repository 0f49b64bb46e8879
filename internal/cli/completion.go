package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/gocampus/hark/internal/text"
)

// shells are those that there is a completion script for.
var shells = []string{"bash", "zsh", "fish", "powershell"}

// newCompletion is "hark completion SHELL".
func newCompletion(s *session) *cobra.Command {
	return &cobra.Command{
		Use:       "completion bash|zsh|fish|powershell",
		Short:     s.say(text.CompletionShort),
		Long:      s.say(text.CompletionLong),
		Example:   s.say(text.CompletionExamples, "command", s.command),
		ValidArgs: shells,
		Args:      s.oneShell,
		RunE: func(cmd *cobra.Command, args []string) error {
			return writeCompletion(cmd.Root(), args[0])
		},
	}
}

func (s *session) oneShell(cmd *cobra.Command, args []string) error {
	if len(args) == 1 && slices.Contains(shells, args[0]) {
		return nil
	}
	return usageError(s.say(text.BadShell), s.tryHelp(cmd))
}

func writeCompletion(root *cobra.Command, shell string) error {
	out := root.OutOrStdout()
	switch shell {
	case "bash":
		return writeBashCompletion(root, out)
	case "zsh":
		return root.GenZshCompletion(out)
	case "fish":
		return root.GenFishCompletion(out, true)
	}
	return root.GenPowerShellCompletionWithDesc(out)
}

// annotate marks a flag for help.
func annotate(cmd *cobra.Command, flag, annotation, value string) {
	if err := cmd.Flags().SetAnnotation(flag, annotation, []string{value}); err != nil {
		panic(err) // the flag is defined a line above
	}
}

// completeWords completes the value of a flag from a fixed list.
func completeWords(cmd *cobra.Command, flag string, words ...string) {
	completeFlag(cmd, flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return words, cobra.ShellCompDirectiveNoFileComp
	})
}

func completeFlag(cmd *cobra.Command, flag string, complete cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, complete); err != nil {
		panic(err) // the flag is defined a line above
	}
}
