package cluster

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// authority issues the certificates of one cluster. The API server takes a client for
// whom its certificate names: the common name is the user, the organizations are the
// groups.
//
// Source: https://kubernetes.io/docs/reference/access-authn-authz/authentication/#x509-client-certificates
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte
}

// credential is a certificate and its key in PEM.
type credential struct{ cert, key []byte }

// Certificates hold from a while ago, for clocks that were set back, for longer than
// any cluster runs.
const (
	certPast   = time.Hour
	certFuture = 10 * 365 * 24 * time.Hour
)

func newAuthority() (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := certificate(pkix.Name{CommonName: "hark-cluster"})
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &authority{cert: cert, key: key, pem: encode("CERTIFICATE", der)}, nil
}

// server issues the API server's certificate for the names that lead to it.
func (a *authority) server() (credential, error) {
	template := certificate(pkix.Name{CommonName: "kube-apiserver"})
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	template.DNSNames = []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"}
	template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1), net.IPv4(10, 0, 0, 1)}
	return a.issue(template)
}

// client issues a certificate for a user.
func (a *authority) client(user string, groups []string) (credential, error) {
	template := certificate(pkix.Name{CommonName: user, Organization: groups})
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	return a.issue(template)
}

func certificate(name pkix.Name) *x509.Certificate {
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: serialNumber(),
		Subject:      name,
		NotBefore:    now.Add(-certPast),
		NotAfter:     now.Add(certFuture),
		KeyUsage:     x509.KeyUsageDigitalSignature,
	}
}

// serialNumber is random and positive.
func serialNumber() *big.Int {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // never fails
	b[0] &= 0x7f
	b[15] |= 1
	return new(big.Int).SetBytes(b)
}

func (a *authority) issue(template *x509.Certificate) (credential, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return credential{}, err
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return credential{}, err
	}
	keyPEM, err := encodeKey(key)
	if err != nil {
		return credential{}, err
	}
	return credential{cert: encode("CERTIFICATE", der), key: keyPEM}, nil
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

func encodeKey(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, err
	}
	return encode("EC PRIVATE KEY", der), nil
}

// The files that the servers read, in the run directory.
const (
	caFile         = "ca.crt"
	serverCertFile = "apiserver.crt"
	serverKeyFile  = "apiserver.key"
	tokenKeyFile   = "service-account.key"
)

// writeFiles writes what the API server needs and the key that service account
// tokens are signed with.
func (a *authority) writeFiles(dir string) error {
	server, err := a.server()
	if err != nil {
		return fmt.Errorf("cluster: certificate: %w", err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("cluster: service account key: %w", err)
	}
	tokenKey, err := encodeKey(key)
	if err != nil {
		return fmt.Errorf("cluster: service account key: %w", err)
	}
	for name, data := range map[string][]byte{
		caFile: a.pem, serverCertFile: server.cert, serverKeyFile: server.key, tokenKeyFile: tokenKey,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			return fmt.Errorf("cluster: certificate: %w", err)
		}
	}
	return nil
}
