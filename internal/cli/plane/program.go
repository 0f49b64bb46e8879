package plane

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"
)

const (
	program = "hark-cluster"
	module  = "github.com/gocampus/hark"
	// buildGrace is how long an interrupted build may take to remove its
	// temporary files.
	buildGrace = 5 * time.Second
)

// Available returns ErrNoProgram where Start has nothing to start: before somebody
// is told to be patient.
func Available() error {
	for _, name := range []string{program, "go"} {
		if _, err := exec.LookPath(name); err == nil {
			return nil
		}
	}
	return ErrNoProgram
}

// find returns the path of the program, which it builds in dir where it is not
// installed.
func find(ctx context.Context, o Options, dir string) (string, error) {
	if path, err := exec.LookPath(program); err == nil {
		return path, nil
	}
	compiler, err := exec.LookPath("go")
	if err != nil {
		return "", ErrNoProgram
	}
	if err := build(ctx, o, compiler, dir); err != nil {
		return "", err
	}
	path := filepath.Join(dir, program)
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	return path, nil
}

// build has the go command build the program. It is not "go run", which would
// stand between this process and the program: it passes on neither signals nor
// the end.
func build(ctx context.Context, o Options, compiler, dir string) error {
	c := newChild(compiler, buildArgs(o.Dir)...)
	c.cmd.Env = append(os.Environ(), "GOBIN="+dir, "GOWORK=off")
	c.tell = o.Progress
	if err := c.start(); err != nil {
		return err
	}
	select {
	case <-c.done:
	case <-ctx.Done():
		c.end(buildGrace)
		return context.Cause(ctx)
	}
	if c.err != nil {
		return c.ended()
	}
	return nil
}

// buildArgs are the arguments of the go command that installs the program.
func buildArgs(dir string) []string {
	if root := checkout(dir); root != "" {
		return []string{"-C", filepath.Join(root, "cluster"), "install", "./cmd/" + program}
	}
	return []string{"install", module + "/cluster/cmd/" + program + "@latest"}
}

// checkout returns the root of the checkout that a directory is in, or "". The
// empty directory is the working directory.
func checkout(dir string) string {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	for {
		if isModule(dir, module) && isModule(filepath.Join(dir, "cluster"), module+"/cluster") {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}

// isModule tells whether a directory has a go.mod of that module.
func isModule(dir, path string) bool {
	content, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return false
	}
	for line := range bytes.Lines(content) {
		if fields := bytes.Fields(line); len(fields) == 2 && string(fields[0]) == "module" {
			return string(fields[1]) == path
		}
	}
	return false
}
