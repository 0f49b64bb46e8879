package cli

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gocampus/hark/harktest"
)

// complete returns what the Tab key offers for the last argument, which may be
// empty.
func (c *cluster) complete(args ...string) []string {
	c.t.Helper()
	all := append([]string{"hark", "__complete"}, args...)
	result := run(c.t.Context(), nil, all...)
	if result.code != exitDone {
		c.t.Fatalf("completion of %q: %s", args, result)
	}
	lines := strings.Split(strings.TrimSuffix(result.out, "\n"), "\n")
	if last := lines[len(lines)-1]; last != ":4" { // do not complete files
		c.t.Errorf("completion of %q ends with directive %s", args, last)
	}
	return lines[:len(lines)-1]
}

func TestTabOffersKindsNamesNamespacesAndContexts(t *testing.T) {
	c := newCluster(t, harktest.Options{})
	c.do(c.Register(harktest.Kind{GroupVersionKind: widget}))
	c.createPod("tmp-1")
	c.createPod("tmp-2")
	c.createPod("web")
	c.do(c.Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}}))
	at := "--kubeconfig=" + c.kubeconfig
	for _, tc := range []struct {
		args []string
		want []string
	}{
		{[]string{"watch", at, "deploy"}, []string{"deployments.apps"}},
		{[]string{"watch", at, "wid"}, []string{"widgets.example.com"}},
		{[]string{"watch", at, "tokenrev"}, nil}, // cannot be watched
		{[]string{"watch", at, "pods,deploy"}, []string{"pods,deployments.apps"}},
		{[]string{"watch", at, "pods", ""}, []string{"tmp-1", "tmp-2", "web"}},
		{[]string{"watch", at, "po", "tm"}, []string{"tmp-1", "tmp-2"}},
		{[]string{"watch", at, "pod/w"}, []string{"pod/web"}},
		{[]string{"watch", at, "pod/web", "pod/tmp-"}, []string{"pod/tmp-1", "pod/tmp-2"}},
		{[]string{"watch", at, "nodes", ""}, []string{"node-1"}},
		{[]string{"watch", at, "pods", "-n", "kube-p"}, []string{"kube-public"}},
		{[]string{"watch", at, "-n", "kube-public", "pods", ""}, nil},
		{[]string{"watch", at, "--context", ""}, []string{"harktest"}},
		{[]string{"watch", at, "--cluster", "hark"}, []string{"harktest"}},
		{[]string{"watch", at, "--user", "x"}, nil},
		{[]string{"watch", at, "pods", "-o", ""}, []string{"text", "json", "yaml", "name"}},
		{[]string{"watch", at, "pods", "--color", ""}, []string{"auto", "always", "never"}},
		{[]string{"watch", at, "nonsense", ""}, nil},
		{[]string{"watch", at, "pods,nodes", ""}, nil},
		{[]string{"version", "-o", ""}, []string{"text", "json"}},
		{[]string{"completion", "f"}, []string{"fish"}},
		{[]string{"demo", ""}, nil},
	} {
		got := c.complete(tc.args...)
		if d := cmp.Diff(tc.want, got, cmp.Transformer("nil", func(s []string) []string { return append([]string{}, s...) })); d != "" {
			t.Errorf("%q (-want +got):\n%s", tc.args, d)
		}
	}
	if all := c.complete("watch", at, ""); !slices.Contains(all, "pods") || !slices.Contains(all, "nodes") {
		t.Errorf("kinds: %q", all)
	}
}

func TestTabOffersCommandsAndLanguages(t *testing.T) {
	home(t)
	commands := run(t.Context(), nil, "hark", "__complete", "").out
	for _, name := range []string{"watch\t", "demo\t", "version\t", "completion\t"} {
		if !strings.Contains(commands, name) {
			t.Errorf("%q is not among\n%s", name, commands)
		}
	}
	for _, args := range [][]string{{"watch", "--lang", ""}, {"demo", "--lang", ""}} {
		if got := run(t.Context(), nil, append([]string{"hark", "__complete"}, args...)...).out; !strings.HasPrefix(got, "en\nzh\n") {
			t.Errorf("%q offers\n%s", args, got)
		}
	}
}

func TestTabIsQuietWithoutAServer(t *testing.T) {
	dir := home(t)
	path := filepath.Join(dir, "config")
	write(t, path, strings.ReplaceAll(kubeconfigOfClosedPort, "$CLOSED", closedPort(t)))
	for _, at := range []string{"--kubeconfig=" + path, "--kubeconfig=" + dir + "/none"} {
		for _, args := range [][]string{{""}, {"pods", ""}, {"pod/"}, {"pods", "-n", ""}, {"--context", "x"}} {
			got := run(t.Context(), nil, append([]string{"hark", "__complete", "watch", at}, args...)...)
			if got.out != ":4\n" || got.code != exitDone {
				t.Errorf("%q: %s", args, got)
			}
		}
	}
}

func TestTabCompletesPathsWhereOneIsTaken(t *testing.T) {
	home(t)
	for flag, want := range map[string]string{"--kubeconfig": ":0\n", "--client-key": ":0\n", "--for": ":4\n"} {
		if got := run(t.Context(), nil, "hark", "__complete", "watch", flag, ""); got.out != want {
			t.Errorf("%s: %q; want %q", flag, got.out, want)
		}
	}
}

func TestKubectlCompletesThePlugin(t *testing.T) {
	home(t)
	got := run(t.Context(), environment{"LANG": "zh_CN.UTF-8"}, "kubectl_complete-hark", "wa")
	if !strings.HasPrefix(got.out, "watch\t实时显示对象发生的变化\n:4\n") {
		t.Errorf("kubectl hark wa<Tab>: %s", got)
	}
}

func TestEveryShellHasItsScript(t *testing.T) {
	for shell, part := range map[string]string{
		"bash": "complete -o default -F __start_hark hark", "zsh": "#compdef hark", "fish": "complete -c hark", "powershell": "Register-ArgumentCompleter",
	} {
		got := run(t.Context(), nil, "hark", "completion", shell)
		if got.code != exitDone || !strings.Contains(got.out, part) {
			t.Errorf("completion %s lacks %q", shell, part)
		}
	}
}
