package cluster

import (
	"fmt"
	"os"
	"path/filepath"
)

// runPrefix begins the names of run directories.
const runPrefix = "hark-cluster-"

// runDir is the directory of one cluster: its store, certificates and logs. Its owner
// holds a lock in it, so that the directory of an owner who was killed can be told
// from one in use.
type runDir struct {
	path string
	lock *fileLock
}

// newRunDir makes a run directory in parent, after it has removed those that owners
// left behind.
func newRunDir(parent string) (*runDir, error) {
	parent, err := filepath.Abs(parent)
	if err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	removeAbandoned(parent)
	path, err := os.MkdirTemp(parent, runPrefix)
	if err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	lock, err := own(path)
	if err != nil {
		_ = os.RemoveAll(path) // the error before says more
		return nil, fmt.Errorf("cluster: %w", err)
	}
	return &runDir{path: path, lock: lock}, nil
}

// own locks a run directory. The lock's file gets its name when it is locked already:
// a directory without one is new, not abandoned.
func own(path string) (*fileLock, error) {
	name := filepath.Join(path, "owner")
	lock, err := tryLock(name + ".new")
	if err != nil {
		return nil, err
	}
	if err := os.Rename(name+".new", name); err != nil {
		lock.release()
		return nil, err
	}
	return lock, nil
}

// removeAbandoned removes the run directories in parent whose owner has ended
// without. It leaves alone what it may not touch.
func removeAbandoned(parent string) {
	owners, err := filepath.Glob(filepath.Join(parent, runPrefix+"*", "owner"))
	if err != nil {
		return // parent has a pattern in its name: there is no harm in leftovers
	}
	for _, name := range owners {
		lock, err := tryLock(name)
		if err != nil {
			continue
		}
		_ = os.RemoveAll(filepath.Dir(name)) // the next cluster tries again
		lock.release()
	}
}

// remove removes the directory and all in it.
func (d *runDir) remove() error {
	defer d.lock.release()
	if err := os.RemoveAll(d.path); err != nil {
		return fmt.Errorf("cluster: run directory: %w", err)
	}
	return nil
}
