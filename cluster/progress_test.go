package cluster

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestProgressTellsHowFarABuildIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		p := newProgress(&out)
		p.begin("etcd v1 (1 of 2)")
		time.Sleep(10*time.Second + time.Millisecond)
		p.line("go: downloading example.com/a v1.0.0")
		p.line("go: downloading example.com/b v1.0.0")
		p.line("example.com/a/x")
		p.line("a remark that does not count")
		time.Sleep(10 * time.Second)
		p.end(nil)
		p.begin("kwok v2 (2 of 2)")
		time.Sleep(time.Second)
		p.end(errors.New("broken"))
		want := `cluster: etcd v1 (1 of 2) …
cluster: etcd v1 (1 of 2) 10s
cluster: etcd v1 (1 of 2) 20s, 2 modules fetched, 1 packages compiled, now example.com/a/x
cluster: etcd v1 (1 of 2) done in 20s
cluster: kwok v2 (2 of 2) …
cluster: kwok v2 (2 of 2) failed after 1s
`
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("progress (-want +got):\n%s", diff)
		}
	})
}

func TestProgressForNobodyIsSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProgress(nil)
		p.begin("etcd")
		time.Sleep(time.Minute)
		p.line("example.com/a")
		p.end(nil)
	})
}
