package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const otherKubeconfig = `apiVersion: v1
kind: Config
clusters: [{name: harktest, cluster: {server: "http://127.0.0.1:1"}}, {name: prod, cluster: {server: "https://prod"}}]
contexts: [{name: harktest, context: {cluster: harktest}}]
`

func TestAKubeconfigOfSomebodyElseIsNeverReplaced(t *testing.T) {
	dir := home(t)
	path := filepath.Join(dir, "config")
	for _, content := range []string{kubeconfigOfClosedPort, otherKubeconfig, "not a kubeconfig", "kind: Pod\napiVersion: v1\n", "{}"} {
		write(t, path, content)
		got := run(t.Context(), nil, "hark", "apiserver", "--kubeconfig-out", path)
		if got.code != exitError || !strings.Contains(got.err, "exists and was not written by hark\ntry: ") || got.out != "" {
			t.Errorf("over %q: %s", content, got)
		}
		if now := read(t, path); now != content {
			t.Errorf("%q became %q", content, now)
		}
	}
}

func TestAnEmptyFileOrAKubeconfigOfOursIsReplaced(t *testing.T) {
	dir := home(t)
	path := filepath.Join(dir, "my config")
	write(t, path, "")
	hark, ready := serves(t, "--kubeconfig-out", path)
	if ready.Kubeconfig != path {
		t.Errorf("kubeconfig %s; want %s", ready.Kubeconfig, path)
	}
	first := read(t, path)
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("%v, %v; want a file for its owner alone", info, err)
	}

	second := start(t, nil, "hark", "apiserver", "--kubeconfig-out", path)
	second.prints("kubectl --kubeconfig '" + path + "' get namespaces\n") // what can be pasted
	newer := read(t, path)
	if first == newer {
		t.Fatal("the second server did not write its own")
	}
	hark.interrupt()
	if read(t, path) != newer {
		t.Error("the first server has taken away the second one's")
	}
	if code := second.interrupt(); code != exitDone || exists(t, path) {
		t.Errorf("exit %d; the file is left: %t", code, exists(t, path))
	}
}

func TestALinkToTheFileIsKept(t *testing.T) {
	dir := home(t)
	path, link := filepath.Join(dir, "real"), filepath.Join(dir, "link")
	write(t, path, "")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	hark, ready := serves(t, "--kubeconfig-out", link)
	if !strings.Contains(read(t, path), ready.URL) {
		t.Errorf("%s leads elsewhere:\n%s", path, read(t, path))
	}
	hark.interrupt()
	if exists(t, path) || !exists(t, link) {
		t.Errorf("left: file %t, link %t; want the link", exists(t, path), exists(t, link))
	}
}

func TestNothingIsLeftBesideTheFile(t *testing.T) {
	dir := t.TempDir()
	hark, _ := serves(t, "--kubeconfig-out", filepath.Join(dir, "config"))
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	hidden, _ := filepath.Glob(filepath.Join(dir, ".*"))
	if err != nil || len(names) != 1 || len(hidden) != 0 {
		t.Errorf("beside it: %v %v, %v", names, hidden, err)
	}
	hark.interrupt()
}

func TestPathsAreQuotedForTheShell(t *testing.T) {
	for path, want := range map[string]string{
		"/tmp/a-b_c.kubeconfig": "/tmp/a-b_c.kubeconfig", "": "''", "/my config": "'/my config'",
		"/it's": `'/it'\''s'`, "/$HOME": "'/$HOME'", "/监听": "'/监听'", "a;b": "'a;b'",
	} {
		if got := shellWord(path); got != want {
			t.Errorf("shellWord(%q) = %s; want %s", path, got, want)
		}
	}
}
