package rows

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
	programs, err := buildTools(ctx, dir)
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
	for round := range s.Starts + 1 {
		for side, args := range map[string][]string{clientGo: {programs.kubectl, "get", "pods", "-w"}, hark: {programs.hark, "watch", "pods"}} {
			if r.leftOut(side) {
				continue
			}
			took, err := firstLine(ctx, args, dir, config)
			if err != nil {
				return report.Line{}, fmt.Errorf("start: %s: %w", args[0], err)
			}
			if round > 0 { // the first one fills what a tool keeps on disk
				measured[side]["start"] = append(measured[side]["start"], took.Seconds())
			}
		}
	}
	return row{name: "start", work: "hark watch pods against kubectl get pods -w, start to first line", measure: "start", unit: report.Seconds, goal: atLeast(1.5)}.line(measured), nil
}

// tools are the programs that are compared.
type tools struct{ hark, kubectl string }

// moduleRoot is where Hark's sources are.
func moduleRoot(ctx context.Context) (string, error) {
	root, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/gocampus/hark").Output()
	if err != nil {
		return "", fmt.Errorf("start: the tools are built from the sources, so run it in the directory bench, or choose other -rows: go list: %w", err)
	}
	return string(bytes.TrimSpace(root)), nil
}

// buildTools builds them into dir, from this module's sources and go.mod.
func buildTools(ctx context.Context, dir string) (tools, error) {
	t := tools{hark: filepath.Join(dir, "hark"), kubectl: filepath.Join(dir, "kubectl")}
	root, err := moduleRoot(ctx)
	if err != nil {
		return t, err
	}
	for _, build := range [][]string{
		{"-C", root, "-o", t.hark, "./cmd/hark"},
		{"-o", t.kubectl, "github.com/gocampus/hark/bench/cmd/kubectl"},
	} {
		// -C must be the first flag.
		if build[0] == "-C" {
			build = append([]string{"build", build[0], build[1], "-trimpath"}, build[2:]...)
		} else {
			build = append([]string{"build", "-trimpath"}, build...)
		}
		command := exec.CommandContext(ctx, "go", build...)
		command.Cancel = func() error { return command.Process.Signal(os.Interrupt) } // it ends the compilers
		if out, err := command.CombinedOutput(); err != nil {
			return t, fmt.Errorf("start: go %s: %w\n%s", build, err, out)
		}
	}
	return t, nil
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
