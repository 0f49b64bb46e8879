//go:build unix && !linux

package process

import "syscall"

// tie does nothing where the kernel does not tell a child of its parent's death.
func tie(*syscall.SysProcAttr) {}
