package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/gocampus/hark/cluster"
)

// kubeconfigVariable names a control plane to compare with instead of one that is
// built and started: its controllers must be off. The scenarios on compaction need
// a server that can be restarted, and start one all the same.
const kubeconfigVariable = "HARK_CONFORMANCE_KUBECONFIG"

// alone are the options of an API server that nothing but the scenarios writes to.
var alone = cluster.Options{NoScheduler: true, NoControllerManager: true, NoKwok: true}

// realServer returns the server whose answers are right.
func realServer(t *testing.T) *server {
	t.Helper()
	path := os.Getenv(kubeconfigVariable)
	if path == "" {
		c := cluster.StartWith(t, alone)
		return serverOf(t, c.Config(), c.KubeconfigPath())
	}
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		t.Fatal(err)
	}
	return serverOf(t, config, path)
}

// forgetfulServer returns a real server that can be made to forget.
func forgetfulServer(t *testing.T) *server {
	t.Helper()
	o := alone
	o.APIServerArgs = []string{"--etcd-compaction-interval=1s"}
	c := cluster.StartWith(t, o)
	s := serverOf(t, c.Config(), c.KubeconfigPath())
	s.compact = func(ctx context.Context) error {
		if err := s.awaitCompaction(ctx); err != nil {
			return err
		}
		return c.RestartAPIServer(ctx) // its cache remembers what the store has forgotten
	}
	return s
}

func serverOf(t *testing.T, config *rest.Config, kubeconfig string) *server {
	t.Helper()
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	t.Cleanup(client.CloseIdleConnections)
	return &server{url: config.Host, client: client, kubeconfig: kubeconfig}
}

// compactionPoll is the time between two looks at whether a version is forgotten.
const compactionPoll = 200 * time.Millisecond

// awaitCompaction returns when the server has forgotten the version that is its
// newest now: it compacts by itself, and there is no way to ask it to.
func (s *server) awaitCompaction(ctx context.Context) error {
	version, _, err := s.listVersion(ctx, url.Values{"limit": {"1"}})
	if err != nil {
		return err
	}
	old := url.Values{"resourceVersion": {version}, "resourceVersionMatch": {"Exact"}}
	for {
		switch _, code, err := s.listVersion(ctx, old); {
		case err != nil:
			return err
		case code == http.StatusGone:
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("version %s is not forgotten: %w", version, context.Cause(ctx))
		case <-time.After(compactionPoll):
		}
	}
}

// listVersion lists secrets and returns the version of the list.
func (s *server) listVersion(ctx context.Context, query url.Values) (version string, code int, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/api/v1/secrets?"+query.Encode(), nil)
	if err != nil {
		return "", 0, err
	}
	response, err := s.client.Do(r)
	if err != nil {
		return "", 0, err
	}
	defer response.Body.Close()
	var list struct {
		Metadata struct{ ResourceVersion string }
	}
	err = json.NewDecoder(response.Body).Decode(&list)
	return list.Metadata.ResourceVersion, response.StatusCode, err
}
