package cli

import (
	"github.com/spf13/cobra"

	"github.com/gocampus/hark/internal/cli/demo"
	"github.com/gocampus/hark/internal/text"
)

// newDemo is "hark demo".
func newDemo(s *session) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "demo [flags]",
		Short:   s.say(text.DemoShort),
		Long:    s.say(text.DemoLong),
		Example: s.say(text.DemoExamples, "command", s.command),
		Args:    s.noArguments,
	}
	limit, color := addForFlag(cmd), addColorFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		colored, err := s.colored(cmd, *color)
		if err != nil {
			return err
		}
		ctx, cancel, err := s.limited(cmd, *limit)
		if err != nil {
			return err
		}
		defer cancel()
		return s.ended(ctx, demo.Run(ctx, demo.Options{Out: s.out, Lang: s.lang, Color: colored, Pause: s.hooks.pause, For: *limit}))
	}
	return cmd
}
