// Command bench compares Hark with client-go, side by side: see docs/perf.md.
//
// It runs from the directory of its module. Each line on its standard output is
// one row; lines that begin with "#" tell what is being done.
package main

import (
	_ "embed"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"github.com/gocampus/hark/bench/internal/report"
	"github.com/gocampus/hark/bench/internal/rows"
	"github.com/gocampus/hark/bench/internal/serve"
	"github.com/gocampus/hark/bench/internal/sides"
)

//go:embed testdata/pods.ndjson
var pods []byte

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run is what this program does by the name of its first argument: the serving
// process, one side of a comparison, or all of them.
func run(args []string) error {
	switch {
	case len(args) == 1 && args[0] == "serve":
		return serve.Main(os.Stdin, os.Stdout, pods)
	case len(args) == 2 && args[0] == "side":
		return sides.Main(args[1], os.Stdout)
	}
	flags := flag.NewFlagSet("bench", flag.ExitOnError)
	quick := flags.Bool("quick", false, "fewer objects and rounds: under 3 minutes")
	match := flags.String("rows", "", "measure only the groups of rows that match this regular expression")
	only := flags.String("sides", "", "run only the sides that match this regular expression, such as ^hark; there is no ratio to others")
	profiles := flags.String("profiles", "", "write CPU profiles into this directory")
	doc := flags.String("doc", "", "write the table into this document, and the plots beside it")
	_ = flags.Parse(args) // it exits on errors
	pattern, err := regexp.Compile(*match)
	if err != nil {
		return err
	}
	scale := rows.Full
	if *quick {
		scale = rows.Quick
	}
	r := &rows.Runner{Profiles: *profiles, Log: os.Stderr}
	if *only != "" {
		if r.Sides, err = regexp.Compile(*only); err != nil {
			return err
		}
	}
	outcome, err := measure(r, scale, pattern)
	if err != nil || *doc == "" {
		return err
	}
	return write(outcome, *doc)
}

func measure(r *rows.Runner, scale rows.Scale, match *regexp.Regexp) (*rows.Outcome, error) {
	var err error
	if r.Program, err = os.Executable(); err != nil {
		return nil, err
	}
	if err := r.Start(); err != nil {
		return nil, err
	}
	outcome, err := r.All(scale, match, os.Stdout)
	if closed := r.Close(); err == nil {
		err = closed
	}
	return outcome, err
}

// write puts what was measured into the document, and the plots into a directory
// of the document's name.
func write(outcome *rows.Outcome, doc string) error {
	dir := strings.TrimSuffix(doc, filepath.Ext(doc))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, plot := range outcome.Plots {
		if err := os.WriteFile(filepath.Join(dir, name+".svg"), plot.SVG(), 0o644); err != nil {
			return err
		}
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s, %s/%s, %d CPUs.\n\n%s\n```\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), report.Table(outcome.Lines))
	for _, limit := range outcome.Limits {
		fmt.Fprintln(&text, limit)
	}
	text.WriteString("```\n")
	return report.ReplaceFile(doc, text.String())
}
