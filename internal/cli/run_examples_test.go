package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gocampus/hark/harktest"
)

// example is the path of a file of examples/.
func example(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "..", "examples", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestTheBashExampleKeepsALabelOnEveryNamespace(t *testing.T) {
	needs(t, "bash", "grep", "kubectl")
	c := newCluster(t, harktest.Options{TrackManagedFields: true})
	hark := c.run("namespaces", "--", example(t, "label-namespaces.sh")).listens(1)
	labelled := func(name string) func(string) bool {
		return func(string) bool {
			ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
			return c.Get(t.Context(), ns) == nil && ns.Labels["team"] == "unknown"
		}
	}
	for _, name := range []string{"default", "kube-system"} {
		hark.prints("namespaces/" + name + " #1 | namespace/" + name + " labeled\n")
		hark.until(hark.out, "label on "+name, labelled(name))
	}
	shop := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}
	c.do(c.Create(t.Context(), shop))
	hark.prints("namespaces/shop #1 | namespace/shop labeled\n")
	c.do(c.Change(t.Context(), shop, func() { delete(shop.Labels, "team") }))
	hark.until(hark.out, "the label again", func(out string) bool { return strings.Count(out, "| namespace/shop labeled\n") == 2 })
	if code := hark.interrupt(); code != exitDone {
		t.Errorf("exit %d\n%s", code, hark.err)
	}
}

// The script is short enough for the README; what it shows is what runs.
func TestTheBashExampleHasSixLines(t *testing.T) {
	script, err := os.ReadFile(example(t, "label-namespaces.sh"))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(script), "\n"); n > 6 {
		t.Errorf("%d lines; want 6", n)
	}
}

func TestThePythonExampleStreams(t *testing.T) {
	needs(t, "python3")
	c := newCluster(t, harktest.Options{})
	good, bad := web(), web()
	bad.Name, bad.Spec.Template.Spec.Containers[0].Image = "bad", "registry.example.com:5000/nginx"
	c.do(c.Create(t.Context(), good))
	c.do(c.Create(t.Context(), bad))
	hark := c.run("deployments", "--stream", "--workers", "1", "--", "python3", example(t, "image_tags.py"))
	hark.says("deployments.apps/default/web #1 | 1 images checked\n")
	hark.says("deployments.apps/default/bad: parked by attempt 1, until it changes: no fixed tag: nginx\n")
	c.do(c.Change(t.Context(), bad, func() { bad.Spec.Template.Spec.Containers[0].Image = "nginx:1.27" }))
	hark.says("deployments.apps/default/bad #1 | 1 images checked\n")
	if code := hark.interrupt(); code != exitDone {
		t.Errorf("exit %d\n%s", code, hark.err)
	}
}

func TestTheGoExampleDeletesWhenTheTimeIsUp(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "expire.exe")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, example(t, "expire")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	c := newCluster(t, harktest.Options{})
	create := func(name, expires string) *corev1.ConfigMap {
		m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Annotations: map[string]string{"expires": expires}}}
		c.do(c.Create(t.Context(), m))
		return m
	}
	past := create("past", "2020-01-02T15:04:05Z")
	soon := create("soon", time.Now().Add(1500*time.Millisecond).UTC().Format(time.RFC3339))
	later := create("later", time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
	create("wrong", "tomorrow")
	hark := c.run("configmaps", "--on", "add,update", "--", binary)
	hark.says("configmaps/default/past #1 | deleted\n")
	hark.says("configmaps/default/soon #1 | deleted\n")
	hark.says("configmaps/default/wrong: parked by attempt 1, until it changes: exit code 100: parsing time")
	for _, m := range []*corev1.ConfigMap{past, soon} {
		if err := c.Get(t.Context(), m); !apierrors.IsNotFound(err) {
			t.Errorf("%s: %v; want that it is gone", m.Name, err)
		}
	}
	c.do(c.Get(t.Context(), later))
	if code := hark.interrupt(); code != exitError { // one is parked
		t.Errorf("exit %d\n%s", code, hark.err)
	}
}
