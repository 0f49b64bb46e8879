//go:build unix

package cluster

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fakeGo is a go command that notes its arguments and writes a file instead of a
// binary. Files in its directory make it fail or hang.
type fakeGo struct{ dir string }

const fakeGoScript = `#!/bin/sh
here=$(dirname "$0")
case $1 in
list)
	echo "$here/module"
	exit
	;;
build)
	for last; do :; done
	echo "$last" >>"$here/calls"
	while [ "$1" != -o ]; do shift; done
	;;
esac
echo "go: downloading example.com/m v1.0.0" >&2
echo "example.com/m/compiled" >&2
if [ -e "$here/fail" ]; then
	echo "# example.com/m" >&2
	echo "./m.go:3:1: syntax error" >&2
	exit 1
fi
if [ -e "$here/hang" ]; then
	trap 'echo interrupted >>"$here/calls"; exit 1' INT
	echo hanging >"$here/hung"
	while :; do read -r _ <"$here/hang"; done
fi
[ -e go.mod ] && [ -e go.sum ] || exit 2
echo "built $last" >"$2"
`

func newFakeGo(t *testing.T) *fakeGo {
	t.Helper()
	g := &fakeGo{dir: t.TempDir()}
	g.write(t, "go", fakeGoScript, 0o755)
	for _, name := range []string{
		"node/fast/node-initialize.yaml", "node/heartbeat-with-lease/node-heartbeat-with-lease.yaml",
		"pod/fast/pod-ready.yaml", "pod/fast/pod-delete.yaml", "pod/slow/pod-ready.yaml",
	} {
		g.write(t, filepath.Join("module/kustomize/stage", name), "# "+name+"\n", 0o644)
	}
	return g
}

func (g *fakeGo) write(t *testing.T, name, data string, mode os.FileMode) {
	t.Helper()
	file := filepath.Join(g.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(data), mode); err != nil {
		t.Fatal(err)
	}
}

func (g *fakeGo) calls(t *testing.T) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(g.dir, "calls"))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(data)), "\n")
}

func (g *fakeGo) options(t *testing.T) BuildOptions {
	return BuildOptions{Go: filepath.Join(g.dir, "go"), CacheDir: t.TempDir()}
}

var allPackages = []string{
	"k8s.io/kubernetes/cmd/kube-apiserver", "k8s.io/kubernetes/cmd/kube-controller-manager",
	"k8s.io/kubernetes/cmd/kube-scheduler", ".", "sigs.k8s.io/kwok/cmd/kwok",
}

func TestBuildBuildsEverythingOnce(t *testing.T) {
	g := newFakeGo(t)
	o := g.options(t)
	for range 2 {
		dir, err := Build(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if want := filepath.Join(o.CacheDir, hostKey()); dir != want {
			t.Errorf("got directory %s; want %s", dir, want)
		}
		want := []string{
			"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok", "kwok-stages.yaml", "lock",
		}
		if diff := cmp.Diff(want, namesIn(t, dir)); diff != "" {
			t.Errorf("files (-want +got):\n%s", diff)
		}
	}
	if diff := cmp.Diff(allPackages, g.calls(t)); diff != "" {
		t.Errorf("what was built (-want +got):\n%s", diff)
	}
}

func TestBuildersAtTheSameTimeShareTheWork(t *testing.T) {
	g := newFakeGo(t)
	o := g.options(t)
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			if _, err := Build(t.Context(), o); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if diff := cmp.Diff(allPackages, g.calls(t)); diff != "" {
		t.Errorf("what was built (-want +got):\n%s", diff)
	}
}

func TestOnlyWhatIsWantedAndMissingIsBuilt(t *testing.T) {
	g := newFakeGo(t)
	o := g.options(t)
	small := Options{NoScheduler: true, NoControllerManager: true, NoKwok: true}
	if _, err := build(t.Context(), o, small.binaries()); err != nil {
		t.Fatal(err)
	}
	want := []string{"k8s.io/kubernetes/cmd/kube-apiserver", "."}
	if diff := cmp.Diff(want, g.calls(t)); diff != "" {
		t.Errorf("for a small cluster (-want +got):\n%s", diff)
	}
	if _, err := Build(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	want = append(want, allPackages[1], allPackages[2], allPackages[4])
	if diff := cmp.Diff(want, g.calls(t)); diff != "" {
		t.Errorf("for the rest (-want +got):\n%s", diff)
	}
}

func TestKwoksStagesAreThoseThatTakeNoTime(t *testing.T) {
	g := newFakeGo(t)
	dir, err := Build(t.Context(), g.options(t))
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, stagesFile))
	if err != nil {
		t.Fatal(err)
	}
	want := `---
# node/fast/node-initialize.yaml

---
# node/heartbeat-with-lease/node-heartbeat-with-lease.yaml

---
# pod/fast/pod-delete.yaml

---
# pod/fast/pod-ready.yaml

`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("stages (-want +got):\n%s", diff)
	}
}

