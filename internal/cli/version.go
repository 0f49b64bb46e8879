package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/gocampus/hark/internal/text"
)

// versionSchema names the document of version -o json.
const versionSchema = "hark.version/v1"

// build is what is known of how this program was built.
type build struct {
	Schema   string `json:"schema"`
	Version  string `json:"version"` // of the module; "devel" outside of a release
	Commit   string `json:"commit,omitempty"`
	Date     string `json:"date,omitempty"` // of the commit
	Modified bool   `json:"modified"`       // built from a changed work tree
	Go       string `json:"go"`
	Platform string `json:"platform"`
	ClientGo string `json:"clientGo,omitempty"`
}

func newVersion(s *session) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "version [flags]",
		Short: s.say(text.VersionShort),
		Args:  s.noArguments,
	}
	format := cmd.Flags().StringP("output", "o", "text", "")
	annotate(cmd, "output", valueWords, "text|json")
	completeWords(cmd, "output", "text", "json")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		info, _ := debug.ReadBuildInfo()
		return s.printVersion(cmd, *format, buildOf(info))
	}
	return cmd
}

func (s *session) printVersion(cmd *cobra.Command, format string, b build) error {
	switch format {
	case "json":
		return writeJSON(s.out, b)
	case "text":
		_, err := fmt.Fprintln(s.out, b)
		return err
	}
	return s.badOutput(cmd, format)
}

// badOutput refuses an output format of a command that has text and json.
func (s *session) badOutput(cmd *cobra.Command, format string) error {
	message := fmt.Sprintf("unable to match a printer suitable for the output format %q, allowed formats are: text,json", format)
	return usageError(message, s.tryHelp(cmd))
}

func writeJSON(w io.Writer, document any) error {
	line, err := json.Marshal(document)
	if err != nil {
		return err
	}
	_, err = w.Write(append(line, '\n'))
	return err
}

// String writes the build on one line.
func (b build) String() string {
	line := fmt.Sprintf("hark %s (%s, %s", b.Version, b.Go, b.Platform)
	if len(b.Commit) >= 12 {
		line += ", commit " + b.Commit[:12]
		if b.Modified {
			line += "+changes"
		}
	}
	return line + ")"
}

// buildOf reads what the Go tool has written into the program.
func buildOf(info *debug.BuildInfo) build {
	b := build{
		Schema: versionSchema, Version: "devel", Go: runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
	if info == nil {
		return b
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		b.Version = v
	}
	for _, dep := range info.Deps {
		if dep.Path == "k8s.io/client-go" {
			b.ClientGo = dep.Version
		}
	}
	for _, setting := range info.Settings {
		switch setting.Key {
		case "vcs.revision":
			b.Commit = setting.Value
		case "vcs.time":
			b.Date = setting.Value
		case "vcs.modified":
			b.Modified = setting.Value == "true"
		}
	}
	return b
}
