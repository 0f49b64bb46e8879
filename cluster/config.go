package cluster

import (
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// The user that Config stands for. Members of the group may do everything.
const (
	adminUser  = "admin"
	adminGroup = "system:masters"
)

// ContextName is the context of the kubeconfigs that a cluster writes.
const ContextName = "hark-cluster"

// URL returns the address of the API server, such as "https://127.0.0.1:41234". It
// stays the same when the server is restarted.
func (c *Cluster) URL() string { return fmt.Sprintf("https://127.0.0.1:%d", c.port.number) }

// Config returns a client configuration of the administrator, without client-side
// rate limits. Each call returns its own, which the caller may change.
func (c *Cluster) Config() *rest.Config { return c.config(c.admin) }

// ConfigFor returns a client configuration, as Config does, of any user in any
// groups. A user may do what RBAC rules grant to the name, the groups or
// system:authenticated: without a rule, nothing but discovery. It panics if user
// is empty.
func (c *Cluster) ConfigFor(user string, groups ...string) *rest.Config {
	return c.config(c.mustIssue(user, groups))
}

func (c *Cluster) config(who credential) *rest.Config {
	return &rest.Config{
		Host: c.URL(),
		QPS:  -1,
		TLSClientConfig: rest.TLSClientConfig{
			CAData: c.authority.pem, CertData: who.cert, KeyData: who.key,
		},
	}
}

// mustIssue issues a client certificate, which fails for nothing but a caller's
// mistake.
func (c *Cluster) mustIssue(user string, groups []string) credential {
	if user == "" {
		panic("cluster: a user without a name")
	}
	who, err := c.authority.client(user, groups)
	if err != nil {
		panic(fmt.Sprintf("cluster: user %q, groups %q: %v", user, groups, err))
	}
	return who
}

// Kubeconfig returns a kubeconfig for kubectl and others, of the user that ConfigFor
// describes. Its context, ContextName, has the namespace default.
func (c *Cluster) Kubeconfig(user string, groups ...string) []byte {
	return c.kubeconfig(user, c.mustIssue(user, groups))
}

func (c *Cluster) kubeconfig(user string, who credential) []byte {
	k := clientcmdapi.NewConfig()
	k.Clusters[ContextName] = &clientcmdapi.Cluster{Server: c.URL(), CertificateAuthorityData: c.authority.pem}
	k.AuthInfos[user] = &clientcmdapi.AuthInfo{ClientCertificateData: who.cert, ClientKeyData: who.key}
	k.Contexts[ContextName] = &clientcmdapi.Context{Cluster: ContextName, AuthInfo: user, Namespace: "default"}
	k.CurrentContext = ContextName
	data, err := clientcmd.Write(*k)
	if err != nil {
		panic("cluster: a kubeconfig does not encode: " + err.Error())
	}
	return data
}

// WriteKubeconfig writes the administrator's kubeconfig to a file that only its owner
// can read.
func (c *Cluster) WriteKubeconfig(path string) error {
	if err := os.WriteFile(path, c.kubeconfig(adminUser, c.admin), 0o600); err != nil {
		return fmt.Errorf("cluster: kubeconfig: %w", err)
	}
	return nil
}

// writeKubeconfigs writes the files of the servers that are clients, and the one that
// KubeconfigPath names. The scheduler and the controllers have the rights that
// Kubernetes' own RBAC rules give them; kwok writes to all nodes and pods.
func (c *Cluster) writeKubeconfigs() error {
	for _, k := range []struct{ file, user, group string }{
		{managerKubeconfig, "system:kube-controller-manager", ""},
		{schedulerKubeconfig, "system:kube-scheduler", ""},
		{kwokKubeconfig, "kwok", adminGroup},
	} {
		var groups []string
		if k.group != "" {
			groups = append(groups, k.group)
		}
		file := filepath.Join(c.dir.path, k.file)
		if err := os.WriteFile(file, c.Kubeconfig(k.user, groups...), 0o600); err != nil {
			return fmt.Errorf("cluster: kubeconfig: %w", err)
		}
	}
	return c.WriteKubeconfig(c.KubeconfigPath())
}

// KubeconfigPath returns the name of a kubeconfig of the administrator that is there
// until Close.
func (c *Cluster) KubeconfigPath() string { return filepath.Join(c.dir.path, "kubeconfig") }
