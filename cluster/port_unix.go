//go:build unix && !linux

package cluster

import (
	"fmt"
	"net"
)

// port is a loopback port that was free when it was looked for. (That a bound socket
// which does not listen leaves connections to another is sure of Linux only.)
type port struct{ number int }

// reservePort finds a free port.
func reservePort() (*port, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("cluster: port: %w", err)
	}
	defer listener.Close()
	return &port{number: listener.Addr().(*net.TCPAddr).Port}, nil
}

// release gives the port back.
func (p *port) release() {}
