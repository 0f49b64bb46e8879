package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/gocampus/hark/bench/internal/report"
	"github.com/gocampus/hark/bench/internal/rows"
)

// options are what the arguments ask for. All that can be seen to be wrong with them is
// an error before anything is measured.
type options struct {
	scale         rows.Scale
	rows          *regexp.Regexp
	sides         *regexp.Regexp // nil for all
	profiles, doc string
}

// parse reads the arguments. It exits on an unknown flag, as flag does.
func parse(args []string) (*options, error) {
	flags := flag.NewFlagSet("bench", flag.ExitOnError)
	quick := flags.Bool("quick", false, "fewer objects and rounds: under 3 minutes")
	match := flags.String("rows", "", "measure only the groups of rows that match this regular expression")
	only := flags.String("sides", "", "run only the sides that match this regular expression, such as ^hark; there is no ratio to others")
	profiles := flags.String("profiles", "", "write profiles, of CPU and of the live heap, into this directory, which is made if need be")
	doc := flags.String("doc", "", "write the table, of all that was measured and no more, into this document, and the plots beside it")
	_ = flags.Parse(args) // it exits on errors
	if flags.NArg() > 0 {
		return nil, fmt.Errorf("unknown argument %q; -help shows the flags", flags.Arg(0))
	}
	o := &options{scale: rows.Full, profiles: *profiles, doc: *doc}
	if *quick {
		o.scale = rows.Quick
	}
	var err error
	if o.rows, err = pattern("rows", *match, o.scale.Groups()); err != nil {
		return nil, err
	}
	if *only != "" {
		if o.sides, err = pattern("sides", *only, rows.AllSides); err != nil {
			return nil, err
		}
	}
	return o, o.prepare()
}

// pattern compiles the value of a flag, which has to match one of the names.
func pattern(flag, value string, names []string) (*regexp.Regexp, error) {
	p, err := regexp.Compile(value)
	if err != nil {
		return nil, fmt.Errorf("-%s: %w", flag, err)
	}
	if !slices.ContainsFunc(names, p.MatchString) {
		return nil, fmt.Errorf("-%s: %q matches none of %s", flag, value, strings.Join(names, ", "))
	}
	return p, nil
}

// prepare sees to it that the results can be written.
func (o *options) prepare() error {
	if o.profiles != "" {
		if err := os.MkdirAll(o.profiles, 0o755); err != nil {
			return fmt.Errorf("-profiles: %w", err)
		}
	}
	if o.doc == "" {
		return nil
	}
	if filepath.Ext(o.doc) == "" {
		return fmt.Errorf("-doc: %s has no ending such as .md; the plots are for a directory of its name without that", o.doc)
	}
	if err := report.CheckFile(o.doc); err != nil {
		return fmt.Errorf("-doc: %w", err)
	}
	return nil
}
