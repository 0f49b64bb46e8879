package cli

import (
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/gocampus/hark/internal/text"
)

// isTerminal tells whether a stream is a terminal.
func isTerminal(stream io.Writer) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

var colorModes = []string{"auto", "always", "never"}

// addColorFlag adds --color to a command.
func addColorFlag(cmd *cobra.Command) *string {
	mode := cmd.Flags().String("color", "auto", "")
	completeWords(cmd, "color", colorModes...)
	return mode
}

// colored tells whether standard output is to be coloured. Without --color it
// is on a terminal, unless NO_COLOR (https://no-color.org) or TERM=dumb say no.
func (s *session) colored(cmd *cobra.Command, mode string) (bool, error) {
	if !slices.Contains(colorModes, mode) {
		return false, usageError(s.say(text.BadColor, "value", fmt.Sprintf("%q", mode)), s.tryHelp(cmd))
	}
	return wantsColor(mode, isTerminal(s.Out), s.Getenv), nil
}

func wantsColor(mode string, terminal bool, getenv func(string) string) bool {
	if mode != "auto" {
		return mode == "always"
	}
	return terminal && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
}
