//go:build !unix && !windows

package process

import (
	"os"
	"os/exec"
)

// group is the program alone, where the system has nothing better.
type group struct{ program *os.Process }

func (g *group) start(cmd *exec.Cmd) error {
	if err := cmd.Start(); err != nil {
		return err
	}
	g.program = cmd.Process
	return nil
}

func (g *group) leftovers() bool { return false }

func (g *group) terminate() { g.kill() }

func (g *group) kill() { _ = g.program.Kill() } // an error: it has ended

func (g *group) release() {}
