package cli

import (
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	twoInYAML = `# Comments and empty documents do not count.
---
apiVersion: v1
kind: ConfigMap
metadata: {name: one, namespace: shop}
---
---
apiVersion: v1
kind: Secret
metadata: {name: two}
data: {a: Yg==}
`
	twoInJSON = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"three"},"spec":{"containers":[{"name":"c","image":"i"}]},
"status":{"phase":"Running"}} {"apiVersion":"v1","kind":"List","items":[
{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"four"}}]}`
	definition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  names: {plural: widgets, kind: Widget}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
---
apiVersion: example.com/v1
kind: Widget
metadata: {name: five}
`
)

func TestFilesOfAllFormsAreLoaded(t *testing.T) {
	dir := home(t)
	var args []string
	for name, content := range map[string]string{"a,b.yaml": twoInYAML, "c.json": twoInJSON, "definition.yaml": definition} {
		path := filepath.Join(dir, name)
		write(t, path, content)
		args = append(args, "--load", path)
	}
	hark, ready := serves(t, args...)
	if ready.Loaded != 6 {
		t.Errorf("%d objects were loaded; want 6", ready.Loaded)
	}
	api := clientOf(t, ready.Kubeconfig)
	if pod, err := api.CoreV1().Pods("default").Get(t.Context(), "three", metav1.GetOptions{}); err != nil || pod.Status.Phase != "Running" {
		t.Errorf("the pod: %v, %v", pod, err)
	}
	if _, err := api.CoreV1().Namespaces().Get(t.Context(), "shop", metav1.GetOptions{}); err != nil {
		t.Errorf("the namespace of a loaded object: %v", err)
	}
	widgets := get(t, ready.URL+"/apis/example.com/v1/namespaces/default/widgets")
	if !strings.Contains(widgets, `"name":"five"`) {
		t.Errorf("widgets: %s", widgets)
	}
	hark.interrupt()
}

func TestObjectsAreLoadedFromStandardInput(t *testing.T) {
	hark := startProcess(t, Process{
		Args: []string{"hark", "apiserver", "--load", "-", "-o", "json"}, In: strings.NewReader(twoInYAML), Getenv: environment(nil).get,
	})
	hark.prints(`"loaded":2}`)
	if code := hark.interrupt(); code != exitDone || hark.err.String() != "" {
		t.Errorf("exit %d: %s", code, hark.err)
	}
}

func TestABadObjectIsToldByFileAndNumber(t *testing.T) {
	const good = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\n"
	dir := home(t)
	for content, want := range map[string]string{
		good + "kind: Nope\napiVersion: nope/v1\nmetadata: {name: b}\n":                  `Nope b: no matches for kind "Nope" in version "nope/v1"`,
		good + "kind: ConfigMap\napiVersion: v1\n":                                       "metadata.name is required",
		good + "kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\n":                  "already exists",
		good + "kind: Pod\napiVersion: v1\nmetadata: {name: b}\nspec: {containers: 7}\n": "Pod default/b: json: cannot unmarshal number into Go struct field PodSpec.spec.containers",
		good + "[1, 2]\n":     "cannot unmarshal array",
		good + "a: b: c\n":    "mapping values are not allowed",
		good + "\x00\x01\n":   "control characters are not allowed",
		good + `{"kind": 1`:   "",
		good + "just words\n": "cannot unmarshal string",
	} {
		path := filepath.Join(dir, "objects")
		write(t, path, content)
		kubeconfig := filepath.Join(dir, "config")
		got := run(t.Context(), nil, "hark", "apiserver", "--load", path, "--kubeconfig-out", kubeconfig)
		if got.code != exitError || !strings.HasPrefix(got.err, "error: "+path+": object 2: ") ||
			!strings.Contains(got.err, want) || !strings.Contains(got.err, "\ntry: ") || got.out != "" {
			t.Errorf("%q:\n%s", content, got)
		}
		if exists(t, kubeconfig) {
			t.Errorf("%q: a kubeconfig is left", content)
		}
	}
}
