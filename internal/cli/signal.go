package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/gocampus/hark/internal/cli/process"
)

// errInterrupted is the cause of a context that a signal ended.
var errInterrupted = errors.New("interrupted")

// Interruptible returns a context that the first Ctrl+C (or SIGTERM, or the end
// of the terminal) ends. A second one ends the process at once with code 130, and
// with it the programs that "hark run" runs.
// stop gives the signals back.
//
// The end of the terminal stays ignored where the parent process had ignored it:
// nohup means it. (An interrupt does not: shells ignore it for the background
// jobs of a script, which a later kill -INT is to end.) A write to a closed pipe
// returns an error instead of a signal, so that temporary files are removed.
func Interruptible(parent context.Context) (ctx context.Context, stop func()) {
	signal.Ignore(syscall.SIGPIPE)
	ctx, cancel := context.WithCancelCause(parent)
	received := make(chan os.Signal, 2)
	signal.Notify(received, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(received, syscall.SIGHUP)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for range received {
			if ctx.Err() != nil {
				process.KillAll()
				os.Exit(exitInterrupted)
			}
			cancel(errInterrupted)
		}
	}()
	return ctx, func() {
		signal.Stop(received)
		close(received)
		<-ended
		cancel(nil)
	}
}
