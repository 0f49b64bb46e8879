package harktest_test

import (
	"bytes"
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gocampus/hark/harktest"
)

var rewrite = flag.Bool("rewrite", false, "write what kubectl prints into testdata/kubectl.txt")

// kubectlTimeout ends a command that hangs, so that the test says which.
const kubectlTimeout = time.Minute

// TestKubectlTranscript types the commands of testdata/kubectl.txt and compares what
// kubectl prints with what stands below them there.
func TestKubectlTranscript(t *testing.T) {
	kubectl, err := exec.LookPath("kubectl")
	if err != nil {
		t.Skip("kubectl is not installed: the transcript of testdata/kubectl.txt cannot be typed")
	}
	script, err := os.ReadFile("testdata/kubectl.txt")
	if err != nil {
		t.Fatal(err)
	}
	s := harktest.StartWith(t, harktest.Options{Story: &harktest.StoryOptions{
		ScheduleDelay: time.Millisecond, StartDelay: time.Millisecond, StopDelay: time.Millisecond,
	}})
	dir := t.TempDir()
	config := filepath.Join(dir, "kubeconfig")
	if err := s.WriteKubeconfig(config); err != nil {
		t.Fatal(err)
	}
	got := typeScript(t, string(script), func(command string) string {
		c, cancel := context.WithTimeout(t.Context(), kubectlTimeout)
		defer cancel()
		cmd := exec.CommandContext(c, "sh", "-c", command)
		cmd.Env = append(os.Environ(), "KUBECONFIG="+config, "HOME="+dir, "PATH="+filepath.Dir(kubectl)+":"+os.Getenv("PATH"))
		cmd.Dir = "testdata"
		out, err := cmd.CombinedOutput()
		if c.Err() != nil {
			t.Fatalf("%s: does not end: %s", command, out)
		}
		text := normal(string(out))
		if err != nil {
			text += "[" + err.Error() + "]\n"
		}
		return text
	})
	if *rewrite {
		if err := os.WriteFile("testdata/kubectl.txt", []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	diff(t, "testdata/kubectl.txt (-rewrite writes it anew)", strings.Split(got, "\n"), strings.Split(string(script), "\n"))
}

// typeScript runs the lines that begin with "$ " and returns the script with
// their output below them; comments and empty lines are kept.
func typeScript(t *testing.T, script string, run func(command string) string) string {
	t.Helper()
	var out bytes.Buffer
	for line := range strings.Lines(script) {
		switch command, found := strings.CutPrefix(line, "$ "); {
		case found:
			out.WriteString(line)
			out.WriteString(run(strings.TrimSpace(command)))
		case strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "":
			out.WriteString(line)
		}
	}
	return out.String()
}

// What differs from run to run.
var (
	ages   = regexp.MustCompile(`(?m)(\s)\d+(?:ms|s|m\d*s?)(\s|$)`)
	hashes = regexp.MustCompile(`\bweb-[0-9a-z]{6,10}(-[0-9a-z]{5})?\b`)
	spaces = regexp.MustCompile(`(?m) +$`)
	runs   = regexp.MustCompile(` {2,}`)
	blanks = regexp.MustCompile(`(?m)^\n`)
	skew   = regexp.MustCompile(`(?m)^WARNING: version difference .*\n`)
)

func normal(text string) string {
	text = skew.ReplaceAllString(text, "")
	text = ages.ReplaceAllString(text, "${1}AGE$2")
	text = hashes.ReplaceAllStringFunc(text, func(name string) string {
		return "web-" + strings.Repeat("HASH-", strings.Count(name, "-")-1) + "HASH"
	})
	text = spaces.ReplaceAllString(text, "")
	text = blanks.ReplaceAllString(text, "") // in the script they part its chapters
	return runs.ReplaceAllString(text, "  ")
}
