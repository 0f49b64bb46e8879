//go:build unix

package cluster

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// supervisors are the ways to bind a server's life to its owner's. The shell's is for
// systems without the kernel's and works on all.
var supervisors = map[string]supervisor{"kernel": supervised, "shell": supervisedByShell}

func roleCommand(t *testing.T, args ...string) command {
	dir := t.TempDir()
	return command{
		name: "server", path: os.Args[0], args: append([]string{"role"}, args...),
		dir: dir, log: filepath.Join(dir, "server.log"),
	}
}

// mustStart starts a server that is not to end by itself.
func mustStart(t *testing.T, c command, supervise supervisor) *process {
	t.Helper()
	p, err := startSupervised(c, supervise, func(p *process) { t.Errorf("ended unasked: %v", p.err) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	return p
}

func TestAServerDiesWhenItsOwnerIsKilled(t *testing.T) {
	for how := range supervisors {
		t.Run(how, func(t *testing.T) {
			l := newLives(t)
			owner := startHelper(t, "owner", how, l.socket, t.TempDir())
			conn := l.accept(t)
			owner.kill()
			waitForDeath(t, conn)
		})
	}
}

func TestKillEndsAServerThatDoesNotListen(t *testing.T) {
	for how, supervise := range supervisors {
		t.Run(how, func(t *testing.T) {
			l := newLives(t)
			p := mustStart(t, roleCommand(t, "stubborn", l.socket), supervise)
			conn := l.accept(t)
			p.kill()
			waitForDeath(t, conn)
			p.kill() // once more does nothing
		})
	}
}

func TestStopLetsAServerEndByItself(t *testing.T) {
	for how, supervise := range supervisors {
		t.Run(how, func(t *testing.T) {
			l := newLives(t)
			c := roleCommand(t, "server", l.socket)
			p := mustStart(t, c, supervise)
			conn := l.accept(t)
			p.stop(time.Minute)
			waitForDeath(t, conn)
			if exit, ok := errors.AsType[*exec.ExitError](p.err); !ok || exit.ExitCode() != 3 {
				t.Errorf("got end %v; want the server's own status 3", p.err)
			}
			if got := tailOfFile(c.log); got != "asked to end" {
				t.Errorf("got log %q; want the server's farewell", got)
			}
		})
	}
}

func TestStopKillsAServerAfterTheGracePeriod(t *testing.T) {
	for how, supervise := range supervisors {
		t.Run(how, func(t *testing.T) {
			l := newLives(t)
			p := mustStart(t, roleCommand(t, "stubborn", l.socket), supervise)
			conn := l.accept(t)
			p.stop(10 * time.Millisecond)
			waitForDeath(t, conn)
		})
	}
}

func TestAnEndThatNobodyAskedForIsReportedWithTheLog(t *testing.T) {
	for how, supervise := range supervisors {
		t.Run(how, func(t *testing.T) {
			ended := make(chan *ServerError, 1)
			p, err := startSupervised(roleCommand(t, "quitter"), supervise, func(p *process) { ended <- p.failure() })
			if err != nil {
				t.Fatal(err)
			}
			got := <-ended
			<-p.done
			if got.Server != "server" || got.Log != "no such flag" {
				t.Errorf("got %+v; want the server's name and log", got)
			}
			if exit, ok := errors.AsType[*exec.ExitError](got); !ok || exit.ExitCode() != 7 {
				t.Errorf("got end %v; want status 7", got.Err)
			}
			want := "cluster: server: exit status 7\n    no such flag"
			if got.Error() != want {
				t.Errorf("got message %q; want %q", got, want)
			}
		})
	}
}

func TestAServersEndIsItsWholeEnd(t *testing.T) {
	for how, supervise := range supervisors {
		t.Run(how, func(t *testing.T) {
			l := newLives(t)
			p, err := startSupervised(roleCommand(t, "stubborn", l.socket), supervise, func(*process) {})
			if err != nil {
				t.Fatal(err)
			}
			conn := l.accept(t)
			if err := p.cmd.Process.Kill(); err != nil { // of a shell, it alone
				t.Fatal(err)
			}
			<-p.done
			if !isDead(t, conn) {
				t.Error("the server lives on after its end was told")
			}
		})
	}
}

func TestABinaryThatCannotBeRunIsAnError(t *testing.T) {
	c := roleCommand(t)
	c.path = filepath.Join(c.dir, "missing")
	_, err := startProcess(c, func(*process) { t.Error("an end of what never started") })
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "cluster: server: ") {
		t.Errorf("got %v; want a missing file, with the server's name", err)
	}
}

func TestServersSeeABareEnvironment(t *testing.T) {
	t.Setenv("KUBECONFIG", "/home/user/.kube/config")
	t.Setenv("HTTPS_PROXY", "http://proxy")
	c := command{dir: "/run/here"}
	got := c.exec("/bin/server").Env
	want := []string{"HOME=/run/here", "TMPDIR=/run/here", "PATH=" + os.Getenv("PATH")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("environment (-want +got):\n%s", diff)
	}
}
