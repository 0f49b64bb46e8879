//go:build unix

package process

import (
	"context"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
	"time"
)

func init() {
	roles["stubborn"] = func() { // ignores TERM
		signal.Ignore(syscall.SIGTERM)
		hold()
		time.Sleep(time.Hour)
	}
	roles["parent"] = func() { // of a stubborn one; ends at TERM itself
		_ = stubbornChild().Wait()
	}
	roles["leaver"] = func() { // ends before its child, which holds the output open
		_ = stubbornChild()
		waitForTurn()
	}
	roles["polite"] = func() { // says that it was asked
		asked := make(chan os.Signal, 1)
		signal.Notify(asked, syscall.SIGTERM)
		hold()
		<-asked
		_, _ = os.Stdout.WriteString("asked\n")
	}
	roles["mover"] = func() { // goes over to the group of its parent
		to, err := syscall.Getpgid(syscall.Getppid())
		if err != nil || syscall.Setpgid(0, to) != nil {
			os.Exit(8)
		}
		hold()
		time.Sleep(time.Hour)
	}
	roles["owner"] = func() { // a program that is killed itself, with a child of Start
		if _, err := Start(program("stubborn")); err != nil {
			os.Exit(8)
		}
		waitForTurn()
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
	roles["killer"] = func() {
		if _, err := Start(program("parent")); err != nil {
			os.Exit(8)
		}
		waitForTurn()
		KillAll()
	}
}

// waitForTurn waits until the test lets the program go on.
func waitForTurn() { _, _ = os.Stdin.Read(make([]byte, 1)) }

func stubbornChild() *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"=stubborn")
	cmd.Stdout = os.Stdout
	if err := cmd.Start(); err != nil {
		os.Exit(8)
	}
	return cmd
}

func start(t *testing.T, s Spec) *Process {
	t.Helper()
	p, err := Start(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.End(0) })
	return p
}

func ended() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

func TestGrandchildrenThatIgnoreTermAreKilled(t *testing.T) {
	line := newLifeline(t)
	var out safeBuffer
	s := program("parent", line.env())
	s.Stdout = &out
	p := start(t, s)
	grandchild := line.grab()
	_ = p.Wait(ended(), 50*time.Millisecond)
	expectEnd(t, grandchild)
}

func TestAProgramThatHasLeftItsGroupIsEnded(t *testing.T) {
	line := newLifeline(t)
	p := start(t, program("mover", line.env()))
	moved := line.grab()
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	go p.End(patience)
	expectEnd(t, moved)
}

func TestAProgramIsAskedBeforeItIsKilled(t *testing.T) {
	line := newLifeline(t)
	var out safeBuffer
	s := program("polite", line.env())
	s.Stdout = &out
	p := start(t, s)
	line.grab()
	_ = p.Wait(ended(), patience)
	if p.Err() != nil || out.String() != "asked\n" {
		t.Errorf("it ended with %v and said %q; want that it was asked", p.Err(), out.String())
	}
}

func TestWhatAProgramLeavesBehindIsEnded(t *testing.T) {
	line := newLifeline(t)
	turn, going, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer turn.Close()
	var out safeBuffer
	s := program("leaver", line.env())
	s.Stdin, s.Stdout = turn, &out
	p := start(t, s)
	grandchild := line.grab()
	_ = going.Close()
	if err := p.Wait(t.Context(), patience); err != nil {
		t.Errorf("Wait: %v; want the program's own end, which was good", err)
	}
	expectEnd(t, grandchild)
}

// playOn lets a program that waits for its turn go on, and waits for it.
func playOn(t *testing.T, role string, line *lifeline, meanwhile func()) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"="+role, line.env())
	going, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	meanwhile()
	_ = going.Close()
	_ = cmd.Wait()
}

func TestKillAllKillsEveryGroup(t *testing.T) {
	line := newLifeline(t)
	playOn(t, "killer", line, func() {
		grandchild := line.grab()
		t.Cleanup(func() { expectEnd(t, grandchild) })
	})
}
