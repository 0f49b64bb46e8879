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
// server. It passes SIGTERM on and ends with the server's status. A signal ends a wait
// early, or comes when the wait is over already and a second one gives 127. The log
// is the server's: what a shell says of its jobs does not belong there.
const shellScript = `
trap 'asked=yes; kill -TERM $server' TERM
exec 3<&0 </dev/null
"$@" 3<&- &
server=$!
exec 2>/dev/null
( read -r _ <&3; kill -KILL $server ) &
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
