package cli

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// serves starts "hark apiserver -o json" and returns what it announces.
func serves(t *testing.T, args ...string) (*live, readyServer) {
	t.Helper()
	hark := start(t, nil, append([]string{"hark", "apiserver", "-o", "json"}, args...)...)
	hark.prints("}\n")
	var ready readyServer
	if err := json.Unmarshal([]byte(hark.out.String()), &ready); err != nil {
		t.Fatalf("%v in %s", err, hark.out)
	}
	if ready.Schema != "hark.apiserver/v1" {
		t.Errorf("schema %q", ready.Schema)
	}
	return hark, ready
}

// clientOf is a client for a kubeconfig.
func clientOf(t *testing.T, kubeconfig string) kubernetes.Interface {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.CloseIdleConnections)
	api, err := kubernetes.NewForConfigAndClient(config, client)
	if err != nil {
		t.Fatal(err)
	}
	return api
}

// exists tells whether there is a file.
func exists(t *testing.T, path string) bool {
	t.Helper()
	_, err := os.Lstat(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return err == nil
}

// read returns what is in a file.
func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func TestTheServerSaysWhereItIsAndWhatToTry(t *testing.T) {
	for lang, pattern := range map[string]string{
		"en": `^API server (http://127\.0\.0\.1:\d+), kubeconfig (\S+\.kubeconfig); Ctrl\+C to quit\ntry: kubectl --kubeconfig (\S+) get namespaces\n$`,
		"zh": `^API 服务器 (http://127\.0\.0\.1:\d+)，kubeconfig (\S+\.kubeconfig)；Ctrl\+C 退出\ntry: kubectl --kubeconfig (\S+) get namespaces\n$`,
	} {
		t.Run(lang, func(t *testing.T) {
			hark := start(t, nil, "hark", "apiserver", "--lang", lang)
			hark.prints("get namespaces\n")
			found := regexp.MustCompile(pattern).FindStringSubmatch(hark.out.String())
			if found == nil || found[2] != found[3] {
				t.Fatalf("stdout:\n%s", hark.out)
			}
			if info, err := os.Stat(found[2]); err != nil || info.Mode().Perm()&0o077 != 0 {
				t.Errorf("kubeconfig: %v, %v", info, err)
			}
			if body := get(t, found[1]+"/readyz"); body != "ok" {
				t.Errorf("readyz: %q", body)
			}
			if code := hark.interrupt(); code != exitDone || hark.err.String() != "" {
				t.Errorf("exit %d; stderr:\n%s", code, hark.err)
			}
			if exists(t, found[2]) {
				t.Error("the kubeconfig is left")
			}
		})
	}
}

// get reads a URL.
func get(t *testing.T, url string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestTheServerSpeaksTLSThatItsKubeconfigTrusts(t *testing.T) {
	for _, addr := range []string{"127.0.0.1:0", "localhost:0", "0.0.0.0:0"} {
		hark, ready := serves(t, "--tls", "--unsafe-any-address", "--addr", addr)
		if !strings.HasPrefix(ready.URL, "https://127.0.0.1:") {
			t.Errorf("--addr %s is at %s", addr, ready.URL)
		}
		if _, err := clientOf(t, ready.Kubeconfig).CoreV1().Namespaces().Get(t.Context(), "default", metav1.GetOptions{}); err != nil {
			t.Errorf("--addr %s: %v", addr, err)
		}
		warned := strings.Contains(hark.err.String(), "may do everything")
		if open := strings.HasPrefix(addr, "0."); open != warned {
			t.Errorf("--addr %s: open %t; warned %t", addr, open, warned)
		}
	}
}

func TestTheStoryIsPlayedOnlyWhenAskedFor(t *testing.T) {
	for _, played := range []bool{false, true} {
		args := []string{"--story"}
		if !played {
			args = nil
		}
		_, ready := serves(t, args...)
		api := clientOf(t, ready.Kubeconfig)
		if _, err := api.CoreV1().Pods("default").Create(t.Context(), pod("tmp"), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		if !played {
			nodes, err := api.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
			if err != nil || len(nodes.Items) > 0 {
				t.Errorf("without a story: %v, %v", nodes, err)
			}
			continue
		}
		watching, err := api.CoreV1().Pods("default").Watch(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer watching.Stop()
		for event := range watching.ResultChan() {
			if p, ok := event.Object.(*corev1.Pod); ok && p.Status.Phase == corev1.PodRunning {
				break
			}
		}
	}
}

func TestAnAddressInUseIsAnErrorAndLeavesNothing(t *testing.T) {
	dir := home(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	path := filepath.Join(dir, "config")
	got := run(t.Context(), nil, "hark", "apiserver", "--addr", listener.Addr().String(), "--kubeconfig-out", path)
	if got.code != exitError || !strings.HasPrefix(got.err, "error: listen tcp "+listener.Addr().String()) ||
		!strings.Contains(got.err, "try: hark apiserver without --addr") || got.out != "" {
		t.Errorf("%s", got)
	}
	if exists(t, path) {
		t.Error("a kubeconfig is left")
	}
}

func TestAnAddressIsFoundWithItsNearestHost(t *testing.T) {
	for addr, want := range map[string]string{
		"127.0.0.1:8001": "127.0.0.1:8001", "localhost:0": "127.0.0.1:0", "[::1]:80": "[::1]:80",
		":8001": ":8001", "0.0.0.0:1": "0.0.0.0:1", "10.1.2.3:http": "10.1.2.3:80", "[fe80::1%lo]:1": "[fe80::1%lo]:1",
	} {
		got, err := resolve(t.Context(), addr)
		if err != nil || got.String() != want {
			t.Errorf("resolve(%s) = %v, %v; want %s", addr, got, err, want)
		}
	}
	for _, addr := range []string{"", "8001", "127.0.0.1", "127.0.0.1:70000", "127.0.0.1:-1", "[::1:80", "a:b:c"} {
		if got, err := resolve(t.Context(), addr); err == nil {
			t.Errorf("resolve(%q) = %v; want an error", addr, got)
		}
	}
}

func TestTheTimeThatWasGivenEndsTheServer(t *testing.T) {
	got := run(t.Context(), nil, "hark", "apiserver", "--for", "1ms", "--story")
	if got.code != exitDone || got.err != "" || !strings.Contains(got.out, "try: kubectl") {
		t.Errorf("%s", got)
	}
}

func TestAServerThatNobodyHearsOfEndsQuietly(t *testing.T) {
	var said strings.Builder
	code := Main(t.Context(), Process{
		Args: []string{"hark", "apiserver"}, In: strings.NewReader(""), Getenv: environment(nil).get,
		Out: &failingWriter{err: io.ErrClosedPipe, writes: 1}, Err: &said,
	})
	if code != exitDone || said.String() != "" {
		t.Errorf("exit %d: %s", code, said.String())
	}
}

func TestAnInterruptEndsAServerThatWaitsForItsInput(t *testing.T) {
	in, typing := io.Pipe() // of somebody who never types
	defer func() { _ = typing.Close() }()
	hark := startProcess(t, Process{Args: []string{"hark", "apiserver", "--load", "-"}, In: in, Getenv: environment(nil).get})
	if _, err := typing.Write([]byte("kind")); err != nil { // it reads
		t.Fatal(err)
	}
	if code := hark.interrupt(); code != exitDone || hark.out.String() != "" || hark.err.String() != "" {
		t.Errorf("exit %d: %s%s", code, hark.out, hark.err)
	}
}
