//go:build !unix

package cluster

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// errPlatform is the error of New and Build where kube-apiserver does not run.
var errPlatform = fmt.Errorf("cluster: no control plane on %s: %w", runtime.GOOS, errors.ErrUnsupported)

type port struct{ number int }

func reservePort() (*port, error) { return nil, errPlatform }

func (p *port) release() {}

func flock(*os.File) error { return errPlatform }

func tie(*exec.Cmd, syscall.Signal) {}

func signalGroup(p *os.Process, _ syscall.Signal) error { return p.Kill() }

func killServer(p *os.Process) error { return p.Kill() }

func supervised(command) (*exec.Cmd, func(), error) { return nil, nil, errPlatform }
