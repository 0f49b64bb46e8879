package rows

import (
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

// All measures the groups of rows whose names match, and prints each line to out
// as soon as it is known. The groups are the studies by name, mixed, growth,
// limits and start.
func (r *Runner) All(s Scale, match *regexp.Regexp, out io.Writer) (*Outcome, error) {
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
		measured, err := r.run(st)
		if err != nil {
			return nil, err
		}
		for _, w := range st.rows {
			tell(w.line(measured))
		}
	}
	return all, r.others(s, match, out, all, tell)
}

// others measures what is not read off one study.
func (r *Runner) others(s Scale, match *regexp.Regexp, out io.Writer, all *Outcome, tell func(...report.Line)) error {
	if match.MatchString("mixed") {
		lines, err := r.mixed(s)
		if err != nil {
			return err
		}
		tell(lines...)
	}
	if match.MatchString("start") {
		line, err := r.start(s)
		if err != nil {
			return err
		}
		tell(line)
	}
	if match.MatchString("growth") {
		lines, plots, err := r.growth(s)
		if err != nil {
			return err
		}
		tell(lines...)
		all.Plots = plots
	}
	if match.MatchString("limits") {
		limits, err := r.limits(s)
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
