package plane

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"
)

// outputLines bounds the lines of a program that an error shows.
const outputLines = 100

// EndedError tells that a program ended that should not have.
type EndedError struct {
	Program string   // its name, such as "hark-cluster" or "go"
	Output  []string // the last lines that it printed and that were not told as progress
	Err     error    // how it ended
}

// Error implements error.
func (e *EndedError) Error() string { return e.Program + ": " + e.Err.Error() }

// Unwrap returns how the program ended.
func (e *EndedError) Unwrap() error { return e.Err }

// errStatus0 is how a program ended that ended well, but too early.
var errStatus0 = errors.New("ended unexpectedly")

// child is a program that runs below this one, and not longer where the system
// can see to it.
type child struct {
	cmd     *exec.Cmd
	tell    func(line string) // progress; nil for nobody
	printed func(line string) // standard output
	done    chan struct{}     // closed when it has ended
	err     error             // how; to be read after done

	mu     sync.Mutex // guards the fields below
	output []string   // the last lines that were not told
	ready  bool
}

func newChild(program string, args ...string) *child {
	c := &child{cmd: exec.Command(program, args...), printed: func(string) {}, done: make(chan struct{})}
	c.cmd.Stdout = &lines{line: func(line string) { c.printed(line) }}
	c.cmd.Stderr = &lines{line: c.said}
	c.cmd.WaitDelay = time.Second // for what holds the output open after the end
	tie(c.cmd)
	return c
}

// start starts the program.
func (c *child) start() error {
	started := make(chan error, 1)
	go c.run(started)
	if err := <-started; err != nil {
		<-c.done
		return err
	}
	return nil
}

// run keeps one thread from the start to the end: Linux tells a child of its
// parent's death when the parent's thread ends.
func (c *child) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(c.done)
	err := c.cmd.Start()
	started <- err
	if err == nil {
		c.err = c.cmd.Wait()
	}
}

// said takes in a line of standard error. Lines that begin with the name of who
// wrote them are progress, or the begin of an error once the program is ready;
// others are the rest of an error, or say to somebody who had started the program
// by hand what to do.
func (c *child) said(line string) {
	named := strings.HasPrefix(line, "cluster: ") || strings.HasPrefix(line, "go: ")
	if named && c.tell != nil && !c.isReady() {
		c.tell(line)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if named && c.ready {
		c.output = nil
	}
	c.output = append(c.output, line)
	c.output = c.output[max(0, len(c.output)-outputLines):]
}

func (c *child) isReady() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ready
}

// setReady says that nothing is progress any more.
func (c *child) setReady() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ready, c.output = true, nil
}

// ended describes the end of a program that should go on; to be called after done.
func (c *child) ended() *EndedError {
	err := c.err
	if err == nil {
		err = errStatus0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	name := strings.TrimSuffix(filepath.Base(c.cmd.Path), ".exe")
	return &EndedError{Program: name, Output: c.output, Err: err}
}

// end asks the program to end, and returns when it has. Without an answer for the
// grace period it is killed.
func (c *child) end(grace time.Duration) {
	if err := c.cmd.Process.Signal(os.Interrupt); err != nil {
		_ = c.cmd.Process.Kill() // a system without interrupts, or it has just ended
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-c.done:
	case <-timer.C:
		_ = c.cmd.Process.Kill()
		<-c.done
	}
}

// longestLine bounds what is kept of one line, in bytes.
const longestLine = 4096

// lines is a writer that passes on complete lines, without the rest of those that
// are too long.
type lines struct {
	line  func(string)
	begun []byte
}

// Write implements io.Writer. It never fails.
func (l *lines) Write(p []byte) (int, error) {
	for _, b := range p {
		switch {
		case b == '\n':
			l.line(strings.TrimSuffix(string(l.begun), "\r"))
			l.begun = l.begun[:0]
		case len(l.begun) < longestLine:
			l.begun = append(l.begun, b)
		}
	}
	return len(p), nil
}
