package record

import (
	"errors"
	"syscall"
)

// Errors of FlushFileBuffers on a pipe or a console.
const (
	errorInvalidHandle   = syscall.Errno(6)
	errorInvalidFunction = syscall.Errno(1)
)

// notSyncable tells whether an error of Sync says that the file is a pipe or the like.
func notSyncable(err error) bool {
	return errors.Is(err, errorInvalidHandle) || errors.Is(err, errorInvalidFunction)
}
