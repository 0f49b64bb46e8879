package plane

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// programs puts nothing but these programs into PATH, all played by the test
// binary, and gives the test a folder for temporary files, which it returns.
func programs(t *testing.T, play string, names ...string) (temporary string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the programs are links to the test binary, which Windows does not allow everybody")
	}
	path, temporary := t.TempDir(), t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if err := os.Symlink(self, filepath.Join(path, name)); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", path)
	t.Setenv("TMPDIR", temporary)
	t.Setenv(playVariable, play)
	return temporary
}

// told collects progress.
type told struct {
	mu    sync.Mutex
	lines []string
}

func (p *told) line(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lines = append(p.lines, line)
}

func (p *told) first() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.lines[:min(1, len(p.lines))], "")
}

// left are the names of what is in a folder.
func left(t *testing.T, folder string) []string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

func TestTheInstalledProgramIsStartedAndEnded(t *testing.T) {
	temporary := programs(t, "", program, "go")
	p, err := Start(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if content, err := os.ReadFile(p.Kubeconfig()); err != nil || string(content) != "kubeconfig" {
		t.Errorf("kubeconfig: %q, %v", content, err)
	}
	ended, end := context.WithCancelCause(t.Context())
	end(io.EOF)
	if err := p.Ended(ended); err != io.EOF {
		t.Errorf("Ended = %v; want the cause of the context", err)
	}
	for range 2 {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
	if p.child.err != nil {
		t.Errorf("the program ended with %v; want 0, as it was asked to", p.child.err)
	}
	if names := left(t, temporary); len(names) > 0 {
		t.Errorf("left: %v", names)
	}
}

func TestAProgramThatIsNotInstalledIsBuilt(t *testing.T) {
	root := t.TempDir()
	for folder, module := range map[string]string{"": module, "cluster": module + "/cluster", "deep/er": ""} {
		folder = filepath.Join(root, folder)
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		if module == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(folder, "go.mod"), []byte("// Of a test.\nmodule "+module+"\n\ngo 1.26.0\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	inCheckout := "go: downloading -C " + filepath.Join(root, "cluster") + " install ./cmd/hark-cluster"
	for dir, want := range map[string]string{
		root: inCheckout, filepath.Join(root, "deep", "er"): inCheckout, filepath.Join(root, "cluster"): inCheckout,
		t.TempDir(): "go: downloading install github.com/gocampus/hark/cluster/cmd/hark-cluster@latest",
	} {
		temporary := programs(t, "", "go")
		var progress told
		p, err := Start(t.Context(), Options{Dir: dir, Progress: progress.line})
		if err != nil {
			t.Fatalf("%s: %v", dir, err)
		}
		if got := progress.first(); got != want {
			t.Errorf("in %s: %q; want %q", dir, got, want)
		}
		if names := left(t, p.dir); !slices.Equal(names, []string{"cluster.kubeconfig"}) {
			t.Errorf("in %s while it runs: %v", p.dir, names)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		if names := left(t, temporary); len(names) > 0 {
			t.Errorf("left: %v", names)
		}
	}
}

func TestWithoutProgramAndGoThereIsNothingToStart(t *testing.T) {
	temporary := programs(t, "")
	if err := Available(); err != ErrNoProgram {
		t.Errorf("Available = %v; want %v", err, ErrNoProgram)
	}
	if _, err := Start(t.Context(), Options{}); !errors.Is(err, ErrNoProgram) {
		t.Errorf("Start = %v; want %v", err, ErrNoProgram)
	}
	if names := left(t, temporary); len(names) > 0 {
		t.Errorf("left: %v", names)
	}
	for _, name := range []string{program, "go"} {
		programs(t, "", name)
		if err := Available(); err != nil {
			t.Errorf("with %s: %v", name, err)
		}
	}
}

func TestAnErrorShowsWhatWasNotToldAsProgress(t *testing.T) {
	const first, last = "cluster: building kube-apiserver …", "cluster: building kube-apiserver: exit status 1"
	for _, watched := range []bool{true, false} {
		temporary := programs(t, "fail", program)
		var o Options
		want := []string{first, last, "  no space left on device"}
		if watched {
			o.Progress = new(told).line
			want = want[2:]
		}
		_, err := Start(t.Context(), o)
		ended, ok := errors.AsType[*EndedError](err)
		if !ok || ended.Program != program || ended.Error() != "hark-cluster: exit status 1" {
			t.Fatalf("Start = %v", err)
		}
		if d := cmp.Diff(want, ended.Output); d != "" {
			t.Errorf("watched %t (-want +got):\n%s", watched, d)
		}
		if names := left(t, temporary); len(names) > 0 {
			t.Errorf("left: %v", names)
		}
	}
}

func TestAControlPlaneThatEndsByItselfIsTold(t *testing.T) {
	programs(t, "die", program)
	answer := called(t)
	p, err := Start(t.Context(), Options{Progress: new(told).line})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Close() }()
	_ = answer().Close()
	ended, ok := errors.AsType[*EndedError](p.Ended(t.Context()))
	if !ok || ended.Error() != "hark-cluster: exit status 3" {
		t.Fatalf("Ended = %v", ended)
	}
	if d := cmp.Diff([]string{"cluster: etcd: signal: killed", "  its log"}, ended.Output); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// called has the programs call the test; the function that it returns answers.
func called(t *testing.T) (answer func() net.Conn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	t.Setenv(callVariable, listener.Addr().String())
	return func() net.Conn {
		t.Helper()
		connection, err := listener.Accept()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = connection.Close() })
		return connection
	}
}

func TestTheEndOfTheContextEndsTheStart(t *testing.T) {
	temporary := programs(t, "slow", program)
	ctx, cancel := context.WithCancelCause(t.Context())
	progress := func(line string) {
		if line != "cluster: building kube-apiserver …" {
			t.Errorf("progress: %q", line)
		}
		cancel(io.EOF)
	}
	if _, err := Start(ctx, Options{Progress: progress}); !errors.Is(err, io.EOF) {
		t.Errorf("Start = %v; want the cause", err)
	}
	if names := left(t, temporary); len(names) > 0 {
		t.Errorf("left: %v", names)
	}
}

func TestAProgramThatDoesNotEndIsKilled(t *testing.T) {
	programs(t, "stubborn", program)
	p, err := Start(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	p.child.end(time.Millisecond)
	if p.child.err == nil {
		t.Error("it has ended well, although it does not listen")
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// The kernel tells the program; elsewhere only the terminal does.
func TestTheProgramEndsWithAParentThatIsKilled(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells a child of its parent's death")
	}
	programs(t, "parent", program)
	answer := called(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	parent := exec.CommandContext(t.Context(), self)
	in, err := parent.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	connection := answer()
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("%q, %v", line, err)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait() // it was killed
	if err := connection.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if n, err := connection.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("%d, %v: the program goes on without its parent", n, err)
	}
}

func TestOutputIsTakenApartIntoLines(t *testing.T) {
	long := strings.Repeat("x", longestLine)
	var got []string
	l := &lines{line: func(line string) { got = append(got, line) }}
	for _, part := range []string{"a", "b\nc\r\n\n", long, "more\nlast", ""} {
		if n, err := l.Write([]byte(part)); n != len(part) || err != nil {
			t.Errorf("Write = %d, %v", n, err)
		}
	}
	if d := cmp.Diff([]string{"ab", "c", "", long}, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

func TestOnlyTheLastLinesAreKept(t *testing.T) {
	c := newChild("none")
	for range 3 * outputLines {
		c.said("old")
	}
	for range outputLines {
		c.said("new")
	}
	if len(c.output) != outputLines || slices.Contains(c.output, "old") {
		t.Errorf("%d lines are kept: %q", len(c.output), c.output)
	}
	c.setReady()
	for _, line := range []string{"kubectl get nodes", "Ctrl-C ends it.", "cluster: etcd: killed", "  its log"} {
		c.said(line)
	}
	if d := cmp.Diff([]string{"cluster: etcd: killed", "  its log"}, c.output); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

func TestOnlyACheckoutOfBothModulesIsOne(t *testing.T) {
	root := t.TempDir()
	if got := checkout(root); got != "" {
		t.Errorf("an empty folder is in the checkout %s", got)
	}
	for _, content := range []string{"module github.com/gocampus/hark/other\n", "", "go 1.26\n", "module\n"} {
		if err := os.WriteFile(filepath.Join(root, "go.mod"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if isModule(root, module) {
			t.Errorf("%q is of %s", content, module)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "go.mod"), []byte("module "+module+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := checkout(root); got != "" {
		t.Errorf("without the module cluster %s is a checkout", got)
	}
	if here := checkout(""); !strings.HasSuffix(mustGetwd(t), filepath.Join("internal", "cli", "plane")) || here == "" {
		t.Errorf("this folder is in no checkout")
	}
}

func mustGetwd(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
