//go:build unix && !linux

package cluster

import (
	"os/exec"
	"syscall"
)

// tie makes cmd the leader of a process group. Nothing ends it with this process: a
// go command comes to its end by itself.
func tie(cmd *exec.Cmd, _ syscall.Signal) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// supervised makes a command that dies with this process. The caller calls release
// once the command has ended.
func supervised(c command) (cmd *exec.Cmd, release func(), err error) {
	return supervisedByShell(c)
}
