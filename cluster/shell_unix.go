//go:build unix

package cluster

import (
	"io"
	"os"
	"os/exec"
	"syscall"
)

// shellScript runs a server below a shell where the kernel does not tell a child of
// its parent's death. The shell's standard input is a pipe whose other end this
// process holds open: its end is the end of this process, and the shell kills the
// server. It passes SIGTERM on and ends with the server's status. A signal ends a wait
// early, or comes when the wait is over already and a second one gives 127. The log
// is the server's: what a shell says of its jobs does not belong there.
const shellScript = `
trap 'asked=yes; kill -TERM $server' TERM
exec 4<&0 </dev/null
"$@" 4<&- &
server=$!
exec 2>/dev/null
( read -r _ <&4; kill -KILL $server ) &
watcher=$!
status=127
while :; do
	asked=
	wait $server
	waited=$?
	[ $waited -eq 127 ] || status=$waited
	[ "$asked" ] || break
done
kill -KILL $watcher
exit $status
`

// supervisedByShell is a supervisor for every Unix.
func supervisedByShell(c command) (cmd *exec.Cmd, release func(), err error) {
	stdin, hold, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	alive, life, err := os.Pipe()
	if err != nil {
		_, _ = stdin.Close(), hold.Close() // nothing was written
		return nil, nil, err
	}
	cmd = c.exec("/bin/sh", append([]string{"-c", shellScript, "sh", c.path}, c.args...)...)
	cmd.Stdin = stdin
	cmd.ExtraFiles = []*os.File{life} // all that the shell starts inherit it as 3
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd, func() {
		// Letting go has a server killed whose shell was. The end of alive is that of
		// the last process: the shell may be gone before the server is.
		_, _, _ = stdin.Close(), hold.Close(), life.Close()
		_, _ = io.Copy(io.Discard, alive)
		_ = alive.Close()
	}, nil
}
