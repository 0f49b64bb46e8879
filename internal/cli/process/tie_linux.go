package process

import "syscall"

// tie has the kernel kill the program when this process ends, in whatever way:
// what takes over from this process must not meet it.
func tie(attributes *syscall.SysProcAttr) { attributes.Pdeathsig = syscall.SIGKILL }
