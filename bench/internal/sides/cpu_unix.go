//go:build unix

package sides

import (
	"syscall"
	"time"
)

// cpuTime is the CPU time of this process, user and system.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic("sides: getrusage: " + err.Error()) // it has no way to fail
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
