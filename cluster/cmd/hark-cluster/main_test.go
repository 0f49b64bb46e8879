package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/gocampus/hark/cluster"
)

type result struct {
	status         int
	stdout, stderr string
}

func run(ctx context.Context, args ...string) result {
	var stdout, stderr bytes.Buffer
	status := program{stdout: &stdout, stderr: &stderr, text: english}.run(ctx, args)
	return result{status, stdout.String(), stderr.String()}
}

func TestPathPrintsTheDirectoryOfTheBinaries(t *testing.T) {
	want, err := cluster.BuildOptions{}.BinDir()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(result{stdout: want + "\n"}, run(t.Context(), "path"), cmp.AllowUnexported(result{})); diff != "" {
		t.Errorf("path (-want +got):\n%s", diff)
	}
}

func TestHelpIsNotAnError(t *testing.T) {
	if diff := cmp.Diff(result{stdout: english.usage}, run(t.Context(), "--help"), cmp.AllowUnexported(result{})); diff != "" {
		t.Errorf("--help (-want +got):\n%s", diff)
	}
	if got := run(t.Context(), "up", "-h"); got.status != exitOK || got.stderr != english.usage {
		t.Errorf("up -h: got %+v; want the usage and status 0", got)
	}
}

func TestMistakesOnTheCommandLineHaveStatus2(t *testing.T) {
	for _, args := range [][]string{
		{}, {"down"}, {"path", "x"}, {"build", "--fast"}, {"up", "now"}, {"up", "--nodes", "many"},
		{"up", "--feature-gates", "A=maybe"}, {"up", "--no-such-flag"},
	} {
		got := run(t.Context(), args...)
		if got.status != exitUsage || got.stdout != "" || got.stderr == "" {
			t.Errorf("%q: got %+v; want status 2 and a reason", args, got)
		}
	}
}

func TestFlagsBecomeOptions(t *testing.T) {
	p := program{stdout: io.Discard, stderr: io.Discard, text: english}
	got, err := p.parse([]string{"--nodes=5", "--feature-gates=A=true,B=false", "--log-dir", "/logs", "--kubeconfig-out=kc"})
	if err != nil {
		t.Fatal(err)
	}
	want := upFlags{kubeconfig: "kc", options: cluster.Options{
		Nodes: 5, FeatureGates: map[string]bool{"A": true, "B": false}, LogDir: "/logs",
		Build: cluster.BuildOptions{Progress: io.Discard},
	}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v; want %+v", got, want)
	}
	if none, err := p.parse([]string{"--nodes=0"}); err != nil || none.options.Nodes >= 0 {
		t.Errorf("--nodes=0: got %d, %v; want what stands for none", none.options.Nodes, err)
	}
}

func TestUpRunsUntilItIsInterrupted(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts a control plane")
	}
	t.Setenv("TMPDIR", t.TempDir())
	file := filepath.Join(t.TempDir(), "it's a kubeconfig")
	ctx, interrupt := context.WithCancel(t.Context())
	read, write := io.Pipe()
	var stderr bytes.Buffer
	var running sync.WaitGroup
	running.Go(func() {
		defer write.Close()
		p := program{stdout: write, stderr: &stderr, text: english}
		if status := p.run(ctx, []string{"up", "--kubeconfig-out", file}); status != exitOK {
			t.Errorf("got status %d; want 0", status)
		}
	})
	line, err := bufio.NewReader(read).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if want := "export KUBECONFIG=" + quote(file) + "\n"; line != want {
		t.Errorf("got %q; want %q", line, want)
	}
	if got := versionAt(t, file); got != cluster.BuiltVersions().Kubernetes {
		t.Errorf("got version %s; want %s", got, cluster.BuiltVersions().Kubernetes)
	}
	interrupt()
	go io.Copy(io.Discard, read)
	running.Wait()
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the kubeconfig: got %v; want it removed", err)
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "*")); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
	for _, want := range []string{"The control plane is ready: https://127.0.0.1:", "Ending the control plane."} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("got messages %q; want %q among them", stderr.String(), want)
		}
	}
}

func versionAt(t *testing.T, kubeconfig string) string {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	version, err := client.Discovery().ServerVersion()
	if err != nil {
		t.Fatal(err)
	}
	return version.GitVersion
}

const ourKubeconfig = `apiVersion: v1
kind: Config
contexts: [{name: hark-cluster, context: {cluster: c, user: u}}]
`

func TestOnlyOurOwnKubeconfigIsWrittenOver(t *testing.T) {
	for name, test := range map[string]struct {
		data string
		ours bool
	}{
		"one that an earlier run left": {ourKubeconfig, true},
		"a user's":                     {strings.ReplaceAll(ourKubeconfig, "hark-cluster", "prod"), false},
		"a user's with ours merged in": {strings.Replace(ourKubeconfig, "[", "[{name: prod, context: {cluster: p}}, ", 1), false},
		"a text":                       {"remember the milk\n", false},
		"an empty file":                {"", false},
	} {
		file := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(file, []byte(test.data), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := mayReplace(file); (err == nil) != test.ours {
			t.Errorf("%s: got %v; want it replaced: %v", name, err, test.ours)
		}
		if test.ours {
			continue
		}
		if got := run(t.Context(), "up", "--kubeconfig-out", file); got.status != exitError || !strings.Contains(got.stderr, "exists") {
			t.Errorf("%s: up: got %+v; want a refusal", name, got)
		}
	}
	if err := mayReplace(filepath.Join(t.TempDir(), "missing")); err != nil {
		t.Errorf("a file that is not there: %v", err)
	}
}

func TestTheLanguageIsTheLocales(t *testing.T) {
	for _, test := range []struct {
		env  map[string]string
		want catalogue
	}{
		{nil, english},
		{map[string]string{"LANG": "zh_CN.UTF-8"}, chinese},
		{map[string]string{"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, english},
		{map[string]string{"LANG": "en_US.UTF-8", "LC_MESSAGES": "zh"}, chinese},
		{map[string]string{"LANG": "zha_CN"}, english},
	} {
		if got := detect(func(name string) string { return test.env[name] }); got != test.want {
			t.Errorf("%v: got the other language", test.env)
		}
	}
}

func TestBothLanguagesSayTheSame(t *testing.T) {
	verbs, words := regexp.MustCompile(`%[a-z]`), regexp.MustCompile(`--[a-z-]+|hark-cluster [a-z]+`)
	en, zh := reflect.ValueOf(english), reflect.ValueOf(chinese)
	for i := range en.NumField() {
		name, a, b := en.Type().Field(i).Name, en.Field(i).String(), zh.Field(i).String()
		if diff := cmp.Diff(verbs.FindAllString(a, -1), verbs.FindAllString(b, -1)); diff != "" {
			t.Errorf("%s: verbs (-en +zh):\n%s", name, diff)
		}
		if diff := cmp.Diff(words.FindAllString(a, -1), words.FindAllString(b, -1)); diff != "" {
			t.Errorf("%s: commands and flags (-en +zh):\n%s", name, diff)
		}
	}
}

func TestAQuotedWordIsOneWordOfTheShell(t *testing.T) {
	for _, word := range []string{"/tmp/a-b_c.1", "", "a b", "it's", "$HOME", "`id`", `"`, `\`, "*", "~", "a;b", "中文"} {
		got, err := exec.Command("sh", "-c", "printf %s "+quote(word)).Output()
		if err != nil || string(got) != word {
			t.Errorf("%q: the shell got %q, %v", word, got, err)
		}
	}
}
