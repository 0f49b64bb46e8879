package cluster

import (
	"crypto/tls"
	"crypto/x509"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTheServersCertificateHoldsForItsNames(t *testing.T) {
	a := mustAuthority(t)
	server, err := a.server()
	if err != nil {
		t.Fatal(err)
	}
	leaf := parse(t, server)
	for _, name := range []string{"127.0.0.1", "localhost", "kubernetes.default.svc", "10.0.0.1"} {
		_, err := leaf.Verify(x509.VerifyOptions{
			DNSName: name, Roots: pool(a), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := leaf.Verify(x509.VerifyOptions{DNSName: "example.com", Roots: pool(a)}); err == nil {
		t.Error("the certificate holds for a stranger's name")
	}
}

func TestAClientsCertificateNamesUserAndGroups(t *testing.T) {
	a := mustAuthority(t)
	client, err := a.client("jane", []string{"devs", "ops"})
	if err != nil {
		t.Fatal(err)
	}
	leaf := parse(t, client)
	usages := []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	if _, err := leaf.Verify(x509.VerifyOptions{Roots: pool(a), KeyUsages: usages}); err != nil {
		t.Error(err)
	}
	if _, err := leaf.Verify(x509.VerifyOptions{Roots: pool(mustAuthority(t)), KeyUsages: usages}); err == nil {
		t.Error("another cluster's authority takes the certificate")
	}
	if leaf.Subject.CommonName != "jane" {
		t.Errorf("got user %q; want jane", leaf.Subject.CommonName)
	}
	groups := slices.Sorted(slices.Values(leaf.Subject.Organization)) // a certificate has a set of them
	if diff := cmp.Diff([]string{"devs", "ops"}, groups); diff != "" {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
	if leaf.IsCA {
		t.Error("a client could issue certificates")
	}
}

func mustAuthority(t *testing.T) *authority {
	t.Helper()
	a, err := newAuthority()
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func pool(a *authority) *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(a.pem)
	return pool
}

// parse also checks that the key belongs to the certificate.
func parse(t *testing.T, c credential) *x509.Certificate {
	t.Helper()
	pair, err := tls.X509KeyPair(c.cert, c.key)
	if err != nil {
		t.Fatal(err)
	}
	return pair.Leaf
}
