package cluster

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// BuildError is the error of a build in which the go command failed.
type BuildError struct {
	Binary string // what was being built, such as "kube-apiserver"
	Output string // the last lines that the go command printed
	Err    error  // how it ended
}

// Error names the binary and shows the go command's last lines.
func (e *BuildError) Error() string {
	s := fmt.Sprintf("cluster: building %s: %v", e.Binary, e.Err)
	if e.Output != "" {
		s += "\n" + indent(e.Output)
	}
	return s
}

// Unwrap returns how the go command ended.
func (e *BuildError) Unwrap() error { return e.Err }

// goCommand runs the go command for the recipes.
type goCommand struct {
	path string // "" is "go"
}

// interruptGrace is how long an interrupted go command may take to remove its
// temporary files.
const interruptGrace = 5 * time.Second

// run runs the go command in dir and passes each line that it prints to line. It
// returns a *BuildError; when ctx ended the run, that wraps ctx's cause.
func (g goCommand) run(ctx context.Context, dir, binary string, args []string, line func(string)) error {
	tail := newTail(tailLines)
	lines := &lineWriter{line: func(s string) {
		if !isPackageLine(s) {
			tail.add(s)
		}
		line(s)
	}}
	cmd := g.command(ctx, dir, args)
	cmd.Stdout, cmd.Stderr = lines, lines
	return g.finish(ctx, cmd, binary, func() string { lines.flush(); return tail.String() })
}

// output runs the go command in dir and returns what it prints, without space
// around it.
func (g goCommand) output(ctx context.Context, dir, binary string, args ...string) (string, error) {
	var stdout, stderr bytes.Buffer
	cmd := g.command(ctx, dir, args)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := g.finish(ctx, cmd, binary, stderr.String)
	return strings.TrimSpace(stdout.String()), err
}

// finish runs cmd to its end.
func (g goCommand) finish(ctx context.Context, cmd *exec.Cmd, binary string, output func() string) error {
	err := runTied(cmd)
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	} else if errors.Is(err, exec.ErrNotFound) {
		err = fmt.Errorf("the go command is needed once, to build: %w", err)
	}
	return &BuildError{Binary: binary, Output: output(), Err: err}
}

func (g goCommand) command(ctx context.Context, dir string, args []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, cmp.Or(g.path, "go"), args...)
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), buildEnv()...)
	// The go command answers an interrupt by removing its temporary directory; the
	// compilers that it runs just end.
	tie(cmd, syscall.SIGINT)
	cmd.Cancel = func() error { return signalGroup(cmd.Process, syscall.SIGINT) }
	cmd.WaitDelay = interruptGrace
	return cmd
}

// buildEnv shuts out the settings around the caller that would change the binaries
// or the module graph; where modules come from stays as the user has it. GOFLAGS is
// not empty, since an empty one gives way to the user's configuration file.
func buildEnv() []string {
	return []string{
		"GOFLAGS=-mod=readonly", "GOWORK=off", "GO111MODULE=on", "CGO_ENABLED=0",
		"GOOS=" + runtime.GOOS, "GOARCH=" + runtime.GOARCH,
	}
}

// isPackageLine tells the package names that go build -v prints from everything else.
func isPackageLine(line string) bool {
	return line != "" && !strings.ContainsAny(line, " \t:#")
}
