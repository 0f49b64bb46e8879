package kube

import (
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const kubeconfigText = `
apiVersion: v1
kind: Config
current-context: one
clusters:
- {name: c1, cluster: {server: "https://one.test:6443"}}
- {name: c2, cluster: {server: "https://two.test:6443"}}
users:
- {name: u, user: {token: secret}}
contexts:
- {name: one, context: {cluster: c1, user: u}}
- {name: two, context: {cluster: c2, user: u, namespace: shop}}
`

// isolate gives the test a home and an environment without any configuration.
func isolate(t *testing.T) (home string) {
	t.Helper()
	home = t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("KUBECONFIG", "")
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	t.Setenv("KUBERNETES_SERVICE_PORT", "")
	// client-go works the path out once, when the program starts.
	old := clientcmd.RecommendedHomeFile
	clientcmd.RecommendedHomeFile = filepath.Join(home, ".kube", "config")
	t.Cleanup(func() { clientcmd.RecommendedHomeFile = old })
	return home
}

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAConfigurationIsFoundByTheRulesOfKubectl(t *testing.T) {
	other := strings.ReplaceAll(kubeconfigText, ".test", ".env")
	for _, tc := range []struct {
		name            string
		home, env       bool
		explicit        bool
		options         ConfigOptions
		host, namespace string
	}{
		{"the file at home", true, false, false, ConfigOptions{}, "https://one.test:6443", "default"},
		{"$KUBECONFIG before it", true, true, false, ConfigOptions{}, "https://one.env:6443", "default"},
		{"a path before both", true, true, true, ConfigOptions{}, "https://one.explicit:6443", "default"},
		{"a context", true, false, false, ConfigOptions{Context: "two"}, "https://two.test:6443", "shop"},
		{"a namespace", true, false, false, ConfigOptions{Context: "two", Namespace: "x"}, "https://two.test:6443", "x"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			home := isolate(t)
			if tc.home {
				write(t, clientcmd.RecommendedHomeFile, kubeconfigText)
			}
			if tc.env {
				t.Setenv("KUBECONFIG", write(t, filepath.Join(home, "env"), other))
			}
			if tc.explicit {
				tc.options.Kubeconfig = write(t, filepath.Join(home, "explicit"), strings.ReplaceAll(kubeconfigText, ".test", ".explicit"))
			}
			config, namespace, err := LoadConfig(tc.options)
			if err != nil {
				t.Fatal(err)
			}
			if config.Host != tc.host || namespace != tc.namespace || config.BearerToken != "secret" {
				t.Errorf("it is %s, namespace %s; want %s, namespace %s", config.Host, namespace, tc.host, tc.namespace)
			}
		})
	}
}

func TestNoConfigurationSaysWhereItWasLookedFor(t *testing.T) {
	home := isolate(t)
	_, _, err := LoadConfig(ConfigOptions{})
	missing, ok := errors.AsType[*NoConfigError](err)
	if !ok {
		t.Fatalf("the error is %v; want a *NoConfigError", err)
	}
	want := "no configuration for a Kubernetes cluster: $KUBECONFIG (not set); default file " + home +
		"/.kube/config (does not exist); in-cluster service account (not in a pod)"
	if missing.Error() != want {
		t.Errorf("the error is %q; want %q", missing, want)
	}
	t.Setenv("KUBECONFIG", filepath.Join(home, "gone")+string(filepath.ListSeparator)+write(t, filepath.Join(home, "empty"), ""))
	_, _, err = LoadConfig(ConfigOptions{})
	want = "no configuration for a Kubernetes cluster: $KUBECONFIG " + home + "/gone (does not exist); $KUBECONFIG " + home +
		"/empty (names no cluster); in-cluster service account (not in a pod)"
	if err == nil || err.Error() != want {
		t.Errorf("the error is %v; want %q", err, want)
	}
	_, _, err = LoadConfig(ConfigOptions{Kubeconfig: filepath.Join(home, "empty")})
	if err == nil || !strings.Contains(err.Error(), "kubeconfig "+home+"/empty (names no cluster)") {
		t.Errorf("the error is %v; want the file named", err)
	}
}

func TestAWrongConfigurationSaysWhatIsWrong(t *testing.T) {
	home := isolate(t)
	write(t, clientcmd.RecommendedHomeFile, kubeconfigText)
	gone, garbled := filepath.Join(home, "gone"), write(t, filepath.Join(home, "garbled"), "clusters: {")
	for _, tc := range []struct {
		options ConfigOptions
		want    string
	}{
		{ConfigOptions{Kubeconfig: gone}, "kubeconfig " + gone + ": file does not exist"},
		{ConfigOptions{Kubeconfig: garbled}, garbled},
		{ConfigOptions{Context: "three"}, `context "three" does not exist`},
	} {
		_, _, err := LoadConfig(tc.options)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%+v: %v; want %q in it", tc.options, err, tc.want)
		}
		if _, ok := errors.AsType[*NoConfigError](err); ok {
			t.Errorf("%+v: it is a *NoConfigError, but there is a configuration", tc.options)
		}
	}
}

func TestNewRefusesAConfigurationThatCannotWork(t *testing.T) {
	for name, config := range map[string]*rest.Config{
		"none":             nil,
		"no address":       {Host: "http://a b/"},
		"no certificate":   {Host: "https://server.test", TLSClientConfig: rest.TLSClientConfig{CAFile: "/does/not/exist"}},
		"two transports":   {Host: "https://server.test", Transport: transport(nil), TLSClientConfig: rest.TLSClientConfig{Insecure: true}},
		"two credentials":  {Host: "https://server.test", Username: "u", Password: "p", BearerToken: "t"},
		"a path in a host": {Host: "server.test/a/b"},
	} {
		if _, err := New(config, Options{}); err == nil || !strings.HasPrefix(err.Error(), "kube: ") {
			t.Errorf("%s: New returned %v; want an error of kube", name, err)
		}
	}
}

func TestNewCopiesTheConfiguration(t *testing.T) {
	config := &rest.Config{Host: "https://server.test", Timeout: time.Second}
	client, err := New(config, Options{})
	if err != nil {
		t.Fatal(err)
	}
	config.Host = "https://elsewhere.test"
	client.Config().Host = "https://elsewhere.test"
	if got := client.Config().Host; got != "https://server.test" {
		t.Errorf("the host is %s after the configuration changed", got)
	}
	if client.HTTP().Timeout != 0 {
		t.Error("the http.Client has a timeout, which would cut watches")
	}
}

func TestTheVersionOfTheUserAgentIsThatOfTheBuild(t *testing.T) {
	hark := func(version string) debug.Module { return debug.Module{Path: modulePath, Version: version} }
	dep := hark("v1.4.0")
	for _, tc := range []struct {
		name string
		info *debug.BuildInfo
		want string
	}{
		{"no information", nil, "devel"},
		{"a release", &debug.BuildInfo{Main: hark("v1.2.3")}, "v1.2.3"},
		{"a working tree", &debug.BuildInfo{Main: hark("(devel)")}, "devel"},
		{"a dependency", &debug.BuildInfo{Main: debug.Module{Path: "shop.test/x", Version: "v9"}, Deps: []*debug.Module{{Path: "a"}, &dep}}, "v1.4.0"},
		{"neither", &debug.BuildInfo{Main: debug.Module{Path: "shop.test/x", Version: "v9"}}, "devel"},
	} {
		if got := moduleVersion(tc.info); got != tc.want {
			t.Errorf("%s: %q; want %q", tc.name, got, tc.want)
		}
	}
}
