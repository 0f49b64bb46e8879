package process

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// patience is how long a test waits before it fails.
const patience = 30 * time.Second

func init() {
	roles["echo"] = func() { _, _ = io.Copy(os.Stdout, os.Stdin) }
	roles["fail"] = func() { os.Exit(3) }
	roles["deaf"] = func() {} // it reads nothing
	roles["endless"] = func() { time.Sleep(time.Hour) }
}

func TestInputAndOutputPassThrough(t *testing.T) {
	var out bytes.Buffer
	s := program("echo")
	s.Stdin, s.Stdout = strings.NewReader("hello\n"), &out
	p, err := Start(s)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(t.Context(), time.Second); err != nil || out.String() != "hello\n" {
		t.Errorf("Wait: %v, output %q", err, &out)
	}
}

func TestTheExitCodeIsTold(t *testing.T) {
	p, err := Start(program("fail"))
	if err != nil {
		t.Fatal(err)
	}
	err = p.Wait(t.Context(), time.Second)
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 3 {
		t.Errorf("Wait: %v; want exit code 3", err)
	}
}

func TestAProgramThatDoesNotReadItsInputIsNoError(t *testing.T) {
	s := program("deaf")
	s.Stdin = strings.NewReader(strings.Repeat("x", 1<<20)) // more than a pipe holds
	p, err := Start(s)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(t.Context(), time.Second); err != nil {
		t.Errorf("Wait: %v", err)
	}
}

func TestWhatCannotBeStartedLeavesNothing(t *testing.T) {
	if _, err := Start(Spec{Path: os.Args[0] + "-is-not-there"}); err == nil {
		t.Error("started")
	}
}

var errEnough = errors.New("enough")

func TestTheEndOfTheContextEndsTheProgram(t *testing.T) {
	p, err := Start(program("endless"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errEnough)
	if err := p.Wait(ctx, time.Second); err != errEnough {
		t.Errorf("Wait: %v; want the cause", err)
	}
	select {
	case <-p.Ended():
	default:
		t.Error("the program goes on")
	}
}

// lifeline is where programs connect to that a test wants to see the end of.
type lifeline struct {
	t        *testing.T
	listener net.Listener
}

const lifelineVariable = "HARK_PROCESS_TEST_LIFELINE"

func newLifeline(t *testing.T) *lifeline {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	return &lifeline{t, listener}
}

func (l *lifeline) env() string { return lifelineVariable + "=" + l.listener.Addr().String() }

// grab waits until a program holds the line; let go, it has ended.
func (l *lifeline) grab() net.Conn {
	l.t.Helper()
	_ = l.listener.(*net.TCPListener).SetDeadline(time.Now().Add(patience))
	conn, err := l.listener.Accept()
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { _ = conn.Close() })
	if _, err := io.ReadFull(conn, make([]byte, 1)); err != nil {
		l.t.Fatal(err)
	}
	return conn
}

// expectEnd waits until the program on the line has ended.
func expectEnd(t *testing.T, conn net.Conn) {
	t.Helper()
	_ = conn.SetReadDeadline(time.Now().Add(patience))
	_, err := conn.Read(make([]byte, 1))
	if timeout, ok := errors.AsType[net.Error](err); err == nil || ok && timeout.Timeout() {
		t.Error("it goes on")
	}
}

// hold holds the line until the program ends. The connection must not be collected.
var held net.Conn

func hold() {
	conn, err := net.Dial("tcp", os.Getenv(lifelineVariable))
	if err != nil {
		os.Exit(9)
	}
	held = conn
	_, _ = conn.Write([]byte("x"))
}
