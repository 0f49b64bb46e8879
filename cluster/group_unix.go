//go:build unix

package cluster

import (
	"os"
	"os/exec"
	"syscall"
)

// exec makes the command line of a server. Its environment is bare: no proxy, token
// or configuration file of the user's reaches it.
func (c command) exec(path string, args ...string) *exec.Cmd {
	cmd := exec.Command(path, args...)
	cmd.Dir = c.dir
	cmd.Env = []string{"HOME=" + c.dir, "TMPDIR=" + c.dir, "PATH=" + os.Getenv("PATH")}
	return cmd
}

// signalGroup signals a process that leads its group and all of the group. It is for
// processes that were not waited for yet.
func signalGroup(p *os.Process, sig syscall.Signal) error {
	return syscall.Kill(-p.Pid, sig)
}
