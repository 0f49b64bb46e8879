package cli

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gocampus/hark/harktest"
)

// varying are the parts of an output that differ from run to run.
var varying = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`\[\d\d:\d\d:\d\d\]`), "[hh:mm:ss]"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`), "TIME"},
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "UID"},
}

func normal(output string) string {
	for _, v := range varying {
		output = v.pattern.ReplaceAllString(output, v.with)
	}
	return output
}

func web() *appsv1.Deployment {
	labels := map[string]string{"app": "web"}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(1)),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "nginx", Image: "nginx:1.27"}}},
			},
		},
	}
}

// tell makes changes whose output is recorded, each one after the one before has
// been printed: several kinds have no common order.
func (c *cluster) tell(hark *live) {
	c.t.Helper()
	ctx, d := c.t.Context(), web()
	count := 0
	step := func(err error) {
		c.t.Helper()
		c.do(err)
		count++
		hark.until(hark.out, "the next event", func(text string) bool { return eventsIn(text) >= count })
	}
	step(c.Create(ctx, d))
	step(c.Change(ctx, d, func() {
		d.Spec.Replicas = new(int32(3))
		d.Spec.Template.Spec.Containers[0].Image = "nginx:1.28"
	}))
	step(c.ChangeStatus(ctx, d, func() { d.Status.ReadyReplicas = 1 }))
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}}
	step(c.Create(ctx, node))
	step(c.ChangeStatus(ctx, node, func() {
		node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	}))
	step(c.Delete(ctx, d))
}

// eventsIn counts the events of an output, in any format.
func eventsIn(output string) int {
	if documents := strings.Count(output, "schema"); documents > 0 {
		return documents
	}
	count := 0
	for line := range strings.Lines(output) {
		if !strings.HasPrefix(line, " ") {
			count++
		}
	}
	return count
}

func TestEveryFormatIsAsRecorded(t *testing.T) {
	for name, args := range map[string]string{
		"text-en": "--explain --lang en",
		"text-zh": "--diff --explain --lang zh --color always",
		"diff-en": "--diff --lang en",
		"json-en": "-o json --lang en",
		"json-zh": "-o json --diff --explain --lang zh",
		"yaml-en": "-o yaml --diff --lang en",
		"yaml-zh": "-o yaml --explain --lang zh",
		"name-zh": "-o name --lang zh",
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, harktest.Options{})
			hark := c.watch(append([]string{"deploy,nodes"}, strings.Fields(args)...)...)
			c.tell(hark.listens(2))
			hark.interrupt()
			got := normal(hark.out.String()) + "! " + normal(hark.err.String())
			file := filepath.Join("testdata", "live", name+".golden")
			if *rewrite {
				write(t, file, got)
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), got); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}

func TestNoFormatShowsWhatASecretHolds(t *testing.T) {
	const password, changed = "correct-horse", "battery-staple"
	hidden := []string{
		password, changed,
		base64.StdEncoding.EncodeToString([]byte(password)), base64.StdEncoding.EncodeToString([]byte(changed)),
	}
	for _, args := range []string{"", "--explain", "--diff", "-o json --diff", "-o yaml --diff", "-o name"} {
		t.Run(args, func(t *testing.T) {
			c := newCluster(t, harktest.Options{})
			hark := c.watch(append([]string{"secrets"}, strings.Fields(args)...)...)
			s := &corev1.Secret{
				ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "s", Annotations: map[string]string{
					"kubectl.kubernetes.io/last-applied-configuration": `{"stringData":{"password":"` + password + `"}}`,
				}},
				StringData: map[string]string{"password": password},
			}
			c.do(c.Create(t.Context(), s))
			hark.until(hark.out, "the secret", func(text string) bool { return eventsIn(text) == 1 })
			c.do(c.Change(t.Context(), s, func() { s.Data["password"] = []byte(changed) }))
			hark.until(hark.out, "its change", func(text string) bool { return eventsIn(text) == 2 })
			c.do(c.Delete(t.Context(), s))
			hark.until(hark.out, "its end", func(text string) bool { return eventsIn(text) == 3 })
			hark.interrupt()
			for _, value := range hidden {
				if strings.Contains(hark.out.String()+hark.err.String(), value) {
					t.Errorf("shows %q:\n%s", value, hark.out)
				}
			}
			if strings.Contains(args, "--diff") && !strings.Contains(hark.out.String(), "REDACTED/CHANGED") {
				t.Errorf("does not show that the password changed:\n%s", hark.out)
			}
		})
	}
}

func TestTheBannerSaysWhereAndWhat(t *testing.T) {
	c := newCluster(t, harktest.Options{})
	for args, want := range map[string]string{
		"pods -A":                         "Watching Pod events in all namespaces, Ctrl+C to quit\n",
		"pods -A -n default":              "Watching Pod events in all namespaces, Ctrl+C to quit\n",
		"nodes":                           "Watching Node events, Ctrl+C to quit\n",
		"nodes -n kube-system":            "Watching Node events, Ctrl+C to quit\n",
		"po,deploy -n kube-system":        "Watching Pod, Deployment events in namespace=kube-system, Ctrl+C to quit\n",
		"po,pods,pod":                     "Watching Pod events in namespace=default, Ctrl+C to quit\n",
		"pods -A --lang zh":               "监听所有 namespace 的 Pod 事件，Ctrl+C 退出\n",
		"nodes --lang zh":                 "监听 Node 事件，Ctrl+C 退出\n",
		"po,svc --lang zh":                "监听 namespace=default 的 Pod、Service 事件，Ctrl+C 退出\n",
		"deploy/web --lang zh":            "监听 namespace=default 的 Deployment/web 事件，Ctrl+C 退出\n",
		"deployments.v1.apps web -o name": "Watching Deployment/web events in namespace=default, Ctrl+C to quit\n",
	} {
		hark := c.watch(strings.Fields(args)...)
		hark.says("\n")
		hark.interrupt()
		if got := hark.err.String(); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q; want %q", args, got, want)
		}
	}
}

func TestEventsAreTakenFromAllNamespacesOrOne(t *testing.T) {
	c := newCluster(t, harktest.Options{})
	all, one := c.watch("pods", "-A", "-n", "default"), c.watch("pods")
	far := pod("far")
	far.Namespace = "kube-system"
	c.do(c.Create(t.Context(), far))
	all.prints("Added    kube-system/far\n")
	c.createPod("near")
	all.prints("Added    default/near\n")
	one.prints("Added    default/near\n")
	one.interrupt()
	if strings.Contains(one.out.String(), "far") {
		t.Errorf("another namespace is told of:\n%s", one.out)
	}
}

func TestSelectorsChoose(t *testing.T) {
	c := newCluster(t, harktest.Options{})
	byLabel, byField := c.watch("pods", "-l", "app=web"), c.watch("pods", "--field-selector", "metadata.name=b")
	a, b := pod("a"), pod("b")
	a.Labels, b.Labels = map[string]string{"app": "web"}, map[string]string{"app": "db"}
	c.do(c.Create(t.Context(), a))
	c.do(c.Create(t.Context(), b))
	byLabel.prints("Added    default/a\n")
	byField.prints("Added    default/b\n")
	// A pod that leaves the selection is gone, for who asked for the selection.
	c.do(c.Change(t.Context(), a, func() { a.Labels["app"] = "db" }))
	byLabel.prints("Deleted  default/a\n")
	byLabel.interrupt()
	byField.interrupt()
	if strings.Contains(byLabel.out.String(), "default/b") || strings.Contains(byField.out.String(), "default/a") {
		t.Errorf("by label:\n%s\nby field:\n%s", byLabel.out, byField.out)
	}
}
