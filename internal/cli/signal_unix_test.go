//go:build unix

package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
)

func init() {
	roles["stubborn"] = stubborn
	roles["writer"] = func() { os.Exit(writer()) }
}

// stubborn is a program that does not end at the first signal.
func stubborn() {
	ctx, stop := Interruptible(context.Background())
	defer stop()
	fmt.Println("ready, SIGHUP ignored:", signal.Ignored(syscall.SIGHUP))
	<-ctx.Done()
	fmt.Println("asked to end:", context.Cause(ctx))
	select {}
}

// writer writes until somebody closes its output, then tells by its exit code
// whether it could clean up.
func writer() int {
	ctx, stop := Interruptible(context.Background())
	defer stop()
	for ctx.Err() == nil {
		if _, err := fmt.Println("line"); err != nil {
			if readerGone(err) {
				return 7
			}
			return 8
		}
	}
	return 9
}

// child starts the test binary as a program and reads its output. A signal that
// is handled here is back to its default there, even where whoever runs the tests
// ignores it (nohup).
func child(t *testing.T, role string, command ...string) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	handled := make(chan os.Signal, 1)
	signal.Notify(handled, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(handled) })
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Env = append(os.Environ(), childVariable+"="+role)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewReader(out)
}

func expectLine(t *testing.T, r *bufio.Reader, want string) {
	t.Helper()
	if line, err := r.ReadString('\n'); line != want+"\n" {
		t.Fatalf("read %q, %v; want %q", line, err, want)
	}
}

func signalTo(t *testing.T, cmd *exec.Cmd, sig os.Signal) {
	t.Helper()
	if err := cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
}

func exitCode(t *testing.T, err error) int {
	t.Helper()
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		t.Fatalf("the program ended with %v", err)
	}
	return exit.ExitCode()
}

func TestASecondInterruptEndsAtOnceWith130(t *testing.T) {
	cmd, out := child(t, "stubborn", os.Args[0])
	expectLine(t, out, "ready, SIGHUP ignored: false")
	signalTo(t, cmd, os.Interrupt)
	expectLine(t, out, "asked to end: interrupted")
	signalTo(t, cmd, os.Interrupt)
	if code := exitCode(t, cmd.Wait()); code != exitInterrupted {
		t.Errorf("exit %d; want %d", code, exitInterrupted)
	}
}

func TestTerminationIsAnInterruptToo(t *testing.T) {
	for _, sig := range []os.Signal{syscall.SIGTERM, syscall.SIGHUP} {
		cmd, out := child(t, "stubborn", os.Args[0])
		expectLine(t, out, "ready, SIGHUP ignored: false")
		signalTo(t, cmd, sig)
		expectLine(t, out, "asked to end: interrupted")
		signalTo(t, cmd, os.Interrupt)
		_ = cmd.Wait()
	}
}

func TestTheEndOfTheTerminalIsIgnoredUnderNohup(t *testing.T) {
	cmd, out := child(t, "stubborn", "sh", "-c", `trap '' HUP INT; exec "$0"`, os.Args[0])
	expectLine(t, out, "ready, SIGHUP ignored: true")
	signalTo(t, cmd, syscall.SIGHUP)
	signalTo(t, cmd, os.Interrupt)
	expectLine(t, out, "asked to end: interrupted")
	signalTo(t, cmd, os.Interrupt)
	_ = cmd.Wait()
}

func TestAClosedPipeIsAnErrorAndNoSignal(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"=writer")
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = write
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = write.Close()
	if _, err := io.ReadFull(read, make([]byte, 5)); err != nil {
		t.Fatal(err)
	}
	_ = read.Close()
	if code := exitCode(t, cmd.Wait()); code != 7 {
		t.Errorf("exit %d; want 7: cleaned up after the reader went away", code)
	}
}
