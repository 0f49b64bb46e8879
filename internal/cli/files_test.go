package cli

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestWhereTheOutputGoesIsNoPlaceForAFile(t *testing.T) {
	dir := t.TempDir()
	out, err := os.Create(filepath.Join(dir, "out"))
	if err != nil {
		t.Fatal(err)
	}
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = errors.Join(out.Close(), null.Close()) }()
	link := filepath.Join(dir, "link")
	if err := os.Symlink("out", link); err != nil {
		t.Skip(err)
	}
	s := newSession(Process{Out: out, Err: null, Getenv: os.Getenv})
	for path, want := range map[string]bool{
		out.Name(): true, link: true, filepath.Join(dir, ".", "out"): true,
		filepath.Join(dir, "another"): false, dir: false, os.DevNull: false,
	} {
		if got := s.isOutput(path); got != want {
			t.Errorf("isOutput(%s) = %t; want %t", path, got, want)
		}
	}
	if s := newSession(Process{Out: null, Err: out, Getenv: os.Getenv}); !s.isOutput(link) {
		t.Error("where errors go is taken for a place of a file's own")
	}
}