func TestAFailedBuildShowsWhatTheGoCommandSaid(t *testing.T) {
	g := newFakeGo(t)
	o := g.options(t)
	g.write(t, "fail", "", 0o644)
	_, err := Build(t.Context(), o)
	failed, ok := errors.AsType[*BuildError](err)
	if !ok {
		t.Fatalf("got %v; want a *BuildError", err)
	}
	want := &BuildError{
		Binary: "kube-apiserver",
		Output: "go: downloading example.com/m v1.0.0\n# example.com/m\n./m.go:3:1: syntax error",
		Err:    failed.Err,
	}
	if *failed != *want {
		t.Errorf("got %+v; want %+v, without names of compiled packages", failed, want)
	}
	if want := "cluster: building kube-apiserver: exit status 1\n    go: downloading"; !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got message %q; want it to begin with %q", err, want)
	}
	if diff := cmp.Diff([]string{"lock"}, namesIn(t, filepath.Join(o.CacheDir, hostKey()))); diff != "" {
		t.Errorf("files after a failure (-want +got):\n%s", diff)
	}
}

func TestABuildGoesOnWhereAFailedOneStopped(t *testing.T) {
	g := newFakeGo(t)
	o := g.options(t)
	dir := filepath.Join(o.CacheDir, hostKey())
	if _, err := build(t.Context(), o, []binary{apiserverBinary}); err != nil {
		t.Fatal(err)
	}
	g.write(t, "fail", "", 0o644)
	if _, err := Build(t.Context(), o); err == nil {
		t.Fatal("got no error of a go command that fails")
	}
	if err := os.MkdirAll(filepath.Join(dir, "work-of-a-killed-builder"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(g.dir, "fail")); err != nil {
		t.Fatal(err)
	}
	if _, err := Build(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	want := append([]string{allPackages[0], allPackages[1]}, allPackages[1:]...)
	if diff := cmp.Diff(want, g.calls(t)); diff != "" {
		t.Errorf("what was built (-want +got):\n%s", diff)
	}
	if _, err := os.Stat(filepath.Join(dir, "work-of-a-killed-builder")); err == nil {
		t.Error("a killed builder's files were left")
	}
}

func TestAnInterruptedBuildInterruptsTheGoCommand(t *testing.T) {
	g := newFakeGo(t)
	o := g.options(t)
	mkfifo(t, filepath.Join(g.dir, "hang"))
	mkfifo(t, filepath.Join(g.dir, "hung"))
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	var waiting sync.WaitGroup
	waiting.Go(func() {
		if _, err := os.ReadFile(filepath.Join(g.dir, "hung")); err != nil { // until it hangs
			t.Error(err)
		}
		cancel(cause)
	})
	_, err := Build(ctx, o)
	waiting.Wait()
	if !errors.Is(err, cause) {
		t.Errorf("got %v; want the context's cause", err)
	}
	want := []string{allPackages[0], "interrupted"}
	if diff := cmp.Diff(want, g.calls(t)); diff != "" {
		t.Errorf("what the go command saw (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"lock"}, namesIn(t, filepath.Join(o.CacheDir, hostKey()))); diff != "" {
		t.Errorf("files after an interrupt (-want +got):\n%s", diff)
	}
}

func TestAMissingGoCommandIsExplained(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := Build(t.Context(), BuildOptions{CacheDir: t.TempDir()})
	if err == nil || !strings.Contains(err.Error(), "the go command is needed once, to build") {
		t.Errorf("got %v; want an explanation", err)
	}
}

func TestAFullCacheIsOnlyRead(t *testing.T) {
	g := newFakeGo(t)
	o := g.options(t)
	dir, err := Build(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer mustLock(t, filepath.Join(dir, "lock")).release()
	var told bytes.Buffer
	o.Progress, o.Go = &told, "/nowhere/go"
	if _, err := Build(t.Context(), o); err != nil {
		t.Errorf("with everything there, a held lock and no go command: %v", err)
	}
	if told.Len() > 0 {
		t.Errorf("got progress %q of nothing", told.String())
	}
}

func TestTheBuildEnvironmentShutsOutWhatChangesBinaries(t *testing.T) {
	t.Setenv("GOFLAGS", "-race -tags=x")
	t.Setenv("GOOS", "plan9")
	t.Setenv("GOPROXY", "https://proxy.test")
	env := goCommand{}.command(t.Context(), t.TempDir(), nil).Env
	last := map[string]string{} // of a name that is there twice the last counts
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		last[name] = value
	}
	for name, want := range map[string]string{
		"GOFLAGS": "-mod=readonly", "GOWORK": "off", "CGO_ENABLED": "0", "GOPROXY": "https://proxy.test",
	} {
		if last[name] != want {
			t.Errorf("%s: got %q; want %q", name, last[name], want)
		}
	}
	if last["GOOS"] == "plan9" {
		t.Error("binaries would be built for another system")
	}
}

func namesIn(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}
