//go:build unix

package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gocampus/hark/harktest"
)

// programVariable is the role of the programs that a hark in a process of its own
// runs.
const programVariable = "HARK_TEST_PROGRAM"

// lifelineVariable is where a program connects to whose end a test wants to see.
const lifelineVariable = "HARK_TEST_LIFELINE"

func init() {
	roles["hark"] = func() { // the whole command, with signals
		_ = os.Setenv(childVariable, os.Getenv(programVariable))
		ctx, stop := Interruptible(context.Background())
		code := Main(ctx, Process{Args: os.Args, In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: func(string) string { return "" }})
		stop()
		os.Exit(code)
	}
	roles["deaf"] = func() { // to TERM, and so is its child
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT)
		if len(os.Args) == 1 {
			child := exec.Command(os.Args[0], "child")
			child.Stdout = os.Stdout
			_ = child.Start()
		}
		conn, err := net.Dial("tcp", os.Getenv(lifelineVariable))
		if err != nil {
			os.Exit(9)
		}
		_, _ = conn.Write([]byte("x"))
		for {
			time.Sleep(time.Hour)
			_, _ = conn.Write(nil)
		}
	}
	roles["patient"] = func() { // finishes when somebody lets go of the line
		conn, err := net.Dial("tcp", os.Getenv(lifelineVariable))
		if err != nil {
			os.Exit(9)
		}
		_, _ = conn.Write([]byte("x"))
		_, _ = io.Copy(io.Discard, conn)
		fmt.Println("finished")
	}
}

// separate is a hark in a process of its own.
type separate struct {
	t        *testing.T
	cmd      *exec.Cmd
	listener *net.TCPListener
	out, err *transcript
}

func (c *cluster) separate(role string, args ...string) *separate {
	c.t.Helper()
	listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = listener.Close() })
	all := append([]string{"run", "--kubeconfig", c.kubeconfig, "configmaps"}, args...)
	s := &separate{t: c.t, listener: listener, cmd: exec.CommandContext(c.t.Context(), os.Args[0], append(all, "--", os.Args[0])...), out: newTranscript(), err: newTranscript()}
	s.cmd.Env = append(os.Environ(), childVariable+"=hark", programVariable+"="+role, lifelineVariable+"="+listener.Addr().String())
	s.cmd.Stdout, s.cmd.Stderr = s.out, s.err
	if err := s.cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	return s
}

// line waits until a program holds the line.
func (s *separate) line() net.Conn {
	s.t.Helper()
	_ = s.listener.SetDeadline(time.Now().Add(patience))
	conn, err := s.listener.Accept()
	if err != nil {
		s.t.Fatal(err)
	}
	if _, err := io.ReadFull(conn, make([]byte, 1)); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// says waits for a text on standard error.
func (s *separate) says(want string) {
	s.t.Helper()
	for limit := time.After(patience); ; {
		said, changed := s.err.now()
		if strings.Contains(said, want) {
			return
		}
		select {
		case <-changed:
		case <-limit:
			s.t.Fatalf("no %q on stderr:\n%s", want, said)
		}
	}
}

// expectGone waits until the program on a line has ended.
func expectGone(t *testing.T, conn net.Conn) {
	t.Helper()
	_ = conn.SetReadDeadline(time.Now().Add(patience))
	if _, err := bufio.NewReader(conn).ReadByte(); err == nil || os.IsTimeout(err) {
		t.Errorf("the program goes on: %v", err)
	}
}

func TestOneInterruptLetsRunsFinish(t *testing.T) {
	c := newCluster(t, harktest.Options{})
	c.createConfigMap("a", "1")
	hark := c.separate("patient")
	line := hark.line()
	signalTo(t, hark.cmd, os.Interrupt)
	hark.says("Ending: no further object is taken, runs under way may go on for 30s; Ctrl+C again kills them\n")
	_ = line.Close()
	if err := hark.cmd.Wait(); err != nil {
		t.Errorf("hark ended with %v\n%s", err, hark.err)
	}
	if !strings.Contains(hark.out.String(), "| finished\n") || !strings.Contains(hark.err.String(), "1 run: 1 done, 0 tried again, 0 parked, 0 broken off\n") {
		t.Errorf("stdout %s\nstderr %s", hark.out, hark.err)
	}
}

func TestASecondInterruptKillsProgramsAndAllTheyStarted(t *testing.T) {
	c := newCluster(t, harktest.Options{})
	c.createConfigMap("a", "1")
	hark := c.separate("deaf")
	first, second := hark.line(), hark.line()
	signalTo(t, hark.cmd, os.Interrupt)
	signalTo(t, hark.cmd, syscall.SIGTERM) // of one kind the system keeps one at a time
	if code := exitCode(t, hark.cmd.Wait()); code != exitInterrupted {
		t.Errorf("exit %d; want %d\n%s", code, exitInterrupted, hark.err)
	}
	expectGone(t, first)
	expectGone(t, second)
}
