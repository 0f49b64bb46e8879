package hark_test

import (
	"go/build"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/gocampus/hark"

// layers is the order of the packages: each may import those of earlier lines
// (and its own line's only where it says so).
var layers = [][]string{
	{"key", "internal/goid", "internal/sleep"},
	{"wire"},
	{"watch"},
	{"delta", "store", "workqueue", "reflector"},
	{"informer", "worker"},
	{"kube"},
	{""},
	{"harktest", "record"},
	{"internal/cli", "lessons"},
	{"cmd"},
}

// stages know nothing of Kubernetes' libraries, of HTTP or of the command line.
var stages = []string{"key", "wire", "watch", "delta", "store", "reflector", "informer", "workqueue", "worker"}

// forbidden to stages, by prefix.
var forbidden = []string{"k8s.io/", "sigs.k8s.io/", "net/http", "net", "log", "log/slog", "os", "github.com/spf13/", module + "/kube", module + "/harktest", module + "/internal/cli"}

func TestStagesImportOnlyDownwardsAndNothingOfKubernetes(t *testing.T) {
	for _, stage := range stages {
		for _, imported := range imports(t, stage) {
			for _, bad := range forbidden {
				if imported == bad || strings.HasSuffix(bad, "/") && strings.HasPrefix(imported, bad) {
					t.Errorf("%s imports %s", stage, imported)
				}
			}
			if own, ok := strings.CutPrefix(imported, module+"/"); ok && level(own) >= level(stage) {
				t.Errorf("%s imports %s, which is not below it", stage, own)
			}
		}
	}
}

// TestInformerAndWorkerDoNotKnowEachOther: they meet in the façade alone.
func TestInformerAndWorkerDoNotKnowEachOther(t *testing.T) {
	for a, others := range map[string][]string{
		"informer":  {"worker", "workqueue"},
		"worker":    {"informer", "reflector", "store", "delta", "wire", "watch"},
		"workqueue": {"informer", "reflector", "store", "delta", "wire", "watch", "worker"},
	} {
		for _, other := range others {
			if slices.Contains(imports(t, a), module+"/"+other) {
				t.Errorf("%s imports %s", a, other)
			}
		}
	}
}

// TestTheLibraryDoesNotPayForTheTool: what a user of the library compiles has
// nothing of the command line in it.
func TestTheLibraryDoesNotPayForTheTool(t *testing.T) {
	seen := map[string]bool{}
	var visit func(string)
	visit = func(dir string) {
		if seen[dir] {
			return
		}
		seen[dir] = true
		for _, imported := range imports(t, dir) {
			if strings.HasPrefix(imported, "github.com/spf13/cobra") || strings.HasPrefix(imported, "k8s.io/cli-runtime") ||
				strings.HasPrefix(imported, "github.com/klauspost/") || strings.HasPrefix(imported, "cel.dev/") {
				t.Errorf("%s imports %s", dir, imported)
			}
			if own, ok := strings.CutPrefix(imported, module+"/"); ok {
				visit(own)
			}
		}
	}
	visit("kube")
	visit("worker")
	visit("workqueue")
	visit(".")
	if len(seen) < 8 {
		t.Fatalf("saw only %v", seen)
	}
}

func level(dir string) int {
	for i, layer := range layers {
		for _, p := range layer {
			if dir == p || p != "" && strings.HasPrefix(dir, p+"/") {
				return i
			}
		}
	}
	return len(layers)
}

// imports of the non-test files in dir and below it; of the root, its own alone.
func imports(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if dir == "." && path != "." || d.Name() == "testdata" {
			return fs.SkipDir
		}
		p, err := build.ImportDir(path, 0)
		if _, none := err.(*build.NoGoError); none {
			return nil
		}
		if err != nil {
			return err
		}
		out = append(out, p.Imports...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
