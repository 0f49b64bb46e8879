package cluster

import (
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// port is a loopback port that stays ours. A socket is bound to it and never
// listens: nobody else gets the port, not even while the API server is down, and
// connections are refused as if nobody had it. The API server may listen on it all
// the same, since both ask for SO_REUSEPORT.
type port struct {
	number int
	fd     int
}

// reservePort takes a free port, which release gives back.
func reservePort() (*port, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("cluster: port: %w", err)
	}
	number, err := bindLoopback(fd)
	if err != nil {
		_ = unix.Close(fd) // the error before says more
		return nil, fmt.Errorf("cluster: port: %w", err)
	}
	return &port{number: number, fd: fd}, nil
}

func bindLoopback(fd int) (int, error) {
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1); err != nil {
		return 0, err
	}
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return 0, err
	}
	name, err := unix.Getsockname(fd)
	if err != nil {
		return 0, err
	}
	inet, ok := name.(*unix.SockaddrInet4)
	if !ok {
		return 0, syscall.EAFNOSUPPORT
	}
	return inet.Port, nil
}

// release gives the port back.
func (p *port) release() { _ = unix.Close(p.fd) } // nothing to do about an error
