//go:build unix

package cli

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func init() {
	roles["hark"] = func() {
		p := Process{Args: append([]string{"hark"}, os.Args[1:]...), Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv}
		os.Exit(Main(context.Background(), p))
	}
}

// bash plays a press of Tab after the words, the last of which is being typed,
// in a shell that has nothing but the script.
func bashCompletes(t *testing.T, words ...string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Symlink(os.Args[0], filepath.Join(dir, "hark")); err != nil {
		t.Fatal(err)
	}
	script := run(t.Context(), nil, "hark", "completion", "bash").out
	write(t, filepath.Join(dir, "script"), "compopt() { :; }\n"+script+` # compopt needs a real Tab
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
COMP_LINE="$*"
COMP_POINT=${#COMP_LINE}
COMP_TYPE=9
__start_hark
printf '%s\n' "${COMPREPLY[@]}"
`)
	cmd := exec.CommandContext(t.Context(), "bash", append([]string{"--norc", "--noprofile", filepath.Join(dir, "script")}, words...)...)
	cmd.Env = []string{"PATH=" + dir + ":" + os.Getenv("PATH"), childVariable + "=hark", "HOME=" + dir}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

func TestBashCompletesWithoutAnotherPackage(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		return // the script has nobody to run it
	}
	for _, tc := range []struct{ words, want string }{
		{"hark wat", "watch\n"},
		{"hark completion po", "powershell\n"},
		{"hark --lang = z", "zh\n"}, // as bash splits it
		{"hark version --output j", "json\n"},
	} {
		got := bashCompletes(t, strings.Fields(tc.words)...)
		if strings.TrimRight(got, " \n") != strings.TrimSpace(tc.want) {
			t.Errorf("%s<Tab>: %q; want %q", tc.words, got, tc.want)
		}
	}
}
