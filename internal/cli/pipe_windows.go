package cli

import (
	"errors"
	"syscall"
)

// Errors of WriteFile on a pipe whose reader is gone.
const (
	errorBrokenPipe = syscall.Errno(109)
	errorNoData     = syscall.Errno(232)
)

// readerGone tells whether an error says that nobody reads the output any more.
func readerGone(err error) bool {
	return errors.Is(err, errorBrokenPipe) || errors.Is(err, errorNoData) || closedPipe(err)
}
