//go:build unix

package cluster

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestARunDirectoryInUseIsLeftAlone(t *testing.T) {
	parent := t.TempDir()
	first := mustRunDir(t, parent)
	second := mustRunDir(t, parent)
	if first.path == second.path {
		t.Fatalf("got %s twice", first.path)
	}
	if !isFile(filepath.Join(first.path, "owner")) {
		t.Error("the first directory is gone while its owner lives")
	}
}

func TestTheDirectoryOfAKilledOwnerIsRemovedByTheNext(t *testing.T) {
	parent := t.TempDir()
	l := newLives(t)
	owner := startHelper(t, "owner", "kernel", l.socket, parent)
	conn := l.accept(t)
	left := runDirs(t, parent)
	if len(left) != 1 {
		t.Fatalf("got run directories %v; want the owner's", left)
	}
	owner.kill()
	waitForDeath(t, conn)
	next := mustRunDir(t, parent)
	if got := runDirs(t, parent); len(got) != 1 || got[0] != next.path {
		t.Errorf("got run directories %v; want only the new one, %s", got, next.path)
	}
}

func TestADirectoryWithoutAnOwnerFileIsNewAndNotAbandoned(t *testing.T) {
	parent := t.TempDir()
	young := filepath.Join(parent, runPrefix+"1")
	if err := os.Mkdir(young, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := tryLock(filepath.Join(young, "owner.new")); err != nil {
		t.Fatal(err)
	}
	mustRunDir(t, parent)
	if _, err := os.Stat(young); err != nil {
		t.Errorf("a directory that is being made was removed: %v", err)
	}
}

func TestRemovingFollowsNoLinkOutOfTheParent(t *testing.T) {
	parent, elsewhere := t.TempDir(), t.TempDir()
	precious := filepath.Join(elsewhere, "owner")
	if err := os.WriteFile(precious, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, filepath.Join(parent, runPrefix+"trap")); err != nil {
		t.Fatal(err)
	}
	mustRunDir(t, parent)
	if got, err := os.ReadFile(precious); err != nil || string(got) != "mine" {
		t.Errorf("got %q, %v; a file behind a link was touched", got, err)
	}
}

func TestRemoveLeavesNothing(t *testing.T) {
	parent := t.TempDir()
	dir, err := newRunDir(parent)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir.path, "log"), []byte("…"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := dir.remove(); err != nil {
		t.Fatal(err)
	}
	if got := runDirs(t, parent); len(got) != 0 {
		t.Errorf("got %v; want nothing left", got)
	}
}

func TestARunDirectoryIsItsOwnersAlone(t *testing.T) {
	info, err := os.Stat(mustRunDir(t, t.TempDir()).path)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != 0o700 {
		t.Errorf("got mode %o; want 700: it holds keys and the store", got)
	}
}

func TestAParentThatIsMissingIsAnError(t *testing.T) {
	if _, err := newRunDir(filepath.Join(t.TempDir(), "missing")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v; want not exist", err)
	}
}

func mustRunDir(t *testing.T, parent string) *runDir {
	t.Helper()
	dir, err := newRunDir(parent)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := dir.remove(); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func runDirs(t *testing.T, parent string) []string {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(parent, runPrefix+"*"))
	if err != nil {
		t.Fatal(err)
	}
	return dirs
}
