package rows

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/gocampus/hark/bench/internal/report"
	"github.com/gocampus/hark/bench/internal/serve"
)

// startPods is how many pods there are to show.
const startPods = 20

// start measures the time from the start of a tool to its first line.
func (r *Runner) start(ctx context.Context, s Scale) (_ report.Line, err error) {
	dir, err := os.MkdirTemp("", "hark-bench-")
	if err != nil {
		return report.Line{}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	programs, err := r.buildTools(ctx, dir)
	if err != nil {
		return report.Line{}, err
	}
	server, err := serve.Start(exec.Command(r.Program, "serve"))
	if err != nil {
		return report.Line{}, err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	ctx, stop := server.While(ctx)
	defer stop()
	if err := server.Hold(startPods); err != nil {
		return report.Line{}, err
	}
	config := filepath.Join(dir, "config")
	if err := os.WriteFile(config, kubeconfig(server.URL), 0o600); err != nil {
		return report.Line{}, err
	}
	measured := samples{clientGo: {}, hark: {}}
	order := slices.Sorted(maps.Keys(programs))
	for round := range s.Starts + 1 {
		for _, side := range order {
			took, err := firstLine(ctx, append([]string{programs[side]}, tools[side].args...), dir, config)
			if err != nil {
				return report.Line{}, fmt.Errorf("start: %s: %w", programs[side], err)
			}
			if round > 0 { // the first one fills what a tool keeps on disk
				measured[side]["start"] = append(measured[side]["start"], took.Seconds())
			}
		}
		slices.Reverse(order)
	}
	return row{name: "start", work: "hark watch pods against kubectl get pods -w, start to first line", measure: "start", unit: report.Seconds, goal: atLeast(1.5)}.line(measured), nil
}

// tool is a program that watches pods.
type tool struct {
	name string
	pkg  string // what it is built from
	args []string
}

// tools are the programs that are compared, by side.
var tools = map[string]tool{
	clientGo: {"kubectl", "github.com/gocampus/hark/bench/cmd/kubectl", []string{"get", "pods", "-w"}},
	hark:     {"hark", "github.com/gocampus/hark/cmd/hark", []string{"watch", "pods"}},
}

// moduleRoot is where Hark's sources are.
func moduleRoot(ctx context.Context) (string, error) {
	root, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/gocampus/hark").Output()
	if err != nil {
		return "", fmt.Errorf("start: the tools are built from the sources, so run it in the directory bench, or choose other -rows: go list: %w", err)
	}
	return string(bytes.TrimSpace(root)), nil
}

// buildTools builds those that are not left out into dir, and returns their paths by side.
// Each is built with the versions of its own go.mod: hark in its module's directory.
func (r *Runner) buildTools(ctx context.Context, dir string) (map[string]string, error) {
	root, err := moduleRoot(ctx)
	if err != nil {
		return nil, err
	}
	programs := map[string]string{}
	for side, tool := range tools {
		if r.leftOut(side) {
			continue
		}
		programs[side] = filepath.Join(dir, tool.name)
		command := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", programs[side], tool.pkg)
		if side == hark {
			command.Dir = root
		}
		command.Cancel = func() error { return command.Process.Signal(os.Interrupt) } // it ends the compilers
		if out, err := command.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("start: %s: %w\n%s", command, err, out)
		}
	}
	return programs, nil
}

func kubeconfig(url string) []byte {
	return fmt.Appendf(nil, `apiVersion: v1
kind: Config
current-context: bench
contexts: [{name: bench, context: {cluster: bench, user: bench, namespace: default}}]
clusters: [{name: bench, cluster: {server: %q}}]
users: [{name: bench, user: {token: bench}}]
`, url)
}

// firstLine starts a tool and ends it after its first line.
func firstLine(ctx context.Context, args []string, home, config string) (time.Duration, error) {
	command := exec.CommandContext(ctx, args[0], args[1:]...)
	command.Env = append(os.Environ(), "HOME="+home, "KUBECONFIG="+config)
	out, err := command.StdoutPipe()
	if err != nil {
		return 0, err
	}
	var said bytes.Buffer
	command.Stderr = &said
	began := time.Now()
	if err := command.Start(); err != nil {
		return 0, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	took := time.Since(began)
	_ = command.Process.Kill()
	_ = command.Wait() // it was killed
	if cause := context.Cause(ctx); cause != nil {
		return 0, cause
	}
	if err != nil {
		return 0, fmt.Errorf("%q, %w: %s", line, err, said.String())
	}
	return took, nil
}
