package cli

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/gocampus/hark/harktest"
)

const (
	loadKeys    = 1000
	loadChanges = 10_000
)

// load makes 1,000 ConfigMaps and, while hark runs, changes them 10,000 times.
func (c *cluster) load() (change func()) {
	maps := make([]*corev1.ConfigMap, loadKeys)
	for i := range maps {
		maps[i] = c.createConfigMap(fmt.Sprintf("m-%d", i), "0")
	}
	return func() {
		for n := range loadChanges {
			m := maps[(n*7)%loadKeys]
			m.Data["n"] = strconv.Itoa(n + 1)
			m.ResourceVersion = ""
			c.do(c.Update(c.t.Context(), m))
		}
	}
}

// lastSeen is the last version of each key that a program has printed.
func lastSeen(out string) map[string]string {
	last := map[string]string{}
	for line := range strings.Lines(out) {
		if _, seen, ok := strings.Cut(strings.TrimSpace(line), "| saw "); ok {
			name, n, _ := strings.Cut(seen, " ")
			last[name] = n
		}
	}
	return last
}

func complete10k(out string) bool {
	last := lastSeen(out)
	if len(last) < loadKeys {
		return false
	}
	for n := loadChanges - loadKeys; n < loadChanges; n++ {
		if last[fmt.Sprintf("m-%d", (n*7)%loadKeys)] != strconv.Itoa(n+1) {
			return false
		}
	}
	return true
}

func TestTenThousandChangesOfAThousandKeysAreSeenToTheLast(t *testing.T) {
	c := newCluster(t, harktest.Options{})
	change := c.load()
	hark := c.run("configmaps", "--stream", "--", program(t, "streaming"))
	change()
	end := time.Now().Add(2 * patience)
	for !complete10k(hark.out.String()) {
		if time.Now().After(end) {
			t.Fatalf("%d keys were seen, not all in their last version\n%s", len(lastSeen(hark.out.String())), hark.err)
		}
		time.Sleep(20 * time.Millisecond)
	}
	if code := hark.interrupt(); code != exitDone {
		t.Errorf("exit %d\n%s", code, hark.err)
	}
}

func init() {
	roles["recording"] = func() { // prints each request
		in := bufio.NewReader(os.Stdin)
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			fmt.Print("got " + line + "{}\n")
		}
	}
}
