// Command hark-cluster builds and runs a real control plane on this machine: see
// package cluster.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/gocampus/hark/cluster"
)

// Exit statuses, those of the hark command.
const (
	exitOK    = 0
	exitError = 1
	exitUsage = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status := program{stdout: os.Stdout, stderr: os.Stderr, text: detect(os.Getenv)}.run(ctx, os.Args[1:])
	stop()
	os.Exit(status)
}

// program is the command with what it is connected to.
type program struct {
	stdout, stderr io.Writer
	text           catalogue
}

// run does what the arguments say and returns the exit status.
func (p program) run(ctx context.Context, args []string) int {
	if len(args) == 0 {
		fmt.Fprint(p.stderr, p.text.usage)
		return exitUsage
	}
	switch args[0] {
	case "up":
		return p.up(ctx, args[1:])
	case "build":
		return p.build(ctx, args[1:])
	case "path":
		return p.path(args[1:])
	case "help", "-h", "-help", "--help":
		fmt.Fprint(p.stdout, p.text.usage)
		return exitOK
	}
	fmt.Fprintf(p.stderr, p.text.unknown, args[0])
	return exitUsage
}

// build builds the binaries and prints their directory.
func (p program) build(ctx context.Context, args []string) int {
	if len(args) > 0 {
		fmt.Fprintf(p.stderr, p.text.unknown, args[0])
		return exitUsage
	}
	dir, err := cluster.Build(ctx, cluster.BuildOptions{Progress: p.stderr})
	if err != nil {
		return p.fail(err)
	}
	fmt.Fprintln(p.stdout, dir)
	return exitOK
}

// path prints the directory of the binaries, there or not.
func (p program) path(args []string) int {
	if len(args) > 0 {
		fmt.Fprintf(p.stderr, p.text.unknown, args[0])
		return exitUsage
	}
	dir, err := cluster.BuildOptions{}.BinDir()
	if err != nil {
		return p.fail(err)
	}
	fmt.Fprintln(p.stdout, dir)
	return exitOK
}

// upFlags are the flags of up.
type upFlags struct {
	kubeconfig string
	options    cluster.Options
}

// parse reads the flags of up. What is wrong with them is printed.
func (p program) parse(args []string) (upFlags, error) {
	var f upFlags
	set := flag.NewFlagSet("up", flag.ContinueOnError)
	set.SetOutput(p.stderr)
	set.Usage = func() { fmt.Fprint(p.stderr, p.text.usage) }
	set.StringVar(&f.kubeconfig, "kubeconfig-out", "", "")
	set.StringVar(&f.options.LogDir, "log-dir", "", "")
	nodes := set.Int("nodes", 1, "")
	gates := set.String("feature-gates", "", "")
	if err := set.Parse(args); err != nil {
		return f, err
	}
	if set.NArg() > 0 {
		fmt.Fprintf(p.stderr, p.text.unknown, set.Arg(0))
		return f, errors.New("unexpected argument")
	}
	var err error
	if f.options.FeatureGates, err = cluster.ParseFeatureGates(*gates); err != nil {
		fmt.Fprintln(p.stderr, err)
		return f, err
	}
	if f.options.Nodes = *nodes; *nodes == 0 {
		f.options.Nodes = -1 // 0 asks for the default
	}
	f.options.Build.Progress = p.stderr
	return f, nil
}

// up runs a control plane until ctx or the control plane ends.
func (p program) up(ctx context.Context, args []string) int {
	f, err := p.parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	if err != nil {
		return exitUsage
	}
	if f.kubeconfig != "" {
		if f.kubeconfig, err = filepath.Abs(f.kubeconfig); err != nil { // it is for other terminals
			return p.fail(err)
		}
		if err := mayReplace(f.kubeconfig); err != nil {
			return p.fail(err)
		}
	}
	c, err := cluster.New(ctx, f.options)
	if err != nil {
		if ctx.Err() != nil {
			return exitOK // interrupted: nothing is left
		}
		return p.fail(err)
	}
	return p.serve(ctx, c, f.kubeconfig)
}

// serve says how to use the control plane and waits for its end.
func (p program) serve(ctx context.Context, c *cluster.Cluster, kubeconfig string) (status int) {
	defer func() {
		if err := c.Close(); err != nil {
			status = p.fail(err)
		}
	}()
	file := c.KubeconfigPath()
	if kubeconfig != "" {
		if err := c.WriteKubeconfig(kubeconfig); err != nil {
			return p.fail(err)
		}
		defer os.Remove(kubeconfig) // it leads nowhere afterwards
		file = kubeconfig
	}
	fmt.Fprintf(p.stderr, p.text.up, c.URL(), cluster.BuiltVersions().Kubernetes, c.LogDir())
	fmt.Fprintf(p.stdout, "export KUBECONFIG=%s\n", quote(file))
	fmt.Fprint(p.stderr, p.text.use)
	select {
	case <-ctx.Done():
		fmt.Fprint(p.stderr, p.text.down)
		return exitOK
	case <-c.Done():
		return p.fail(c.Err())
	}
}

func (p program) fail(err error) int {
	fmt.Fprintln(p.stderr, err)
	return exitError
}

// mayReplace refuses to write over a kubeconfig that is not of this command: a user's
// own has other contexts.
func mayReplace(path string) error {
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	config, err := clientcmd.Load(data)
	if err == nil && len(config.Contexts) == 1 && config.Contexts[cluster.ContextName] != nil {
		return nil
	}
	return fmt.Errorf("%s: exists and was not written by hark-cluster", path)
}
