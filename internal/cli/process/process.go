package process

import (
	"context"
	"errors"
	"io"
	"os/exec"
	"runtime"
	"sync"
	"time"
)

const (
	// DefaultKillAfter is how long a group that was asked to end has for it.
	DefaultKillAfter = 5 * time.Second
	// linger is how long output is still read when the program has ended and
	// something that it started holds the output open.
	linger = time.Second
	// leftoverGrace is how long that has to end once it is asked to.
	leftoverGrace = 500 * time.Millisecond
	// pollPause is the time between looks at a group whose program has ended:
	// the system does not tell of its end.
	pollPause = 5 * time.Millisecond
)

// Spec says what to run. Path is the program's; Args are the arguments without
// the program's name. Nothing goes through a shell.
type Spec struct {
	Path string
	Args []string
	// Env is the complete environment.
	Env []string
	// Stdin is read to its end or the program's; nil is empty. Where the program
	// does not read it, that is no error.
	Stdin io.Reader
	// Stdout and Stderr get what the program and its helpers write, each from
	// one goroutine. Nil drops it.
	Stdout, Stderr io.Writer
}

// Process is a program that was started. Its methods are safe for concurrent use.
type Process struct {
	cmd   *exec.Cmd
	group group
	ended chan struct{} // closed when all of it has ended
	err   error         // how the program ended; to be read after ended
}

// Start starts a program. An error says that it could not be started; then
// nothing is left of it.
func Start(s Spec) (*Process, error) {
	cmd := exec.Command(s.Path, s.Args...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = s.Env, s.Stdin, s.Stdout, s.Stderr
	cmd.WaitDelay = linger
	p := &Process{cmd: cmd, ended: make(chan struct{})}
	started := make(chan error, 1)
	go p.run(started)
	if err := <-started; err != nil {
		<-p.ended
		return nil, err
	}
	return p, nil
}

// run keeps one thread from the start to the end of the program: Linux tells a
// child of its parent's death when the parent's thread ends.
func (p *Process) run(started chan<- error) {
	defer close(p.ended)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.group.start(p.cmd)
	if err != nil {
		started <- err
		return
	}
	all.add(p)
	defer all.remove(p)
	started <- nil
	p.err = p.cmd.Wait()
	if errors.Is(p.err, exec.ErrWaitDelay) {
		p.err = nil // it ended well, and left something that holds the output open
	}
	p.endLeftovers()
}

// endLeftovers ends what the program has left behind.
func (p *Process) endLeftovers() {
	defer p.group.release()
	if !p.group.leftovers() {
		return
	}
	p.group.terminate()
	for deadline := time.Now().Add(leftoverGrace); p.group.leftovers(); time.Sleep(pollPause) {
		if time.Now().After(deadline) {
			p.group.kill()
			return
		}
	}
}

// Ended is closed when the program and all of its group have ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Err says how the program ended, once Ended is closed: nil for exit code 0, an
// *exec.ExitError, or an error of reading its output.
func (p *Process) Err() error { return p.err }

// Wait blocks until all has ended and returns Err. When ctx ends first, the group
// is asked to end (SIGTERM; CTRL_BREAK on Windows) and, after killAfter, killed;
// the error is then the cause of ctx, whatever the program says of it.
func (p *Process) Wait(ctx context.Context, killAfter time.Duration) error {
	select {
	case <-p.ended:
		return p.err
	case <-ctx.Done():
		p.End(killAfter)
		return context.Cause(ctx)
	}
}

// End asks the group to end, kills it after killAfter, and returns when all has
// ended.
func (p *Process) End(killAfter time.Duration) {
	p.group.terminate()
	timer := time.NewTimer(killAfter)
	defer timer.Stop()
	select {
	case <-p.ended:
	case <-timer.C:
		p.group.kill()
		<-p.ended
	}
}

// Kill kills the group. It does not wait.
func (p *Process) Kill() { p.group.kill() }

// all are the processes that run.
var all running

type running struct {
	mu        sync.Mutex // guards what follows
	processes map[*Process]struct{}
}

func (r *running) add(p *Process) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.processes == nil {
		r.processes = map[*Process]struct{}{}
	}
	r.processes[p] = struct{}{}
}

func (r *running) remove(p *Process) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.processes, p)
}

// KillAll kills every group that this program has started, for its own end at
// once. It does not wait.
func KillAll() {
	all.mu.Lock()
	defer all.mu.Unlock()
	for p := range all.processes {
		p.group.kill()
	}
}
