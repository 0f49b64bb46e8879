package cli

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
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
	for path, want := range map[string]bool{
		out.Name(): true, link: true, filepath.Join(dir, ".", "out"): true,
		filepath.Join(dir, "another"): false, dir: false, os.DevNull: false,
	} {
		if got := isOutput(path, out, null); got != want {
			t.Errorf("isOutput(%s) = %t; want %t", path, got, want)
		}
	}
	if !isOutput(link, null, out) || isOutput(link, null) || isOutput(link, &bytes.Buffer{}) {
		t.Error("each stream counts, and no other")
	}
	second, err := os.OpenFile(link, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = second.Close() }()
	if !oneStream(out, second) || oneStream(out, null) || oneStream(null, null) || oneStream(out, &bytes.Buffer{}) {
		t.Error("two streams to one file are one, and no others")
	}
}

func TestAStateIsNotForAFileOfTheRecording(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, c := range []struct {
		state, recording string
		parts, played    bool
		want             bool
	}{
		{"a", "a", false, false, true}, {"./a", dir + "/a", false, false, true}, {"b", "a", true, false, false},
		{"a.1", "a", false, false, false}, {"a.1", "a", true, false, true}, {"a.12", "a", true, false, true},
		{"a.0", "a", true, false, false}, {"a.01", "a", true, false, false}, {"a.+1", "a", true, false, false}, {"a.1.2", "a", true, false, false},
		{"a", "a.1", true, false, false}, {"a", "a.1", true, true, true}, {"a.2", "a.1", true, true, true}, {"b", "a.1", true, true, false},
		{"", "a", true, true, false}, {"a", "", true, true, false}, {"a", "-", true, true, false},
	} {
		got := ofRecording(c.state, c.recording, c.parts)
		if c.played {
			got = ofPlayed(c.state, c.recording)
		}
		if got != c.want {
			t.Errorf("%+v = %t", c, got)
		}
	}
}

func TestSizesAreReadAsUsersWriteThem(t *testing.T) {
	for value, want := range map[string]int64{
		"100M": 100_000_000, "100MB": 100_000_000, "64Mi": 64 << 20, "2K": 2000, "2KB": 2000, "2k": 2000, "2Ki": 2048, "700": 700,
		"0": 0, "-1M": 0, "large": 0, "K": 0, "": 0,
	} {
		if got, err := parseSize(value); got != want || (err == nil) != (want > 0) {
			t.Errorf("parseSize(%q) = %d, %v; want %d", value, got, err, want)
		}
	}
}

func TestAProgramOfThisFolderIsNamedWithIt(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("rel.sh", []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for program, want := range map[string]string{"rel.sh": "try: ./rel.sh, ", "none.sh": "try: ls -l none.sh"} {
		if got := run(t.Context(), nil, "hark", "run", "pods", "--", program); got.code != exitError || !strings.Contains(filepath.ToSlash(got.err), want) {
			t.Errorf("%s: %s; want %s", program, got, want)
		}
	}
}
