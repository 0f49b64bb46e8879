package rows

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/gocampus/hark/bench/internal/report"
	"github.com/gocampus/hark/bench/internal/serve"
	"github.com/gocampus/hark/bench/internal/sides"
)

// Runner runs jobs, each in a process of its own.
type Runner struct {
	// Program is this program's file.
	Program string
	// Profiles is the directory for profiles of each study's first round, one a measure of
	// CPU or heap; "" makes none.
	Profiles string
	// Sides, if set, leaves out the sides whose names do not match: rows that
	// compare with them have no ratio.
	Sides *regexp.Regexp
	// Log says what is being done.
	Log io.Writer

	server *serve.Server
}

// Start starts the server that all jobs are done against; Close ends it.
func (r *Runner) Start() error {
	var err error
	r.server, err = serve.Start(exec.Command(r.Program, "serve"))
	return err
}

// Close ends the server.
func (r *Runner) Close() error { return r.server.Close() }

// samples of one study: what each side measured, by name, round by round.
type samples map[string]map[string][]float64

func (s samples) median(side, name string) float64 { return report.Median(s[side][name]) }

// add adds what a side has measured in one round.
func (s samples) add(side string, result sides.Result) {
	if s[side] == nil {
		s[side] = map[string][]float64{}
	}
	for name, value := range result {
		s[side][name] = append(s[side][name], value)
	}
}

// run runs a study: its sides in turn, every other round backwards.
func (r *Runner) run(ctx context.Context, s study) (samples, error) {
	all := samples{}
	return all, r.runInto(ctx, all, s)
}

// leftOut tells whether a side is not to be measured.
func (r *Runner) leftOut(side string) bool { return r.Sides != nil && !r.Sides.MatchString(side) }

// runInto is run that adds to what was measured before.
func (r *Runner) runInto(ctx context.Context, all samples, s study) error {
	order := slices.DeleteFunc(slices.Clone(s.sides), r.leftOut)
	for round := range s.rounds {
		for _, side := range order {
			job := s.job
			job.Side = side
			if r.Profiles != "" && round == 0 {
				job.Profile = filepath.Join(r.Profiles, s.name+"."+side)
			}
			began := time.Now()
			result, err := r.do(ctx, job)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", s.name, side, err)
			}
			fmt.Fprintf(r.Log, "# %s round %d %s: %.1fs\n", s.name, round+1, side, time.Since(began).Seconds())
			all.add(side, result)
		}
		slices.Reverse(order)
	}
	return nil
}

// do runs one job. Its process ends with ctx, with the server and with this one.
func (r *Runner) do(ctx context.Context, job sides.Job) (sides.Result, error) {
	ctx, stop := r.server.While(ctx)
	defer stop()
	job.URL = r.server.URL
	if job.Set != "" {
		var err error
		if job.Last, err = r.server.Feed(serve.Spec{Set: job.Set, Objects: job.Objects, Changes: job.Warm + job.Changes, Warm: job.Warm}); err != nil {
			return nil, err
		}
	}
	argument, err := json.Marshal(job)
	if err != nil {
		return nil, err
	}
	command := exec.CommandContext(ctx, r.Program, "side", string(argument))
	command.Stderr = os.Stderr
	if _, err := command.StdinPipe(); err != nil { // closed with this process
		return nil, err
	}
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, cmp.Or(context.Cause(ctx), err)
	}
	result, err := r.listen(out, job)
	cause := context.Cause(ctx)
	if err != nil && !errors.Is(err, errSilent) {
		stop() // the process may go on for ever
	}
	ended := command.Wait()
	switch {
	case cause != nil:
		return nil, cause
	case err != nil:
		return nil, fmt.Errorf("%w (%s%s)", err, command.ProcessState, hint(ended))
	}
	return result, ended
}

// errSilent is the error of a side that has ended without a result; what it says of the
// reason is on this program's standard error.
var errSilent = errors.New("the process ended without a result")

// hint says what may be behind the end of a process.
func hint(ended error) string {
	if exit, ok := errors.AsType[*exec.ExitError](ended); ok && exit.ExitCode() < 0 {
		return "; where memory is short, try -quick, or some rows or sides only"
	}
	return ""
}

// listen reads what a side says, and lets the changes happen when it is ready.
func (r *Runner) listen(out io.Reader, job sides.Job) (sides.Result, error) {
	released := 0
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if lines.Text() == sides.Ready {
			if released < job.Warm {
				released = job.Warm
			} else {
				released = job.Warm + job.Changes
			}
			if err := r.server.Release(released); err != nil {
				return nil, err
			}
			continue
		}
		var result sides.Result
		return result, json.Unmarshal(lines.Bytes(), &result)
	}
	return nil, errors.Join(errSilent, lines.Err())
}
