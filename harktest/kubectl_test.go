package harktest_test

import (
	"bufio"
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

// program returns the path of a program. Where there is none the test is skipped,
// but not in CI, where nobody would see it: .ci/run sees to it that there is one.
func program(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	switch {
	case err == nil:
	case os.Getenv("CI") == "true":
		t.Fatalf("no %s in PATH, which this test needs: %v", name, err)
	default:
		t.Skipf("no %s in PATH, which this test needs", name)
	}
	return path
}

// TestKubectlTranscript types the commands of testdata/kubectl.txt and compares what
// kubectl prints with what stands below them there.
func TestKubectlTranscript(t *testing.T) {
	kubectl := program(t, "kubectl")
	program(t, "sh") // runs the pipes
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

// What differs from run to run and from one kubectl to the next.
var (
	ages   = regexp.MustCompile(`(?m)(\s)\d+(?:ms|s|m\d*s?)(\s|$)`)
	hashes = regexp.MustCompile(`\bweb-[0-9a-z]{6,10}(-[0-9a-z]{5})?\b`)
	spaces = regexp.MustCompile(`(?m) +$`)
	runs   = regexp.MustCompile(` {2,}`)
	blanks = regexp.MustCompile(`(?m)^\n`)
	where  = regexp.MustCompile(`(?m)(deleted) from \S+ namespace$`)
	skew   = regexp.MustCompile(`(?m)^WARNING: version difference .*\n`)
)

func normal(text string) string {
	text = skew.ReplaceAllString(text, "")
	text = where.ReplaceAllString(text, "$1")
	text = ages.ReplaceAllString(text, "${1}AGE$2")
	text = hashes.ReplaceAllStringFunc(text, func(name string) string {
		return "web-" + strings.Repeat("HASH-", strings.Count(name, "-")-1) + "HASH"
	})
	text = spaces.ReplaceAllString(text, "")
	text = blanks.ReplaceAllString(text, "") // in the script they part its chapters
	return runs.ReplaceAllString(text, "  ")
}

// TestKubectlSeesAPodsLife watches with one kubectl while others create and delete.
func TestKubectlSeesAPodsLife(t *testing.T) {
	kubectl := program(t, "kubectl")
	s := harktest.StartWith(t, harktest.Options{Story: &harktest.StoryOptions{}})
	other := pod("default", "other")
	other.Spec.NodeName = "elsewhere" // the story leaves it alone
	create(t, s, other)
	dir := t.TempDir()
	config := filepath.Join(dir, "kubeconfig")
	if err := s.WriteKubeconfig(config); err != nil {
		t.Fatal(err)
	}
	c, cancel := context.WithTimeout(t.Context(), kubectlTimeout)
	defer cancel()
	command := func(arguments ...string) *exec.Cmd {
		cmd := exec.CommandContext(c, kubectl, append([]string{"--kubeconfig", config}, arguments...)...)
		cmd.Env = append(os.Environ(), "HOME="+dir)
		return cmd
	}
	watch := command("get", "pods", "-w", "--output-watch-events")
	out, err := watch.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := watch.Start(); err != nil {
		t.Fatal(err)
	}
	then := map[int][]string{ // what is typed after so many lines
		2: {"run", "tmp", "--image=nginx:1.27"}, // kubectl has listed: it misses nothing from here
		5: {"delete", "pod", "tmp"},             // the pod runs
	}
	var got []string
	for lines := bufio.NewScanner(out); len(got) < 8 && lines.Scan(); {
		got = append(got, strings.Join(strings.Fields(lines.Text())[:4], " "))
		if arguments := then[len(got)]; arguments != nil {
			if text, err := command(arguments...).CombinedOutput(); err != nil {
				t.Fatalf("kubectl %v: %v: %s", arguments, err, text)
			}
		}
	}
	cancel()
	_ = watch.Wait() // it was killed
	diff(t, "what kubectl get pods -w shows", got, []string{
		"EVENT NAME READY STATUS", "ADDED other 0/1 Pending", "ADDED tmp 0/1 Pending", "MODIFIED tmp 0/1 Pending", "MODIFIED tmp 1/1 Running",
		"MODIFIED tmp 1/1 Terminating", "MODIFIED tmp 1/1 Terminating", "DELETED tmp 1/1 Terminating",
	})
}
