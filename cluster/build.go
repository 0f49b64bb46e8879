package cluster

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// BuildOptions of Build. The zero value works.
type BuildOptions struct {
	// Progress is told, in lines, what is being built and for how long. It is
	// written to only when something has to be built. Default none.
	Progress io.Writer
	// CacheDir holds a directory of binaries for each version. Default
	// hark/cluster in os.UserCacheDir.
	CacheDir string
	// Go is the go command. Default "go", as PATH finds it.
	Go string
}

// stagesFile holds kwok's account of how nodes and pods live, beside the binaries.
const stagesFile = "kwok-stages.yaml"

// BinDir returns the directory in which Build keeps the binaries of this package's
// versions for this platform, whether or not they are there.
func (o BuildOptions) BinDir() (string, error) {
	root := o.CacheDir
	if root == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("cluster: no cache directory: %w", err)
		}
		root = filepath.Join(cache, "hark", "cluster")
	}
	root, err := filepath.Abs(root)
	if err != nil {
		return "", fmt.Errorf("cluster: cache directory: %w", err)
	}
	return filepath.Join(root, hostKey()), nil
}

// Build builds what is missing of kube-apiserver, kube-controller-manager,
// kube-scheduler, etcd and kwok with the go command and returns the directory that
// holds them. The sources are modules, fetched by the go command as its own settings
// say and verified against the go.sum files in this package. A first build takes
// about ten minutes on two cores; later calls return at once.
//
// One process builds at a time, others wait for it. Each binary appears under its
// name only when it is whole, and an interrupted build keeps the finished ones.
//
// It fails with a *BuildError where the go command does, and with the cause of ctx
// when that ends first. It is safe for concurrent use.
func Build(ctx context.Context, o BuildOptions) (dir string, err error) {
	return build(ctx, o, allBinaries)
}

// build is Build for some of the binaries.
func build(ctx context.Context, o BuildOptions, wanted []binary) (string, error) {
	dir, err := o.BinDir()
	if err != nil {
		return "", err
	}
	if len(missing(dir, wanted)) == 0 {
		return dir, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("cluster: cache directory: %w", err)
	}
	report := newProgress(o.Progress)
	lock, err := waitLock(ctx, filepath.Join(dir, "lock"), func() {
		report.printf("another process is building in %s; waiting for it", dir)
	})
	if err != nil {
		return "", fmt.Errorf("cluster: waiting for the build lock: %w", err)
	}
	defer lock.release()
	todo := missing(dir, wanted) // another process may have built them meanwhile
	if len(todo) == 0 {
		return dir, nil
	}
	b := builder{goCommand: goCommand{path: o.Go}, dir: dir, report: report}
	if err := b.all(ctx, todo); err != nil {
		return "", err
	}
	return dir, nil
}

// missing lists those of the wanted binaries that dir does not hold.
func missing(dir string, wanted []binary) []binary {
	return slices.DeleteFunc(slices.Clone(wanted), func(b binary) bool {
		return isFile(filepath.Join(dir, b.name)) &&
			(b.name != kwokBinary.name || isFile(filepath.Join(dir, stagesFile)))
	})
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// builder builds into a cache directory whose lock it holds.
type builder struct {
	goCommand goCommand
	dir       string
	report    *progress
}

// all builds the binaries one after the other.
func (b *builder) all(ctx context.Context, todo []binary) error {
	b.report.printf("building a control plane into %s (a first build takes about 10 minutes on 2 cores)", b.dir)
	if err := b.removeLeftovers(); err != nil {
		return err
	}
	for i, target := range todo {
		b.report.begin(fmt.Sprintf("%s %s (%d of %d)", target.name, target.version(), i+1, len(todo)))
		err := b.one(ctx, target)
		b.report.end(err)
		if err != nil {
			return err
		}
	}
	return nil
}

// removeLeftovers removes the work of builders that were killed.
func (b *builder) removeLeftovers() error {
	old, err := filepath.Glob(filepath.Join(b.dir, "work-*"))
	if err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	for _, dir := range old {
		if err := os.RemoveAll(dir); err != nil {
			return fmt.Errorf("cluster: an earlier build's files: %w", err)
		}
	}
	return nil
}

// one builds a binary in a directory of its own and moves it into place.
func (b *builder) one(ctx context.Context, target binary) (err error) {
	work, err := os.MkdirTemp(b.dir, "work-")
	if err != nil {
		return fmt.Errorf("cluster: build directory: %w", err)
	}
	defer os.RemoveAll(work)
	if err := writeRecipe(target.recipe, work); err != nil {
		return fmt.Errorf("cluster: recipe: %w", err)
	}
	out := filepath.Join(work, "out")
	if err := b.goCommand.run(ctx, work, target.name, target.args(out), b.report.line); err != nil {
		return err
	}
	if target.name == kwokBinary.name {
		if err := b.stages(ctx, work); err != nil {
			return err
		}
	}
	return install(out, filepath.Join(b.dir, target.name))
}

// stages joins the YAML of kwok's module that makes nodes ready and pods run, which
// its binary does not contain.
func (b *builder) stages(ctx context.Context, work string) error {
	module, err := b.goCommand.output(ctx, work, kwokBinary.name, "list", "-m", "-f={{.Dir}}", kwokModule)
	if err != nil {
		return err
	}
	joined, err := joinStages(filepath.Join(module, "kustomize", "stage"))
	if err != nil {
		return fmt.Errorf("cluster: kwok's stages: %w", err)
	}
	file := filepath.Join(work, stagesFile)
	if err := os.WriteFile(file, joined, 0o644); err != nil {
		return fmt.Errorf("cluster: kwok's stages: %w", err)
	}
	return install(file, filepath.Join(b.dir, stagesFile))
}

// joinStages reads the stages that need no time: a node is ready and a pod runs as
// soon as kwok sees it.
func joinStages(dir string) ([]byte, error) {
	pods, err := filepath.Glob(filepath.Join(dir, "pod", "fast", "pod-*.yaml"))
	if err != nil {
		return nil, err
	}
	files := append([]string{
		filepath.Join(dir, "node", "fast", "node-initialize.yaml"),
		filepath.Join(dir, "node", "heartbeat-with-lease", "node-heartbeat-with-lease.yaml"),
	}, pods...)
	var joined []byte
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		joined = append(joined, "---\n"...)
		joined = append(joined, data...)
		joined = append(joined, '\n')
	}
	return joined, nil
}

// install moves a file to its name in the cache once its bytes are on disk: a name
// that survives a power failure stands for a whole file.
func install(from, to string) error {
	file, err := os.Open(from)
	if err != nil {
		return fmt.Errorf("cluster: built file: %w", err)
	}
	err = file.Sync()
	_ = file.Close() // it was only read
	if err != nil {
		return fmt.Errorf("cluster: built file: %w", err)
	}
	if err := os.Rename(from, to); err != nil {
		return fmt.Errorf("cluster: built file: %w", err)
	}
	return nil
}
