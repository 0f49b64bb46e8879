package cluster

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
)

// ServerError is the error of a server of the control plane that ended by itself or
// did not become ready.
type ServerError struct {
	Server string // such as "kube-apiserver"
	Log    string // the last lines of its log
	Err    error  // what happened
}

// Error names the server and shows the last lines of its log.
func (e *ServerError) Error() string {
	s := fmt.Sprintf("cluster: %s: %v", e.Server, e.Err)
	if e.Log != "" {
		s += "\n" + indent(e.Log)
	}
	return s
}

// Unwrap returns what happened.
func (e *ServerError) Unwrap() error { return e.Err }

// errEnded is the error of a server that ended with status 0 unasked.
var errEnded = errors.New("ended unexpectedly")

// command is what a process runs.
type command struct {
	name string   // of the server
	path string   // of its binary
	args []string // without the program's name
	dir  string   // its working directory
	log  string   // the file that its output is appended to
}

// process is a running server, which ends with this process at the latest.
type process struct {
	command
	cmd     *exec.Cmd
	stopped atomic.Bool    // its end was asked for
	onEnd   func(*process) // called when it has ended by itself, before done is closed
	done    chan struct{}  // closed when it has ended and was waited for
	err     error          // how it ended; to be read in onEnd and after done
}

// supervisor makes a command whose process dies with this one. The caller calls release
// once the command has ended.
type supervisor func(c command) (cmd *exec.Cmd, release func(), err error)

// startProcess starts a server. onEnd is called, from another goroutine, if it ends
// unasked.
func startProcess(c command, onEnd func(*process)) (*process, error) {
	return startSupervised(c, supervised, onEnd)
}

// startSupervised is startProcess with a way to bind a server's life to this process.
func startSupervised(c command, supervise supervisor, onEnd func(*process)) (*process, error) {
	log, err := os.OpenFile(c.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cluster: log: %w", err)
	}
	p := &process{command: c, onEnd: onEnd, done: make(chan struct{})}
	cmd, release, err := supervise(c)
	if err != nil {
		_ = log.Close() // nothing was written
		return nil, fmt.Errorf("cluster: %s: %w", c.name, err)
	}
	p.cmd = cmd
	p.cmd.Stdout, p.cmd.Stderr = log, log
	started := make(chan error, 1)
	go p.run(started, func() {
		release()
		_ = log.Close() // the server has the file by itself
	})
	if err := <-started; err != nil {
		<-p.done
		return nil, fmt.Errorf("cluster: %s: %w", c.name, err)
	}
	return p, nil
}

// run starts the server, says so, and waits for its end. It keeps one thread for all
// of that: Linux sends the signal of a parent's death when the parent's thread ends.
func (p *process) run(started chan<- error, release func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(p.done)
	defer release()
	err := p.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	p.err = p.cmd.Wait()
	if !p.stopped.Load() {
		p.onEnd(p)
	}
}

// runTied runs a command to its end on one thread, for the reason given at run.
func runTied(cmd *exec.Cmd) error {
	ended := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		ended <- cmd.Run()
	}()
	return <-ended
}

// failure describes a server that ended; to be called after done.
func (p *process) failure() *ServerError {
	err := p.err
	if err == nil {
		err = errEnded
	}
	return &ServerError{Server: p.name, Log: tailOfFile(p.log), Err: err}
}

// kill ends the server at once and returns when it is gone.
func (p *process) kill() {
	p.stopped.Store(true)
	_ = killServer(p.cmd.Process) // the error is that of a server which has ended
	<-p.done
}

// stop asks the server to end and returns when it is gone. After the grace period it
// is killed.
func (p *process) stop(grace time.Duration) {
	p.stopped.Store(true)
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // as in kill
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.done:
	case <-timer.C:
		p.kill()
	}
}
