package cluster

import (
	"errors"
	"fmt"
	"net"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func TestAReservedPortIsNobodyElses(t *testing.T) {
	p := mustReserve(t)
	if listener, err := net.Listen("tcp", address(p)); !errors.Is(err, syscall.EADDRINUSE) {
		if err == nil {
			listener.Close()
		}
		t.Errorf("listening on a reserved port: got %v; want address in use", err)
	}
}

func TestAReservedPortRefusesConnectionsUntilTheServerListens(t *testing.T) {
	p := mustReserve(t)
	if _, err := net.Dial("tcp", address(p)); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Fatalf("before: got %v; want connection refused", err)
	}
	for range 2 { // and once more, as after a restart
		serveOne(t, p)
		if _, err := net.Dial("tcp", address(p)); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Fatalf("after: got %v; want connection refused", err)
		}
	}
}

// serveOne listens as the API server does and takes connections for a while: were some
// given to the socket that does not listen, one of these would fail.
func serveOne(t *testing.T, p *port) {
	t.Helper()
	listener, err := sharing().Listen(t.Context(), "tcp", address(p))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	for range 50 {
		conn, err := net.Dial("tcp", address(p))
		if err != nil {
			t.Fatal(err)
		}
		accepted, err := listener.Accept()
		if err != nil {
			t.Fatal(err)
		}
		accepted.Close()
		conn.Close()
	}
}

func TestReservedPortsAreDistinct(t *testing.T) {
	seen := map[int]bool{}
	for range 200 {
		p := mustReserve(t)
		if seen[p.number] {
			t.Fatalf("port %d was reserved twice", p.number)
		}
		seen[p.number] = true
	}
}

func TestAReleasedPortIsFree(t *testing.T) {
	p, err := reservePort()
	if err != nil {
		t.Fatal(err)
	}
	p.release()
	listener, err := net.Listen("tcp", address(p))
	if err != nil {
		t.Fatal(err)
	}
	listener.Close()
}

func mustReserve(t *testing.T) *port {
	t.Helper()
	p, err := reservePort()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.release)
	return p
}

func address(p *port) string { return fmt.Sprintf("127.0.0.1:%d", p.number) }

// sharing listens with SO_REUSEPORT, as --permit-port-sharing makes the API server do.
func sharing() *net.ListenConfig {
	return &net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error {
		var failed error
		err := raw.Control(func(fd uintptr) {
			failed = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
		})
		return errors.Join(err, failed)
	}}
}
