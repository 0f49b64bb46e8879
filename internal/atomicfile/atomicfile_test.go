package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"
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

// a/dir leads to real/sub, and its parent is real: a path that was cleaned would lead to a/g.
func TestAPathLeadsUpFromWhereItsLinksLeadTo(t *testing.T) {
	for path, links := range map[string]map[string]string{
		"a/dir/f":             {"real/sub/f": "../g"},
		"a/l":                 {"a/l": "dir/../g"},
		"a/dir/../g":          {},
		"a/dir/../l":          {"real/l": "g"},
		"a/one":               {"a/one": "dir/two", "real/sub/two": "./../g"},
		"a/absolute":          {"a/absolute": "DIR/a/dir/../g"},
		"a/dir/./../sub/../g": {},
	} {
		t.Run(path, func(t *testing.T) {
			dir := t.TempDir()
			at := func(name string) string { return filepath.Join(dir, name) }
			err := errors.Join(os.MkdirAll(at("real/sub"), 0o700), os.Mkdir(at("a"), 0o700), os.WriteFile(at("a/g"), []byte("another"), 0o600),
				os.Symlink("../real/sub", at("a/dir")))
			for link, to := range links {
				err = errors.Join(err, os.Symlink(strings.Replace(to, "DIR", dir, 1), at(link)))
			}
			if err != nil {
				t.Skip(err)
			}
			if err := Write(dir+"/"+path, []byte("new"), 0o600); err != nil {
				t.Fatal(err)
			}
			holds(t, at("real/g"), "new")
			holds(t, at("a/g"), "another")
			t.Chdir(at("a"))
			if err := Write(strings.Replace("../"+path, "../a/", "./", 1), []byte("newer"), 0o600); err != nil {
				t.Fatal(err)
			}
			holds(t, at("real/g"), "newer")
			holds(t, at("a/g"), "another")
		})
	}
}

func TestALinkThroughNothingLeadsNowhere(t *testing.T) {
	dir := t.TempDir()
	link, file := filepath.Join(dir, "link"), filepath.Join(dir, "file")
	if err := errors.Join(os.Symlink("none/../file", link), os.WriteFile(file, []byte("another"), 0o600)); err != nil {
		t.Skip(err)
	}
	if err := Write(link, []byte("new"), 0o600); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), link) {
		t.Errorf("%v; want an error that names %s", err, link)
	}
	holds(t, file, "another")
}

func TestALongNameIsNoObstacle(t *testing.T) {
	for _, name := range []string{strings.Repeat("n", 250), "n" + strings.Repeat("名", 80)} {
		path := filepath.Join(t.TempDir(), name)
		if err := Write(path, []byte("new"), 0o600); err != nil {
			t.Fatal(err)
		}
		holds(t, path, "new")
		_, beside, err := create(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := beside.Close(); err != nil || !utf8.ValidString(beside.Name()) {
			t.Errorf("%q beside it, %v; want whole characters", beside.Name(), err)
		}
	}
}

func TestAsManyLinksAsTheSystemFollows(t *testing.T) {
	dir := t.TempDir()
	at := func(i int) string { return filepath.Join(dir, fmt.Sprint(i)) }
	for i := range maxLinks {
		if err := os.Symlink(at(i), at(i+1)); err != nil {
			t.Skip(err)
		}
	}
	if err := Write(at(maxLinks), []byte("new"), 0o600); err != nil {
		t.Error(err)
	}
	holds(t, at(0), "new")
}

// TestMagicLinksAreRefused: they lead to what is open, whatever path their text names.
func TestMagicLinksAreRefused(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there is no /proc")
	}
	dir := t.TempDir()
	file, err := os.Create(filepath.Join(dir, "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	link := filepath.Join(dir, "link")
	if err := os.Symlink(fmt.Sprintf("/proc/self/fd/%d", file.Fd()), link); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{Check(link), Write(link, []byte("new"), 0o600)} {
		if err == nil || !strings.Contains(err.Error(), link+": "+errMagic.Error()) {
			t.Errorf("%v; want that %s has no path", err, link)
		}
	}
	t.Chdir(dir)
	if err := Write("/proc/self/cwd/file", []byte("new"), 0o600); err != nil { // its text is true
		t.Error(err)
	}
	holds(t, "file", "new")
	if err := os.Rename(dir, dir+"2"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil { // another one of that name does not make it so
		t.Fatal(err)
	}
	if err := Write("/proc/self/cwd/../"+filepath.Base(dir)+"2/file", []byte("newer"), 0o600); err != nil {
		t.Error(err)
	}
	holds(t, dir+"2/file", "newer")
}

func TestOnlyFilesAreReplaced(t *testing.T) {
	for _, err := range []error{Check(os.DevNull), Write(os.DevNull, nil, 0o600)} {
		if err == nil {
			t.Errorf("%s is replaced", os.DevNull)
		}
	}
	if info, err := os.Stat(os.DevNull); err == nil && info.Mode().IsRegular() {
		t.Errorf("%s is a file now", os.DevNull)
	}
}

func TestAFailureLeavesTheFileAndNamesIt(t *testing.T) {
	dir := t.TempDir()
	loop, occupied := filepath.Join(dir, "loop"), filepath.Join(dir, "dir")
	if err := errors.Join(os.Symlink("loop", loop), os.Mkdir(occupied, 0o700)); err != nil {
		t.Skip(err)
	}
	for _, path := range []string{loop, filepath.Join(dir, "none", "file"), occupied, occupied + "/", dir + "/.", dir + "/none/"} {
		var failed *fs.PathError
		if err := Write(path, []byte("new"), 0o600); !errors.As(err, &failed) || failed.Path != path {
			t.Errorf("Write(%s): %v; want an error that names it", path, err)
		}
		if err := Check(path); !errors.As(err, &failed) || failed.Path != path {
			t.Errorf("Check(%s): %v; want an error that names it", path, err)
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
