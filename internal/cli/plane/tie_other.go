//go:build !linux

package plane

import "os/exec"

// tie leaves the program in the process group of this process: where the kernel
// does not tell a child of its parent's death, the terminal's interrupt shall
// reach both.
func tie(*exec.Cmd) {}
