package harktest_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/gocampus/hark/harktest"
)

func TestServerAnswersOverEveryProtocol(t *testing.T) {
	for name, o := range map[string]harktest.Options{"plain": {}, "TLS": {TLS: true}, "in memory": {InMemory: true}, "in memory with TLS": {InMemory: true, TLS: true}} {
		t.Run(name, func(t *testing.T) {
			server := harktest.StartWith(t, o)
			client := clientset(t, server, "application/json")
			info, err := client.Discovery().ServerVersion()
			if err != nil || info.GitVersion != "v1.37.2" || info.Minor != "37" {
				t.Fatalf("ServerVersion = %+v, %v", info, err)
			}
		})
	}
}

func TestUnencryptedHTTP2IsServed(t *testing.T) {
	server := harktest.Start(t)
	protocols := &http.Protocols{}
	protocols.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: protocols}
	defer transport.CloseIdleConnections()
	response, err := (&http.Client{Transport: transport}).Get(server.URL() + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.ProtoMajor != 2 || response.StatusCode != http.StatusOK {
		t.Errorf("answer = %s %d; want HTTP/2 200", response.Proto, response.StatusCode)
	}
}

func TestTLSSpeaksHTTP2(t *testing.T) {
	server := harktest.StartWith(t, harktest.Options{TLS: true})
	response, err := httpClient(t, server).Get(server.URL() + "/livez")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.ProtoMajor != 2 {
		t.Errorf("answer = %s; want HTTP/2", response.Proto)
	}
}

func TestKubeconfigLeadsToTheServer(t *testing.T) {
	for _, tls := range []bool{false, true} {
		server := harktest.StartWith(t, harktest.Options{TLS: tls})
		path := filepath.Join(t.TempDir(), "config")
		if err := server.WriteKubeconfig(path); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("kubeconfig's mode = %v, %v; want 0600", info.Mode(), err)
		}
		config, err := clientcmd.BuildConfigFromFlags("", path)
		if err != nil {
			t.Fatal(err)
		}
		if config.Host != server.URL() || string(config.CAData) != string(server.Config().CAData) {
			t.Errorf("TLS %v: kubeconfig leads to %s with %d bytes of CA; want %s", tls, config.Host, len(config.CAData), server.URL())
		}
	}
}

func TestCloseEndsRequestsInFlightAndMayBeRepeated(t *testing.T) {
	server, err := harktest.New(harktest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	client := clientset(t, server, "application/json")
	watch, err := client.CoreV1().Pods("").Watch(context.Background(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	server.Close()
	for range watch.ResultChan() {
	}
	server.Close()
	if _, err := client.CoreV1().Pods("").List(context.Background(), metav1.ListOptions{}); err == nil {
		t.Error("a closed server answered a list")
	}
}

func TestNewSaysWhenItCannotListen(t *testing.T) {
	if _, err := harktest.New(harktest.Options{Addr: "256.0.0.1:0"}); err == nil {
		t.Error("New on an impossible address succeeded")
	}
}

func TestNamespacesOfEveryClusterExist(t *testing.T) {
	server := harktest.Start(t)
	list, err := harktest.List[*corev1.Namespace](server, "")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, n := range list {
		names = append(names, fmt.Sprintf("%s %s %v", n.Name, n.Status.Phase, n.Spec.Finalizers))
	}
	diff(t, "namespaces", names, []string{
		"default Active [kubernetes]", "kube-node-lease Active [kubernetes]", "kube-public Active [kubernetes]", "kube-system Active [kubernetes]",
	})
}

func TestRequestsAreRecorded(t *testing.T) {
	server := harktest.StartWith(t, harktest.Options{RequestLimit: 2})
	client := clientset(t, server, "application/json")
	ctx := context.Background()
	_, _ = client.CoreV1().Nodes().Get(ctx, "forgotten", metav1.GetOptions{})
	_, _ = client.CoreV1().Pods("default").List(ctx, metav1.ListOptions{Limit: 7})
	if _, err := client.CoreV1().Pods("default").UpdateStatus(ctx, pod("default", "a"), metav1.UpdateOptions{}); !apierrors.IsNotFound(err) {
		t.Fatalf("UpdateStatus of a missing pod = %v; want NotFound", err)
	}
	var got []string
	for _, r := range server.Requests() {
		got = append(got, fmt.Sprintf("%s %s %s/%s/%s limit=%s %d", r.Verb, r.Resource, r.Namespace, r.Name, r.Subresource, r.Query.Get("limit"), r.Code))
	}
	diff(t, "requests", got, []string{"list pods default// limit=7 200", "update pods default/a/status limit= 404"})
	server.ForgetRequests()
	if n := len(server.Requests()); n != 0 {
		t.Errorf("requests after ForgetRequests = %d; want 0", n)
	}
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		server, err := harktest.New(harktest.Options{})
		if err != nil {
			b.Fatal(err)
		}
		server.Close()
	}
}
