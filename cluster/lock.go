package cluster

import (
	"context"
	"errors"
	"os"
	"time"
)

// lockInterval is the time between two tries for a lock that another holds: file
// locks cannot be waited for and be interrupted.
const lockInterval = 100 * time.Millisecond

// errLocked is the error of a lock that another holds.
var errLocked = errors.New("locked by another")

// fileLock is an exclusive lock between processes, and between the holders within
// one. The system releases it when the process ends.
type fileLock struct{ file *os.File }

// tryLock takes the lock of a file, which it creates. It returns errLocked if another
// has it.
func tryLock(name string) (*fileLock, error) {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := flock(file); err != nil {
		_ = file.Close() // it was only for the lock
		return nil, err
	}
	return &fileLock{file}, nil
}

// waitLock takes the lock of a file and waits for whoever has it. waiting is called
// once if it has to. It fails with the cause of ctx.
func waitLock(ctx context.Context, name string, waiting func()) (*fileLock, error) {
	lock, err := tryLock(name)
	if !errors.Is(err, errLocked) {
		return lock, err
	}
	waiting()
	tick := time.NewTicker(lockInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-tick.C:
		}
		lock, err := tryLock(name)
		if !errors.Is(err, errLocked) {
			return lock, err
		}
	}
}

// release gives the lock to others. The file stays: were it removed, two holders
// could each lock a file of that name.
func (l *fileLock) release() { _ = l.file.Close() } // closing is what releases
