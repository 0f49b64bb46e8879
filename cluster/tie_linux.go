package cluster

import (
	"os"
	"os/exec"
	"syscall"
)

// tie makes cmd the leader of a process group and has the kernel send it sig when
// the thread that starts it ends, and so when this process ends in whatever way.
func tie(cmd *exec.Cmd, sig syscall.Signal) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: sig}
}

// supervised is the supervisor of this system.
func supervised(c command) (cmd *exec.Cmd, release func(), err error) {
	cmd = c.exec(c.path, c.args...)
	tie(cmd, syscall.SIGKILL)
	return cmd, func() {}, nil
}

// killServer kills what supervised made.
func killServer(p *os.Process) error { return p.Kill() }
