package harktest

import (
	"context"
	"fmt"
	"net"
	"os"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Config returns a client configuration without client-side rate limits. Each
// call returns its own, which the caller may change.
func (s *Server) Config() *rest.Config {
	c := &rest.Config{Host: s.URL(), QPS: -1}
	if s.tls != nil {
		c.CAData = s.tls.authority
	}
	if s.options.InMemory {
		c.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
			s.mu.Lock()
			listener := s.listener.(*pipeListener)
			s.mu.Unlock()
			return listener.dial(ctx)
		}
	}
	return c
}

// Kubeconfig returns a kubeconfig file for kubectl and others. It has the
// context "harktest" with the namespace default. An in-memory server can be
// reached by Config alone.
func (s *Server) Kubeconfig() []byte {
	const name = "harktest"
	c := clientcmdapi.NewConfig()
	c.Clusters[name] = &clientcmdapi.Cluster{Server: s.URL()}
	if s.tls != nil {
		c.Clusters[name].CertificateAuthorityData = s.tls.authority
	}
	c.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: name} // anything does; kubectl would ask for a password
	c.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name, Namespace: "default"}
	c.CurrentContext = name
	data, err := clientcmd.Write(*c)
	if err != nil {
		panic("harktest: a kubeconfig does not encode: " + err.Error())
	}
	return data
}

// WriteKubeconfig writes Kubeconfig to a file that only its owner can read.
func (s *Server) WriteKubeconfig(path string) error {
	if err := os.WriteFile(path, s.Kubeconfig(), 0o600); err != nil {
		return fmt.Errorf("harktest: kubeconfig: %w", err)
	}
	return nil
}
