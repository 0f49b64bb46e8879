package cluster

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestTheKeyNamesVersionsAndPlatform(t *testing.T) {
	got := cacheKey(recipes, "linux", "amd64")
	v := BuiltVersions()
	want := regexp.MustCompile("^kubernetes-" + regexp.QuoteMeta(v.Kubernetes) + "_etcd-" + regexp.QuoteMeta(v.Etcd) +
		"_kwok-" + regexp.QuoteMeta(v.Kwok) + "_linux_amd64_[0-9a-f]{12}$")
	if !want.MatchString(got) {
		t.Errorf("got key %q; want it to match %s", got, want)
	}
	if again := cacheKey(recipes, "linux", "amd64"); again != got {
		t.Errorf("got another key, %q, of the same recipe; want %q", again, got)
	}
}

func TestTheKeyDiffersWithThePlatform(t *testing.T) {
	keys := map[string]bool{}
	for _, platform := range [][2]string{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "arm64"}, {"darwin", "amd64"}} {
		keys[cacheKey(recipes, platform[0], platform[1])] = true
	}
	if len(keys) != 4 {
		t.Errorf("got %d keys of 4 platforms: %v", len(keys), keys)
	}
}

func TestTheKeyDiffersWithEveryByteOfTheRecipe(t *testing.T) {
	key := cacheKey(recipes, "linux", "amd64")
	for _, name := range recipeFiles(recipes) {
		changed := copyRecipes(t)
		changed[name].Data[len(changed[name].Data)-1] ^= 1
		if cacheKey(changed, "linux", "amd64") == key {
			t.Errorf("%s: a changed byte does not change the key", name)
		}
		renamed := copyRecipes(t)
		renamed[name+".old"] = renamed[name]
		delete(renamed, name)
		if cacheKey(renamed, "linux", "amd64") == key {
			t.Errorf("%s: another name does not change the key", name)
		}
	}
}

func copyRecipes(t *testing.T) fstest.MapFS {
	t.Helper()
	files := fstest.MapFS{}
	for _, name := range recipeFiles(recipes) {
		data, err := fs.ReadFile(recipes, name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = &fstest.MapFile{Data: slices.Clone(data)}
	}
	return files
}

func TestEveryRecipePinsWhatItRequires(t *testing.T) {
	for _, b := range allBinaries {
		sums := string(mustRead(recipes, path.Join("recipe", b.recipe, "go.sum.txt")))
		mod := string(mustRead(recipes, path.Join("recipe", b.recipe, "go.mod.txt")))
		for _, required := range regexp.MustCompile(`(?m)^(?:require)?\s+(\S+ v\S+)`).FindAllStringSubmatch(mod, -1) {
			replaced := regexp.MustCompile(`(?m)^(?:replace |\t)` + regexp.QuoteMeta(strings.Fields(required[1])[0]) + ` => (\S+ v\S+)$`)
			pinned := required[1]
			if r := replaced.FindStringSubmatch(mod); r != nil {
				pinned = r[1]
			}
			if !strings.Contains(sums, pinned+"/go.mod h1:") && !strings.Contains(sums, pinned+" h1:") {
				t.Errorf("%s: go.sum does not have %s", b.recipe, pinned)
			}
		}
	}
}

func TestTheVersionsAreThoseOfTheRecipe(t *testing.T) {
	want := Versions{Kubernetes: "v1.37.2", Etcd: "v3.7.3", Kwok: "v0.8.0"}
	if got := BuiltVersions(); got != want {
		t.Errorf("got %+v; want %+v", got, want)
	}
}

func TestKubernetesIsToldItsVersion(t *testing.T) {
	want := []string{
		"build", "-v", "-trimpath", "-buildvcs=false",
		"-ldflags=-s -w -X k8s.io/component-base/version.gitVersion=v1.37.2" +
			" -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=37" +
			" -X k8s.io/component-base/version.gitTreeState=clean",
		"-o", "/out", "k8s.io/kubernetes/cmd/kube-scheduler",
	}
	if diff := cmp.Diff(want, schedulerBinary.args("/out")); diff != "" {
		t.Errorf("arguments (-want +got):\n%s", diff)
	}
}

func TestARecipeIsWrittenUnderTheGoCommandsNames(t *testing.T) {
	for _, b := range allBinaries {
		dir := t.TempDir()
		if err := writeRecipe(b.recipe, dir); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"go.mod", "go.sum", "main.go"} {
			got, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			want := mustRead(recipes, path.Join("recipe", b.recipe, name+".txt"))
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("%s/%s (-want +got):\n%s", b.recipe, name, diff)
			}
		}
	}
}

// The recipe is for the go command: whoever imports this package must not have to
// resolve, fetch or audit a control plane.
func TestTheModuleItselfRequiresLittle(t *testing.T) {
	data, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	direct, _, _ := strings.Cut(string(data), ")")
	var got []string
	for _, m := range regexp.MustCompile(`(?m)^\t(\S+) v`).FindAllStringSubmatch(direct, -1) {
		got = append(got, m[1])
	}
	want := []string{
		"github.com/google/go-cmp", "go.uber.org/goleak", // of tests
		"golang.org/x/sys", "k8s.io/api", "k8s.io/apimachinery", "k8s.io/client-go",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("direct requirements (-want +got):\n%s", diff)
	}
	for _, heavy := range []string{"k8s.io/kubernetes", "go.etcd.io/", "sigs.k8s.io/kwok", "replace"} {
		if strings.Contains(string(data), heavy) {
			t.Errorf("go.mod has %s", heavy)
		}
	}
}
