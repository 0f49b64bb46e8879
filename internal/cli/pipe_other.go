//go:build !windows

package cli

import (
	"errors"
	"syscall"
)

// readerGone tells whether an error says that nobody reads the output any more.
func readerGone(err error) bool { return errors.Is(err, syscall.EPIPE) || closedPipe(err) }
