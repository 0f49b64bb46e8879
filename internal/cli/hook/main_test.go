package hook

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/gocampus/hark/internal/diff"
	"github.com/gocampus/hark/watch"
)

// roleVariable makes the test binary play a program instead of the tests.
const roleVariable = "HARK_HOOK_TEST_ROLE"

// roles are the programs that the test binary plays.
var roles = map[string]func(){}

func TestMain(m *testing.M) {
	if play := roles[os.Getenv(roleVariable)]; play != nil {
		play()
		return
	}
	goleak.VerifyTestMain(m)
}

// command is the test binary in a role.
func command(role string, args ...string) Command {
	return Command{Path: os.Args[0], Args: args, Env: append(os.Environ(), roleVariable+"="+role)}
}

// collected is an Output that keeps what passes.
type collected struct {
	mu          sync.Mutex
	out, err    strings.Builder
	bytes       int
	forget      bool // only counts
	withoutKeys int  // lines that belong to no request
}

func (c *collected) Pass(r *Request, stderr bool, lines []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bytes += len(lines)
	if r == nil {
		c.withoutKeys++
	}
	switch {
	case c.forget:
	case stderr:
		c.err.Write(lines)
	default:
		c.out.Write(lines)
	}
}

func (c *collected) stdout() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.out.String()
}

func (c *collected) stderr() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err.String()
}

// question is a request about a pod.
func question(name string) *Request {
	changes := []diff.Change{{Path: "spec.x", Op: diff.Changed, Old: int64(1), New: int64(2)}}
	deadline := Time(time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC))
	return &Request{
		Schema: Schema, Type: watch.EventModified, Attempt: 2, Merged: 1, Deadline: &deadline,
		Key:    Key{APIVersion: "v1", Kind: "Pod", Resource: "pods", Namespace: "default", Name: name},
		Object: map[string]any{"kind": "Pod", "metadata": map[string]any{"name": name, "resourceVersion": "7"}, "text": "<&>"},
		Causes: []Cause{
			{Type: watch.EventModified, Cause: "watch", ResourceVersion: "6", Diff: &changes},
			{Type: watch.EventModified, Cause: "watch", ResourceVersion: "7", Own: true, Diff: &changes},
			{Type: watch.EventModified, Cause: "resync", ResourceVersion: "7", Diff: &[]diff.Change{}},
		},
	}
}

// each answers requests line by line with what f returns, until stdin ends.
func each(f func(name string) string) {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<26)
	for in.Scan() {
		var r Request
		if err := json.Unmarshal(in.Bytes(), &r); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(9)
		}
		fmt.Println(f(r.Key.Name))
	}
}
