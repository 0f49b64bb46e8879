//go:build !windows

package record

import (
	"errors"
	"syscall"
)

// notSyncable tells whether an error of Sync says that the file is a pipe or the like.
func notSyncable(err error) bool {
	return errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP)
}
