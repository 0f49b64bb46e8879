package rows

import (
	"context"
	"fmt"
	"io"
	"regexp"

	"github.com/gocampus/hark/bench/internal/report"
)

// Outcome is all that was measured.
type Outcome struct {
	Lines  []report.Line
	Limits []Limit
	Plots  map[string]report.Plot // by file name, without its ending
}

// AllSides are the names of the sides.
var AllSides = []string{clientGo, clientGoStripped, controllerRuntime, hark, harkCompact, harkDefault, bare}

// Groups are the names of the groups of rows: the studies, and what is not read off
// one of them.
func (s Scale) Groups() []string {
	var names []string
	for _, st := range s.studies() {
		names = append(names, st.name)
	}
	return append(names, "mixed", "start", "growth", "limits")
}

// All measures the groups of rows whose names match, and prints each line to out
// as soon as it is known. When ctx ends its cause is returned.
func (r *Runner) All(ctx context.Context, s Scale, match *regexp.Regexp, out io.Writer) (*Outcome, error) {
	if match.MatchString("start") { // before the rest of the work is done for nothing
		if _, err := moduleRoot(ctx); err != nil {
			return nil, err
		}
	}
	all := &Outcome{}
	tell := func(lines ...report.Line) {
		for _, l := range lines {
			fmt.Fprintln(out, l)
		}
		all.Lines = append(all.Lines, lines...)
	}
	for _, st := range s.studies() {
		if !match.MatchString(st.name) {
			continue
		}
		measured, err := r.run(ctx, st)
		if err != nil {
			return nil, err
		}
		for _, w := range st.rows {
			tell(w.line(measured))
		}
	}
	return all, r.others(ctx, s, match, out, all, tell)
}

// others measures what is not read off one study.
func (r *Runner) others(ctx context.Context, s Scale, match *regexp.Regexp, out io.Writer, all *Outcome, tell func(...report.Line)) error {
	if match.MatchString("mixed") {
		lines, err := r.mixed(ctx, s)
		if err != nil {
			return err
		}
		tell(lines...)
	}
	if match.MatchString("start") {
		line, err := r.start(ctx, s)
		if err != nil {
			return err
		}
		tell(line)
	}
	if match.MatchString("growth") {
		lines, plots, err := r.growth(ctx, s)
		if err != nil {
			return err
		}
		tell(lines...)
		all.Plots = plots
	}
	if match.MatchString("limits") {
		limits, err := r.limits(ctx, s)
		if err != nil {
			return err
		}
		for _, l := range limits {
			fmt.Fprintln(out, l)
		}
		all.Limits = limits
	}
	return nil
}
