package cli

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/client-go/tools/clientcmd"
)

var rewrite = flag.Bool("rewrite", false, "write what happens now to testdata instead of comparing")

// home gives the test a home folder without any cluster, and returns it.
func home(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"KUBECONFIG", "KUBERNETES_MASTER", "KUBERNETES_SERVICE_HOST"} {
		t.Setenv(name, "")
	}
	t.Setenv("HOME", dir)
	t.Setenv("USERPROFILE", dir)
	t.Setenv("KUBECACHEDIR", filepath.Join(dir, "cache"))
	file := clientcmd.RecommendedHomeFile // client-go looks for the home folder only once
	clientcmd.RecommendedHomeFile = filepath.Join(dir, ".kube", "config")
	t.Cleanup(func() { clientcmd.RecommendedHomeFile = file })
	return dir
}

// invocation is one run of the command inside the test.
type invocation struct {
	out, err string
	code     int
}

// environment is what a test's commands see.
type environment map[string]string

func (e environment) get(name string) string { return e[name] }

// run runs the command to its end.
func run(ctx context.Context, env environment, args ...string) invocation {
	var out, err bytes.Buffer
	code := Main(ctx, Process{
		Args: args, In: strings.NewReader(""), Out: &out, Err: &err, Getenv: env.get,
	})
	return invocation{out.String(), err.String(), code}
}

// String writes an invocation as scenario files have it.
func (i invocation) String() string {
	var b strings.Builder
	b.WriteString(i.out)
	for line := range strings.Lines(i.err) {
		b.WriteString("! " + line) // standard error
	}
	fmt.Fprintf(&b, "exit %d\n", i.code)
	return b.String()
}

// closedPort is a port of this machine where nobody listens.
func closedPort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	return port
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

const kubeconfigOfClosedPort = `apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "http://127.0.0.1:$CLOSED"}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
users: [{name: u, user: {}}]
current-context: c
`

// Each "$ hark …" line of the file is run; what follows it is what it printed.
func TestUsageAndConfigurationErrorsAreAsRecorded(t *testing.T) {
	dir := home(t)
	port := closedPort(t)
	write(t, filepath.Join(dir, "broken"), "{]")
	write(t, filepath.Join(dir, "empty"), "")
	write(t, filepath.Join(dir, "config"), strings.ReplaceAll(kubeconfigOfClosedPort, "$CLOSED", port))

	file := filepath.Join("testdata", "usage.txt")
	recorded, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for line := range strings.Lines(string(recorded)) {
		command, isCommand := strings.CutPrefix(line, "$ ")
		if !isCommand {
			continue
		}
		command = strings.NewReplacer("$DIR", dir, "$CLOSED", port, `"`, "").Replace(strings.TrimSpace(command))
		result := run(t.Context(), nil, strings.Fields(command)...).String()
		got.WriteString(line + strings.NewReplacer(dir, "$DIR", ":"+port, ":$CLOSED").Replace(result) + "\n")
	}
	if *rewrite {
		write(t, file, got.String())
	} else if d := cmp.Diff(string(recorded), got.String()); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// visibleFlags are the names of a command's flags.
func visibleFlags(cmd *cobra.Command) []string {
	var names []string
	cmd.InitDefaultHelpFlag()
	cmd.Flags().VisitAll(func(flag *pflag.Flag) { names = append(names, flag.Name) })
	return names
}
