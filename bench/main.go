// Command bench compares Hark with client-go, side by side: see docs/perf.md.
package main

import (
	_ "embed"
	"fmt"
	"os"

	"github.com/gocampus/hark/bench/internal/serve"
	"github.com/gocampus/hark/bench/internal/sides"
)

//go:embed testdata/pods.ndjson
var pods []byte

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run is what this program does by the name of its first argument: the serving
// process, one side of a comparison, or all of them.
func run(args []string) error {
	switch {
	case len(args) == 1 && args[0] == "serve":
		return serve.Main(os.Stdin, os.Stdout, pods)
	case len(args) == 2 && args[0] == "side":
		return sides.Main(args[1], os.Stdout)
	}
	return nil
}
