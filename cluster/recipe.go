package cluster

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// recipes holds a module for each group of binaries, with the go.sum that a
// build is verified against. The files end in .txt, since the go command leaves a
// directory with a go.mod out of the module around it.
//
//go:embed recipe
var recipes embed.FS

// Versions are the releases that Build builds.
type Versions struct {
	Kubernetes string // k8s.io/kubernetes, such as "v1.37.2"
	Etcd       string // go.etcd.io/etcd/server/v3
	Kwok       string // sigs.k8s.io/kwok
}

// BuiltVersions returns the releases that the recipe of this package pins.
func BuiltVersions() Versions {
	return Versions{
		Kubernetes: requiredVersion("kubernetes", "k8s.io/kubernetes"),
		Etcd:       requiredVersion("etcd", "go.etcd.io/etcd/server/v3"),
		Kwok:       requiredVersion("kwok", kwokModule),
	}
}

// requiredVersion reads the version of a module out of a recipe's go.mod.
func requiredVersion(recipe, module string) string {
	data := mustRead(recipes, path.Join("recipe", recipe, "go.mod.txt"))
	for line := range strings.Lines(string(data)) {
		fields := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "require "))
		if len(fields) >= 2 && fields[0] == module {
			return fields[1]
		}
	}
	panic(fmt.Sprintf("cluster: the recipe %s does not require %s", recipe, module))
}

// binary is one program of the control plane and how it is built.
type binary struct {
	name    string
	recipe  string   // directory in recipes
	pkg     string   // argument of go build
	ldflags []string // beyond -s -w
}

// The programs, in the order of building: the longest first, since what it
// compiles serves the next two.
var (
	apiserverBinary = kubernetesBinary("kube-apiserver")
	managerBinary   = kubernetesBinary("kube-controller-manager")
	schedulerBinary = kubernetesBinary("kube-scheduler")
	etcdBinary      = binary{name: "etcd", recipe: "etcd", pkg: "."}
	kwokBinary      = binary{name: "kwok", recipe: "kwok", pkg: kwokModule + "/cmd/kwok"}

	allBinaries = []binary{apiserverBinary, managerBinary, schedulerBinary, etcdBinary, kwokBinary}
)

const kwokModule = "sigs.k8s.io/kwok"

// kubernetesBinary tells a program of Kubernetes its version, which its own release
// build would: otherwise it calls itself v0.0.0-master.
func kubernetesBinary(name string) binary {
	const pkg = "k8s.io/component-base/version"
	v := requiredVersion("kubernetes", "k8s.io/kubernetes")
	parts := strings.SplitN(strings.TrimPrefix(v, "v"), ".", 3)
	return binary{
		name: name, recipe: "kubernetes", pkg: "k8s.io/kubernetes/cmd/" + name,
		ldflags: []string{
			"-X", pkg + ".gitVersion=" + v,
			"-X", pkg + ".gitMajor=" + parts[0],
			"-X", pkg + ".gitMinor=" + parts[1],
			"-X", pkg + ".gitTreeState=clean",
		},
	}
}

// args are the arguments of the go command that builds b into the file out.
func (b binary) args(out string) []string {
	ldflags := strings.Join(append([]string{"-s", "-w"}, b.ldflags...), " ")
	return []string{"build", "-v", "-trimpath", "-buildvcs=false", "-ldflags=" + ldflags, "-o", out, b.pkg}
}

// version of the release that b belongs to.
func (b binary) version() string {
	v := BuiltVersions()
	switch b.recipe {
	case "etcd":
		return v.Etcd
	case "kwok":
		return v.Kwok
	}
	return v.Kubernetes
}

// cacheKey names the directory of the binaries. It differs whenever other binaries
// would come out: other versions, another recipe or flag, another platform.
func cacheKey(files fs.FS, goos, goarch string) string {
	hash := sha256.New()
	for _, name := range recipeFiles(files) {
		data := mustRead(files, name)
		fmt.Fprintf(hash, "%s %d\n", name, len(data))
		hash.Write(data)
	}
	for _, b := range allBinaries {
		fmt.Fprintf(hash, "%s %q\n", b.name, b.args(b.name))
	}
	v := BuiltVersions()
	return strings.Join([]string{
		"kubernetes-" + v.Kubernetes, "etcd-" + v.Etcd, "kwok-" + v.Kwok,
		goos, goarch, hex.EncodeToString(hash.Sum(nil))[:12],
	}, "_")
}

// hostKey is the cacheKey of this machine.
func hostKey() string { return cacheKey(recipes, runtime.GOOS, runtime.GOARCH) }

// recipeFiles lists the files of all recipes, sorted.
func recipeFiles(files fs.FS) []string {
	var names []string
	err := fs.WalkDir(files, "recipe", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		panic("cluster: the embedded recipes cannot be listed: " + err.Error())
	}
	slices.Sort(names)
	return names
}

// writeRecipe puts one recipe into dir, under the names that the go command wants.
func writeRecipe(recipe, dir string) error {
	for _, name := range recipeFiles(recipes) {
		if path.Base(path.Dir(name)) != recipe {
			continue
		}
		file := filepath.Join(dir, strings.TrimSuffix(path.Base(name), ".txt"))
		if err := os.WriteFile(file, mustRead(recipes, name), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// mustRead reads an embedded file, which is there unless this package is wrong.
func mustRead(files fs.FS, name string) []byte {
	data, err := fs.ReadFile(files, name)
	if err != nil {
		panic("cluster: " + err.Error())
	}
	return data
}
