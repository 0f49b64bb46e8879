package hook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"time"

	"github.com/gocampus/hark/internal/cli/process"
)

// Exit codes that mean more than a failure.
const (
	exitAgain = 75
	exitPark  = 100
)

// ExitError is the error of a run whose program failed.
type ExitError struct {
	// Code it exited with; -1 when a signal ended it, which Err names.
	Code int
	// Said is the last line that it wrote to stderr, or "".
	Said string
	Err  error
}

// Error implements error.
func (e *ExitError) Error() string {
	how := e.Err.Error()
	if e.Code >= 0 {
		how = fmt.Sprintf("exit code %d", e.Code)
	}
	if e.Said != "" {
		how += ": " + e.Said
	}
	return how
}

// Unwrap returns the system's error.
func (e *ExitError) Unwrap() error { return e.Err }

// Output takes what programs write, whole lines at a time. Its methods must be
// safe for concurrent use; a slow one slows the program.
type Output interface {
	// Pass passes on a block of whole lines, each with its line end, that the
	// program wrote to stdout, or to stderr, while it was asked r.
	Pass(r *Request, stderr bool, lines []byte)
}

// Once starts a program for each request. It is safe for concurrent use.
type Once struct {
	Command Command
	Output  Output
	// KillAfter is how long a program that is asked to end has for it; 0 or less
	// means process.DefaultKillAfter.
	KillAfter time.Duration
}

// Run implements engine.Program: it starts the program and waits for its end.
// When ctx ends the program and all that it started are ended, and the error is
// the cause of ctx.
func (o *Once) Run(ctx context.Context, r *Request) (Result, error) {
	request, err := r.line()
	if err != nil {
		return Result{}, err
	}
	stdout := &lines{pass: func(block []byte) { o.Output.Pass(r, false, block) }, holds: isResult}
	stderr := &lines{pass: func(block []byte) { o.Output.Pass(r, true, block) }, remembers: true}
	p, err := process.Start(process.Spec{
		Path: o.Command.Path, Args: o.Command.For(r.Key), Env: slices.Concat(o.Command.Env, r.environment()),
		Stdin: bytes.NewReader(request), Stdout: stdout, Stderr: stderr,
	})
	if err != nil {
		return Result{}, err
	}
	err = p.Wait(ctx, killAfter(o.KillAfter))
	stderr.close()
	last := stdout.close()
	return outcome(err, last, stderr.last)
}

func killAfter(d time.Duration) time.Duration {
	if d <= 0 {
		return process.DefaultKillAfter
	}
	return d
}

// isResult tells whether a line has to be held back until it is known whether it
// is the last one.
func isResult(line []byte) bool {
	a, ok := parseAnswer(line)
	return ok && a.isResult()
}

// outcome reads how a program ended. last is its result, if it wrote one.
func outcome(err error, last []byte, said string) (Result, error) {
	a, _ := parseAnswer(last)
	exit, exited := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil:
		return a.outcome()
	case !exited:
		return Result{}, err
	}
	failed := &ExitError{Code: exit.ExitCode(), Said: said, Err: err}
	switch {
	case failed.Code == exitAgain:
		return Result{}, ErrAgain
	case failed.Code == exitPark && a.Park != nil && *a.Park != "":
		return a.outcome()
	case failed.Code == exitPark:
		return Result{}, &ParkError{failed.Error()}
	}
	return Result{}, failed
}
