//go:build unix

package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

func init() {
	roles["interruptible hark"] = func() {
		ctx, stop := Interruptible(context.Background())
		code := Main(ctx, Process{Args: os.Args, In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv})
		stop()
		os.Exit(code)
	}
}

func TestASignalEndsTheServerAndItsFile(t *testing.T) {
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		cmd, out := child(t, "interruptible hark", os.Args[0], "apiserver", "-o", "json", "--story")
		line, err := out.ReadBytes('\n')
		if err != nil {
			t.Fatal(err)
		}
		var ready readyServer
		if err := json.Unmarshal(line, &ready); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		if !exists(t, ready.Kubeconfig) {
			t.Errorf("it says that it is ready without %s", ready.Kubeconfig)
		}
		signalTo(t, cmd, sig)
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v: %v; want exit 0", sig, err)
		}
		if exists(t, ready.Kubeconfig) {
			t.Errorf("%v: %s is left", sig, ready.Kubeconfig)
		}
	}
}

func TestAServerInAPipeEndsWithItsReader(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0], "apiserver", "-o", "json")
	cmd.Env = append(os.Environ(), childVariable+"=interruptible hark")
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = write
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = write.Close()
	line, err := bufio.NewReader(read).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	_ = read.Close()
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v after %s; want exit 0", err, line)
	}
}
