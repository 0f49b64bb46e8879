package plane

import (
	"os/exec"
	"syscall"
)

// tie has the kernel ask the program to end when this process ends, in whatever
// way. In a process group of its own the program does not hear the terminal's
// interrupt, which is for this process: the demo ends before what it plays on.
func tie(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
