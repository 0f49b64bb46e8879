package cluster

import (
	"errors"
	"path/filepath"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

func TestAllServersDieWhenTheirOwnerIsKilled(t *testing.T) {
	skipShort(t)
	temp := t.TempDir()
	owner := startHelper(t, "cluster", temp)
	var servers []int // a descriptor each, readable when the process has ended
	for line := owner.line(t); line != "up"; line = owner.line(t) {
		pid, err := strconv.Atoi(line)
		if err != nil {
			t.Fatal(err)
		}
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = unix.Close(fd) })
		servers = append(servers, fd)
	}
	if len(servers) != 5 {
		t.Fatalf("got %d servers; want 5", len(servers))
	}
	owner.kill()
	for _, fd := range servers {
		waitForExit(t, fd)
	}
	if left := runDirs(t, temp); len(left) != 1 {
		t.Fatalf("got run directories %v; want the killed owner's", left)
	}
	removeAbandoned(temp)
	if left, _ := filepath.Glob(filepath.Join(temp, "*")); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
}

func waitForExit(t *testing.T, pidfd int) {
	t.Helper()
	poll := []unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}
	for {
		_, err := unix.Poll(poll, -1)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		return
	}
}
