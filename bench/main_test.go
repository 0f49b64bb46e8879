package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gocampus/hark/bench/internal/report"
)

func TestArgumentsThatCannotBeMeantAreErrors(t *testing.T) {
	dir := t.TempDir()
	plain, named := filepath.Join(dir, "perf"), filepath.Join(dir, "perf.md")
	for _, name := range []string{plain, named} {
		if err := os.WriteFile(name, []byte("no markers"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for want, args := range map[string][]string{
		"-rows: error parsing":     {"-rows", "("},
		"storm, storm-1ms":         {"-rows", "nosuch"},
		"-sides: error parsing":    {"-sides", "["},
		"controller-runtime, hark": {"-sides", "nosuch"},
		`unknown argument "quick"`: {"quick"},
		"no such file":             {"-doc", filepath.Join(dir, "missing.md")},
		report.Begin:               {"-doc", named},
		"has no ending":            {"-doc", plain},
		"-profiles: mkdir":         {"-profiles", filepath.Join(plain, "profiles")},
	} {
		if _, err := parse(args); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("parse(%q) = %v; want %q", args, err, want)
		}
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(left) != 2 {
		t.Errorf("the directory has %v, %v", left, err)
	}
}

func TestTheDirectoryForProfilesIsMade(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	o, err := parse([]string{"-quick", "-rows", "^storm$", "-sides", "hark", "-profiles", dir})
	if err != nil || !o.rows.MatchString("storm") || !o.sides.MatchString("hark-compact") {
		t.Fatalf("parse = %+v, %v", o, err)
	}
	if _, err := os.Stat(dir); err != nil {
		t.Error(err)
	}
}
