// Command hark listens to a Kubernetes cluster. Installed under the name
// kubectl-hark it is a plugin of kubectl.
package main

import (
	"context"
	"os"

	"github.com/gocampus/hark/internal/cli"
)

func main() {
	ctx, stop := cli.Interruptible(context.Background())
	code := cli.Main(ctx, cli.Process{
		Args: os.Args, In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv,
	})
	stop()
	os.Exit(code)
}
