// Command bench compares Hark with client-go, side by side: see docs/perf.md.
//
// It runs from the directory of its module. Each line on its standard output is
// one row; lines that begin with "#" tell what is being done.
package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

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
		signal.Ignore(os.Interrupt) // the measuring process ends it
		return serve.Main(os.Stdin, os.Stdout, pods)
	case len(args) == 2 && args[0] == "side":
		signal.Ignore(os.Interrupt)
		return sides.Main(args[1], os.Stdin, os.Stdout)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends it at once
	o, err := parse(args)
	if err != nil {
		return err
	}
	outcome, err := measure(ctx, o)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx) // whatever else it looked like
	}
	if err != nil || o.doc == "" {
		return err
	}
	return write(outcome, o.doc)
}

func measure(ctx context.Context, o *options) (*rows.Outcome, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	r := &rows.Runner{Program: program, Profiles: o.profiles, Sides: o.sides, Log: os.Stderr}
	if err := r.Start(); err != nil {
		return nil, err
	}
	outcome, err := r.All(ctx, o.scale, o.rows, os.Stdout)
	if closed := r.Close(); err == nil {
		err = closed
	}
	if err == nil && len(outcome.Lines)+len(outcome.Limits) == 0 {
		err = errors.New("-rows and -sides together leave nothing to measure")
	}
	return outcome, err
}

// write puts what was measured into the document, and the plots into a directory
// of the document's name.
func write(outcome *rows.Outcome, doc string) error {
	text := table(outcome)
	if err := report.ReplaceFile(doc, text); err != nil {
		fmt.Fprintln(os.Stderr, text) // it took long to measure
		return err
	}
	if len(outcome.Plots) == 0 {
		return nil
	}
	dir := plotsOf(doc)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, plot := range outcome.Plots {
		if err := report.WriteFile(filepath.Join(dir, name+".svg"), plot.SVG()); err != nil {
			return err
		}
	}
	return nil
}

func plotsOf(doc string) string { return strings.TrimSuffix(doc, filepath.Ext(doc)) }

// table is what the document says.
func table(outcome *rows.Outcome) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s, %s/%s, %d CPUs.\n\n%s\n```\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), report.Table(outcome.Lines))
	for _, limit := range outcome.Limits {
		fmt.Fprintln(&text, limit)
	}
	text.WriteString("```\n")
	return text.String()
}
