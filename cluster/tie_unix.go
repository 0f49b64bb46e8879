//go:build unix && !linux

package cluster

import (
	"os"
	"os/exec"
	"syscall"
)

// tie makes cmd the leader of a process group. Nothing ends it with this process: a
// go command comes to its end by itself.
func tie(cmd *exec.Cmd, _ syscall.Signal) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// supervised is the supervisor of this system.
func supervised(c command) (cmd *exec.Cmd, release func(), err error) {
	return supervisedByShell(c)
}

// killServer kills what supervised made, the shell with the server below it.
func killServer(p *os.Process) error {
	if err := p.Signal(syscall.Signal(0)); err != nil {
		return err // it was waited for: its number may be another's
	}
	return signalGroup(p, syscall.SIGKILL)
}
