package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
)

// Compact removes from etcd all but the newest version of everything, which the API
// server does with what is older than five minutes. A list that continues from an
// older version, or asks for exactly that, is then answered with 410 Gone, unless the
// API server's own cache still holds it; RestartAPIServer empties the cache.
//
// It works whether or not the API server is up, and fails if the name of
// Options.TempDir is longer than a socket's may be, about 70 bytes.
//
// Source: https://etcd.io/docs/v3.6/op-guide/maintenance/#history-compaction-v3-api-key-value-database
func (c *Cluster) Compact(ctx context.Context) error {
	client := etcdClient(filepath.Join(c.dir.path, etcdSocket))
	defer client.CloseIdleConnections()
	var status struct {
		Header struct {
			Revision string `json:"revision"`
		} `json:"header"`
	}
	if err := askEtcd(ctx, client, "maintenance/status", struct{}{}, &status); err != nil {
		return err
	}
	request := struct {
		Revision string `json:"revision"`
		Physical bool   `json:"physical"` // answer when it is done, not when it is decided
	}{status.Header.Revision, true}
	err := askEtcd(ctx, client, "kv/compaction", request, nil)
	if err != nil && strings.Contains(err.Error(), "has been compacted") {
		return nil // nothing was written since the last time
	}
	return err
}

// etcdClient speaks HTTP to etcd's gateway on a socket.
func etcdClient(socket string) *http.Client {
	return &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", socket)
		},
	}}
}

// askEtcd posts a request to a method and decodes the answer, if somebody wants it.
func askEtcd(ctx context.Context, client *http.Client, method string, request, answer any) error {
	body, err := json.Marshal(request)
	if err != nil {
		return fmt.Errorf("cluster: etcd: %w", err)
	}
	post, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://etcd/v3/"+method, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("cluster: etcd: %w", err)
	}
	response, err := client.Do(post)
	if err != nil {
		return fmt.Errorf("cluster: etcd: %w", err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 64<<10))
	if err != nil {
		return fmt.Errorf("cluster: etcd: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("cluster: etcd: %s: %s", response.Status, bytes.TrimSpace(text))
	}
	if answer == nil {
		return nil
	}
	if err := json.Unmarshal(text, answer); err != nil {
		return fmt.Errorf("cluster: etcd: %w", err)
	}
	return nil
}
