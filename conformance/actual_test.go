package conformance

import (
	"context"
	"net/http"
	"os"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// realServer returns the control plane that HARK_CONFORMANCE_KUBECONFIG names.
func realServer(t *testing.T) *server {
	t.Helper()
	path := os.Getenv("HARK_CONFORMANCE_KUBECONFIG")
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		t.Fatal(err)
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &server{url: config.Host, client: client, kubeconfig: path, compact: func(context.Context) error { return nil }}
}
