package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestAFileIsMadeAndReplaced(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	for _, c := range []struct {
		content string
		mode    fs.FileMode
	}{{"one", 0o600}, {"two, longer", 0o644}, {"", 0o600}} {
		if err := Check(path); err != nil {
			t.Error(err)
		}
		if err := Write(path, []byte(c.content), c.mode); err != nil {
			t.Fatal(err)
		}
		holds(t, path, c.content)
		info, err := os.Stat(path)
		if runtime.GOOS != "windows" && (err != nil || info.Mode() != c.mode) {
			t.Errorf("mode %v, %v; want %v", info.Mode(), err, c.mode)
		}
	}
	holdsOnly(t, dir, "file")
}

func TestLinksStay(t *testing.T) {
	dir, others := t.TempDir(), t.TempDir()
	link, second := filepath.Join(others, "link"), filepath.Join(others, "second")
	if err := errors.Join(os.Symlink("link", second), os.Symlink(filepath.Join(dir, "file"), link)); err != nil {
		t.Skip(err)
	}
	for _, content := range []string{"made", "replaced"} { // the file does not exist at first
		if err := Write(second, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		holds(t, filepath.Join(dir, "file"), content)
	}
	if to, err := os.Readlink(second); err != nil || to != "link" {
		t.Errorf("the link leads to %q, %v; want it as it was", to, err)
	}
	holdsOnly(t, others, "link second")
	holdsOnly(t, dir, "file")
}

func TestALinkLeadsUpFromWhereItIs(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.MkdirAll(at("real/sub"), 0o700), os.Mkdir(at("a"), 0o700), os.WriteFile(at("a/g"), []byte("another"), 0o600),
		os.Symlink("../real/sub", at("a/dir")), os.Symlink("../g", at("real/sub/f"))); err != nil {
		t.Skip(err)
	}
	if err := Write(at("a/dir/f"), []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	holds(t, at("real/g"), "new")
	holds(t, at("a/g"), "another")
}

func TestAFailureLeavesTheFileAndNamesIt(t *testing.T) {
	dir := t.TempDir()
	loop, occupied := filepath.Join(dir, "loop"), filepath.Join(dir, "dir")
	if err := errors.Join(os.Symlink("loop", loop), os.Mkdir(occupied, 0o700)); err != nil {
		t.Skip(err)
	}
	for path, check := range map[string]bool{
		loop: true, filepath.Join(dir, "none", "file"): true, occupied: false, // which only the last step finds
	} {
		var failed *fs.PathError
		if err := Write(path, []byte("new"), 0o600); !errors.As(err, &failed) || failed.Path != path {
			t.Errorf("Write(%s): %v; want an error that names it", path, err)
		}
		if err := Check(path); (err != nil) != check {
			t.Errorf("Check(%s): %v; want an error: %t", path, err, check)
		}
	}
	holdsOnly(t, dir, "dir loop")
}

func TestAnErrorSaysWhereALinkLeadsTo(t *testing.T) {
	dir := t.TempDir()
	link, target := filepath.Join(dir, "link"), filepath.Join(dir, "gone", "file")
	if err := os.Symlink(target, link); err != nil {
		t.Skip(err)
	}
	err := Write(link, []byte("new"), 0o600)
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), link+": which leads to "+target) {
		t.Errorf("%v; want that %s leads to %s, which does not exist", err, link, target)
	}
}

func TestWhatCannotBeWrittenReplacesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := Write(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	target, beside, err := create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := beside.Close(); err != nil { // it refuses each byte, as a full disk does
		t.Fatal(err)
	}
	if err := replace(target, beside, []byte("new"), 0o600); err == nil {
		t.Error("a write that failed was no error")
	}
	holds(t, path, "old")
}

func holds(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s holds %q, %v; want %q", path, got, err, want)
	}
}

// holdsOnly wants nothing else in a directory.
func holdsOnly(t *testing.T, dir, want string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if got := strings.Join(names, " "); got != want {
		t.Errorf("%s holds %s; want %s", dir, got, want)
	}
}
