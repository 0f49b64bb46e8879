package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gocampus/hark/internal/text"
)

// newHelp is "hark help COMMAND".
func newHelp(s *session) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: s.say(text.HelpShort),
		RunE: func(cmd *cobra.Command, args []string) error {
			target, rest, err := cmd.Root().Find(args)
			if err == nil && len(rest) > 0 {
				err = s.knownCommand(cmd.Root(), rest)
			}
			if err != nil {
				return err
			}
			return target.Help()
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			return commandNames(cmd.Root(), args), cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// commandNames are the commands to choose from, as long as none is chosen.
func commandNames(root *cobra.Command, chosen []string) []string {
	if len(chosen) > 0 {
		return nil
	}
	var names []string
	for _, command := range root.Commands() {
		if command.IsAvailableCommand() {
			names = append(names, command.Name()+"\t"+command.Short)
		}
	}
	return names
}

// help writes the help of a command to standard output.
func (s *session) help(cmd *cobra.Command) {
	var page strings.Builder
	about := cmd.Long
	if about == "" {
		about = cmd.Short
	}
	fmt.Fprintf(&page, "%s\n\n%s\n  %s\n", about, s.say(text.HelpUsage), useLine(cmd))
	if cmd.Example != "" {
		fmt.Fprintf(&page, "\n%s\n%s\n", s.say(text.HelpExamples), indent(cmd.Example))
	}
	s.commandHelp(&page, cmd)
	s.flagHelp(&page, cmd)
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&page, "\n%s\n", s.say(text.HelpMore, "command", cmd.CommandPath()))
	}
	_, _ = fmt.Fprint(cmd.OutOrStdout(), page.String()) // output remembers the error
}

func useLine(cmd *cobra.Command) string {
	switch {
	case !cmd.HasAvailableSubCommands():
		return cmd.UseLine()
	case cmd.HasParent() && cmd.Runnable(): // hark record TYPE, hark record show
		return cmd.UseLine() + "\n  " + cmd.CommandPath() + " COMMAND"
	}
	return cmd.CommandPath() + " COMMAND"
}

func indent(block string) string {
	return "  " + strings.ReplaceAll(block, "\n", "\n  ")
}

func (s *session) commandHelp(page *strings.Builder, cmd *cobra.Command) {
	if !cmd.HasAvailableSubCommands() {
		return
	}
	fmt.Fprintf(page, "\n%s\n", s.say(text.HelpCommands))
	var rows [][2]string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() || sub.Name() == "help" {
			rows = append(rows, [2]string{sub.Name(), sub.Short})
		}
	}
	table(page, rows)
}

// flagHelp lists the flags: those of the command, then those of the connection.
func (s *session) flagHelp(page *strings.Builder, cmd *cobra.Command) {
	var own, connection [][2]string
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		switch {
		case flag.Hidden:
		case flag.Annotations[connectionFlag] != nil:
			connection = append(connection, s.flagRow(cmd, flag))
		default:
			own = append(own, s.flagRow(cmd, flag))
		}
	})
	fmt.Fprintf(page, "\n%s\n", s.say(text.HelpFlags))
	table(page, own)
	if len(connection) > 0 {
		fmt.Fprintf(page, "\n%s\n", s.say(text.HelpConnect))
		table(page, connection)
	}
}

// flagValues are the words for what a flag takes; others take a VALUE, or
// nothing when they are switches.
var flagValues = map[string]string{
	"output": "text|json|yaml|name", "lang": "en|zh", "color": "auto|always|never",
	"for": "DURATION", "selector": "SEL", "field-selector": "SEL", "namespace": "NS",
	"kubeconfig": "PATH", "context": "NAME", "cluster": "NAME", "user": "NAME",
	"cache-dir": "PATH", "client-certificate": "PATH", "client-key": "PATH",
	"certificate-authority": "PATH", "request-timeout": "DURATION",
	"server": "URL", "proxy-url": "URL",
	"record": "FILE", "redact": "PATH", "rotate": "SIZE", "keep": "N", "speed": "1|10|max", "from": "TIME", "to": "TIME",
	"workers": "N", "timeout": "DURATION", "max-tries": "N", "backoff": "MIN..MAX", "resync": "DURATION",
	"debounce": "DURATION", "fair-by": "namespace", "on": "add,update,delete", "when": "EXPR", "state": "PATH",
	"grace": "DURATION", "field-manager": "NAME", "hot-loop": "RUNS/TIME",
	"addr": "HOST:PORT", "kubeconfig-out": "PATH", "load": "PATH",
}

func (s *session) flagRow(cmd *cobra.Command, flag *pflag.Flag) [2]string {
	left := "    --" + flag.Name
	if flag.Shorthand != "" {
		left = "-" + flag.Shorthand + ", --" + flag.Name
	}
	switch value, named := flagValues[flag.Name]; {
	case flag.Annotations[valueWords] != nil:
		left += " " + flag.Annotations[valueWords][0]
	case flag.Value.Type() == "bool":
	case named:
		left += " " + value
	default:
		left += " VALUE"
	}
	about := flag.Usage
	if m, ok := flagText(cmd, flag); ok {
		about = s.say(m)
	}
	switch flag.DefValue {
	case "", "false", "0", "0s", "[]":
	default:
		if flag.Name != "cache-dir" { // a path of this machine
			about += " " + s.say(text.HelpDefault, "value", flag.DefValue)
		}
	}
	return [2]string{left, about}
}

// flagText says what a flag does: to this command, where that is another thing
// than to others.
func flagText(cmd *cobra.Command, flag *pflag.Flag) (text.Message, bool) {
	if m, ok := text.Flag(cmd.Name() + " " + flag.Name); ok {
		return m, true
	}
	return text.Flag(flag.Name)
}

// Annotations of flags.
const (
	connectionFlag = "hark_connection"
	valueWords     = "hark_values" // takes the place of flagValues
)

// table writes rows of two columns.
func table(page *strings.Builder, rows [][2]string) {
	width := 0
	for _, row := range rows {
		width = max(width, text.Width(row[0]))
	}
	for _, row := range rows {
		fmt.Fprintf(page, "  %s   %s\n", text.Pad(row[0], width), row[1])
	}
}
