//go:build unix

package cluster

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"go.uber.org/goleak"
)

// TestMain lets the test binary play other roles too: processes that tests start and
// kill.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "role" {
		os.Exit(roles[os.Args[2]](os.Args[3:]))
	}
	goleak.VerifyTestMain(m)
}

// roles by name; each gets the arguments after the name and returns a status.
var roles = map[string]func(args []string) int{
	"server":   roleServer,
	"stubborn": roleStubborn,
	"quitter":  roleQuitter,
	"owner":    roleOwner,
	"locker":   roleLocker,
	"cluster":  roleCluster,
}

// roleServer connects to a socket, which shows that it lives, and ends with status 3
// when it is asked to.
func roleServer(args []string) int {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	conn := dialAlive(args[0])
	defer conn.Close()
	<-stop
	fmt.Println("asked to end")
	return 3
}

// roleStubborn connects to a socket and does not end when it is asked to.
func roleStubborn(args []string) int {
	signal.Ignore(syscall.SIGTERM)
	conn := dialAlive(args[0])
	_, _ = io.Copy(io.Discard, conn) // until the test is over
	return 0
}

// roleQuitter says why and ends.
func roleQuitter([]string) int {
	fmt.Println("no such flag")
	return 7
}

// roleOwner starts a server, by the kernel's way or by a shell, in a run directory of
// its own, and waits to be killed.
func roleOwner(args []string) int {
	how, socket, parent := args[0], args[1], args[2]
	dir, err := newRunDir(parent)
	if err != nil {
		return complain(err)
	}
	c := command{
		name: "server", path: os.Args[0], args: []string{"role", "server", socket},
		dir: dir.path, log: filepath.Join(dir.path, "log"),
	}
	supervise := supervised
	if how == "shell" {
		supervise = supervisedByShell
	}
	if _, err := startSupervised(c, supervise, func(*process) {}); err != nil {
		return complain(err)
	}
	waitForStdin()
	return 0
}

// roleLocker takes a lock, says so, and waits to be killed.
func roleLocker(args []string) int {
	if _, err := tryLock(args[0]); err != nil {
		return complain(err)
	}
	fmt.Println("locked")
	waitForStdin()
	return 0
}

// roleCluster starts a control plane, prints the numbers of its processes and waits to
// be killed.
func roleCluster(args []string) int {
	c, err := New(context.Background(), Options{TempDir: args[0]})
	if err != nil {
		return complain(err)
	}
	for _, p := range c.processes {
		fmt.Println(p.cmd.Process.Pid)
	}
	fmt.Println("up")
	waitForStdin()
	return 0
}

func complain(err error) int {
	fmt.Fprintln(os.Stderr, err)
	return 1
}

func waitForStdin() { _, _ = io.Copy(io.Discard, os.Stdin) }

// dialAlive connects to a socket of the test, which sees the connection's end when this
// process ends.
func dialAlive(socket string) net.Conn {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		os.Exit(complain(err))
	}
	return conn
}

// lives listens for processes that show that they live.
type lives struct {
	socket   string
	listener net.Listener
}

func newLives(t *testing.T) *lives {
	t.Helper()
	dir, err := os.MkdirTemp("", "l") // t.TempDir is too long for a socket's name
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	l := &lives{socket: filepath.Join(dir, "s")}
	if l.listener, err = net.Listen("unix", l.socket); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.listener.Close() })
	return l
}

// accept waits for a process to come to life.
func (l *lives) accept(t *testing.T) net.Conn {
	t.Helper()
	conn, err := l.listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// waitForDeath waits for the end of the process behind a connection.
func waitForDeath(t *testing.T, conn net.Conn) {
	t.Helper()
	if n, err := conn.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
		t.Fatalf("reading from a process that should die: got %d bytes, %v; want EOF", n, err)
	}
}

// isDead tells, without waiting, whether the process behind a connection has ended.
func isDead(t *testing.T, conn net.Conn) bool {
	t.Helper()
	raw, err := conn.(*net.UnixConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var n int
	var failed error
	err = raw.Read(func(fd uintptr) bool {
		n, failed = syscall.Read(int(fd), make([]byte, 1))
		return true // EAGAIN too is an answer
	})
	if err != nil {
		t.Fatal(err)
	}
	return n == 0 && failed == nil
}

// helper is another process in one of the roles.
type helper struct {
	cmd    *exec.Cmd
	stdout *bufio.Scanner
}

func startHelper(t *testing.T, args ...string) *helper {
	t.Helper()
	cmd := exec.Command(os.Args[0], append([]string{"role"}, args...)...)
	cmd.Stderr = t.Output()
	if _, err := cmd.StdinPipe(); err != nil { // its end is the helper's, should this process die
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	h := &helper{cmd: cmd, stdout: bufio.NewScanner(stdout)}
	t.Cleanup(h.kill)
	return h
}

// line waits for the helper's next line.
func (h *helper) line(t *testing.T) string {
	t.Helper()
	if !h.stdout.Scan() {
		t.Fatalf("the helper ended without a word: %v", h.stdout.Err())
	}
	return h.stdout.Text()
}

// kill ends the helper in the hardest way. It may be called more than once.
func (h *helper) kill() {
	_ = h.cmd.Process.Kill()
	_ = h.cmd.Wait() // it was killed: there is an error
}

func mkfifo(t *testing.T, name string) {
	t.Helper()
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
}
