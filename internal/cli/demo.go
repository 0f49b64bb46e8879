package cli

import (
	"time"

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
	f := &demoFlags{limit: addForFlag(cmd), color: addColorFlag(cmd)}
	cmd.Flags().BoolVar(&f.cluster, "cluster", false, "")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return s.demo(cmd, f) }
	return cmd
}

// demoFlags are the flags of "hark demo".
type demoFlags struct {
	limit   *time.Duration
	color   *string
	cluster bool
}

// demo plays until it is told to end.
func (s *session) demo(cmd *cobra.Command, f *demoFlags) error {
	colored, err := s.colored(cmd, *f.color)
	if err != nil {
		return err
	}
	options := demo.Options{Out: s.out, Lang: s.lang, Color: colored, Pause: s.hooks.pause, For: *f.limit}
	if f.cluster {
		return s.clusterDemo(cmd, options)
	}
	ctx, cancel, err := s.limited(cmd, *f.limit)
	if err != nil {
		return err
	}
	defer cancel()
	return s.ended(ctx, demo.Run(ctx, options))
}
