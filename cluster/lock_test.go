//go:build unix

package cluster

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

func TestALockHasOneHolder(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	first := mustLock(t, name)
	if _, err := tryLock(name); !errors.Is(err, errLocked) {
		t.Errorf("the second holder: got %v; want %v", err, errLocked)
	}
	first.release()
	mustLock(t, name).release()
}

func TestOfManyWhoWaitForALockOneAtATimeHasIt(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	var inside atomic.Int32 // the race detector knows nothing of file locks
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			lock, err := waitLock(t.Context(), name, func() {})
			if err != nil {
				t.Error(err)
				return
			}
			if got := inside.Add(1); got != 1 {
				t.Errorf("got %d holders; want 1", got)
			}
			runtime.Gosched() // to let another in, if it could come
			inside.Add(-1)
			lock.release()
		})
	}
	all.Wait()
}

func TestWaitingForALockEndsWithTheContext(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	defer mustLock(t, name).release()
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	_, err := waitLock(ctx, name, func() { cancel(cause) })
	if !errors.Is(err, cause) {
		t.Errorf("got %v; want the context's cause", err)
	}
}

func TestAKilledHolderLetsTheLockGo(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	holder := startHelper(t, "locker", name)
	holder.line(t)
	lock, err := waitLock(t.Context(), name, holder.kill)
	if err != nil {
		t.Fatal(err)
	}
	lock.release()
}

func TestALockOfAMissingDirectoryIsAnError(t *testing.T) {
	_, err := waitLock(t.Context(), filepath.Join(t.TempDir(), "missing", "lock"), func() {
		t.Error("waited for what nobody can have")
	})
	if err == nil {
		t.Error("got no error")
	}
}

func mustLock(t *testing.T, name string) *fileLock {
	t.Helper()
	lock, err := tryLock(name)
	if err != nil {
		t.Fatal(err)
	}
	return lock
}
