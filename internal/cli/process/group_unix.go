//go:build unix

package process

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// group is a process group. The program that leads it gave it its number.
type group struct{ leader *os.Process }

// start starts the program in a group of its own.
func (g *group) start(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	tie(cmd.SysProcAttr)
	if err := cmd.Start(); err != nil {
		return err
	}
	g.leader = cmd.Process
	return nil
}

// leftovers tells whether the group has members though its leader has been waited
// for. As long as it has, the system gives its number to no process: where there
// is one of that number, it is a stranger's, and the group is gone.
func (g *group) leftovers() bool {
	return syscall.Kill(g.leader.Pid, 0) == syscall.ESRCH && syscall.Kill(-g.leader.Pid, 0) == nil
}

func (g *group) terminate() { g.signal(syscall.SIGTERM) }

func (g *group) kill() { g.signal(syscall.SIGKILL) }

func (g *group) signal(s syscall.Signal) {
	if errors.Is(g.leader.Signal(syscall.Signal(0)), os.ErrProcessDone) && !g.leftovers() {
		return
	}
	_ = syscall.Kill(-g.leader.Pid, s) // an error: it has just ended
	if of, err := syscall.Getpgid(g.leader.Pid); err == nil && of != g.leader.Pid {
		_ = g.leader.Signal(s) // it has gone over to another group
	}
}

func (g *group) release() {}
