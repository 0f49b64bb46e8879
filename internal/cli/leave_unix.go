//go:build unix

package cli

import (
	"context"
	"os"

	"golang.org/x/sys/unix"
)

// readerLeft blocks until nobody reads a pipe any more, and reports that, or
// until ctx ends. A write would tell the same, but on a quiet cluster nothing is
// written. What is no pipe or socket has no reader who could leave.
func readerLeft(ctx context.Context, out *os.File) bool {
	info, err := out.Stat()
	if err != nil || info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
		return false
	}
	ended, end, err := os.Pipe() // the end of ctx must wake the poll
	if err != nil {
		return false
	}
	defer ended.Close()
	stop := context.AfterFunc(ctx, func() { _ = end.Close() })
	defer func() {
		if stop() {
			_ = end.Close()
		}
	}()
	// No events are asked for: errors and hang-ups are told in any case.
	polled := []unix.PollFd{{Fd: int32(out.Fd())}, {Fd: int32(ended.Fd())}}
	for {
		_, err := unix.Poll(polled, -1)
		switch {
		case err == unix.EINTR:
		case err != nil || polled[1].Revents != 0:
			return false
		case polled[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0:
			return true
		}
	}
}
