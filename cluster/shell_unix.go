//go:build unix

package cluster

import (
	"os"
	"os/exec"
	"syscall"
)

// shellScript runs a server below a shell where the kernel does not tell a child of
// its parent's death. The shell's standard input is a pipe whose other end this
// process holds open: its end is the end of this process, and the shell kills the
// server. It passes SIGTERM on and ends with the server's status.
const shellScript = `
exec 3<&0 </dev/null
"$@" 3<&- &
server=$!
( read -r _ <&3; kill -KILL $server ) 2>/dev/null &
watcher=$!
trap 'kill -TERM $server 2>/dev/null' TERM
while :; do
	wait $server
	status=$?
	kill -0 $server 2>/dev/null || break
done
kill -KILL $watcher 2>/dev/null
exit $status
`

// supervisedByShell is a supervisor for every Unix.
func supervisedByShell(c command) (cmd *exec.Cmd, release func(), err error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	cmd = c.exec("/bin/sh", append([]string{"-c", shellScript, "sh", c.path}, c.args...)...)
	cmd.Stdin = read
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd, func() {
		_ = read.Close() // nothing was ever
		_ = write.Close()
	}, nil
}
