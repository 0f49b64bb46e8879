package cli

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// commandTimeout ends a command that hangs, so that the test says which.
const commandTimeout = time.Minute

// TestKubectlWorksAgainstTheServer types the commands of transcript.txt.
func TestKubectlWorksAgainstTheServer(t *testing.T) {
	needs(t, "kubectl", "sh", "sed", "tail")
	folder := filepath.Join("testdata", "kubectl")
	_, ready := serves(t, "--story", "--load", filepath.Join(folder, "loaded.yaml"))
	typist := &typist{t: t, folder: folder, environment: append(os.Environ(),
		"KUBECONFIG="+ready.Kubeconfig, "HOME="+t.TempDir(), "KUBECTL_EXTERNAL_DIFF=")}

	file := filepath.Join(folder, "transcript.txt")
	recorded := read(t, file)
	got := typist.play(recorded)
	if *rewrite {
		write(t, file, got)
	} else if d := cmp.Diff(recorded, got); d != "" {
		t.Errorf("-want +got (-rewrite writes it anew):\n%s", d)
	}
}

// needs skips a test for which a program is missing. A missing kubectl is an error
// in CI, where nobody would see the skipping: .ci/run sees to it that there is one.
func needs(t *testing.T, programs ...string) {
	t.Helper()
	for _, program := range programs {
		_, err := exec.LookPath(program)
		switch {
		case err == nil:
		case program == "kubectl" && os.Getenv("CI") == "true":
			t.Fatalf("no kubectl in PATH: %v", err)
		default:
			t.Skipf("no %s in PATH", program)
		}
	}
}

// typist types commands and writes down what they print.
type typist struct {
	t           *testing.T
	folder      string
	environment []string
	watch       *transcript // of the command that goes on
	seen        int         // lines of it that were written down
}

// play returns the script with the present output below its commands.
func (y *typist) play(script string) string {
	var out strings.Builder
	for line := range strings.Lines(script) {
		mark, command, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch mark {
		case "$":
			out.WriteString(line + y.run(command))
		case "&":
			out.WriteString(line)
			y.goOn(command)
		case "%":
			out.WriteString(line + y.until(command))
		case "#", "":
			out.WriteString(line)
		}
	}
	return out.String()
}

// command makes a command line of the shell.
func (y *typist) command(ctx context.Context, line string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "sh", "-c", line)
	cmd.Dir, cmd.Env = y.folder, y.environment
	cmd.WaitDelay = time.Second // a program of the shell's may hold the output open
	return cmd
}

// run runs a command to its end.
func (y *typist) run(line string) string {
	ctx, cancel := context.WithTimeout(y.t.Context(), commandTimeout)
	defer cancel()
	y.t.Log(line)
	out, err := y.command(ctx, line).CombinedOutput()
	if ctx.Err() != nil {
		y.t.Fatalf("%s does not end:\n%s", line, out)
	}
	said := normalized(string(bytes.TrimLeft(out, "\n")))
	if err != nil {
		said += "[" + err.Error() + "]\n"
	}
	return said
}

// goOn starts a command that ends with the test.
func (y *typist) goOn(line string) {
	ctx, cancel := context.WithCancel(context.Background())
	cmd := y.command(ctx, "exec "+line)
	y.watch, y.seen = newTranscript(), 0
	cmd.Stdout = y.watch
	if err := cmd.Start(); err != nil {
		cancel()
		y.t.Fatal(err)
	}
	y.t.Cleanup(func() {
		cancel()
		_ = cmd.Wait() // it was killed
	})
}

// until waits for a line of the command that goes on, and returns those that it
// has printed since the last time.
func (y *typist) until(beginning string) string {
	limit := time.NewTimer(commandTimeout)
	defer limit.Stop()
	for {
		text, changed := y.watch.now()
		lines := strings.SplitAfter(normalized(text), "\n")
		for i, line := range lines[y.seen:max(y.seen, len(lines)-1)] { // the last one is not complete
			if strings.HasPrefix(strings.Join(strings.Fields(line), " "), beginning) {
				from := y.seen
				y.seen += i + 1
				return strings.Join(lines[from:y.seen], "")
			}
		}
		select {
		case <-changed:
		case <-limit.C:
			y.t.Fatalf("no line begins %q in\n%s", beginning, text)
		}
	}
}

// What differs from run to run and from one kubectl to the next.
var differences = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`(?m)^WARNING: version difference .*\n`), ""},
	{regexp.MustCompile(`(?m)(deleted|force deleted) from \S+ namespace$`), "$1"},
	{regexp.MustCompile(`(?m)(\s)\d+(?:ms|s|m\d*s?)(\s|$)`), "${1}AGE$2"},
	{regexp.MustCompile(`\bweb-[0-9a-z]{6,10}-[0-9a-z]{5}\b`), "web-HASH-HASH"},
	{regexp.MustCompile(`\bweb-[0-9a-z]{6,10}\b`), "web-HASH"},
	{regexp.MustCompile(`(?m) +$`), ""},
	{regexp.MustCompile(` {2,}`), "  "},
	{regexp.MustCompile(`(?m)^\n`), ""}, // in the script they part its chapters
}

func normalized(text string) string {
	for _, d := range differences {
		text = d.pattern.ReplaceAllString(text, d.instead)
	}
	return text
}
