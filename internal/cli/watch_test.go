package cli

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/gocampus/hark/harktest"
)

// chapter plays section 4 of the chapter: a pod is created, becomes Pending and
// Running, and is deleted.
func (c *cluster) chapter() {
	c.t.Helper()
	c.createPod("tmp")
	p := pod("tmp")
	c.do(c.ChangeStatus(c.t.Context(), p, func() { // the scheduler has found a node
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue}}
	}))
	c.setPhase("tmp", corev1.PodRunning)
	c.deletePod("tmp")
}

func TestWatchShowsTheChaptersSection4(t *testing.T) {
	for lang, banner := range map[string]string{
		"zh": "监听 namespace=default 的 Pod 事件，Ctrl+C 退出\n",
		"en": "Watching Pod events in namespace=default, Ctrl+C to quit\n",
	} {
		t.Run(lang, func(t *testing.T) {
			c := newCluster(t, harktest.Options{})
			hark := c.watch("pods", "--lang", lang).listens(1)
			hark.says(banner)
			c.chapter()
			hark.prints("Deleted  default/tmp\n")
			if code := hark.interrupt(); code != exitDone {
				t.Errorf("exit %d after Ctrl+C; want 0", code)
			}
			want := "[hh:mm:ss] Added    default/tmp\n" +
				"[hh:mm:ss] Modified default/tmp phase=Pending\n" +
				"[hh:mm:ss] Modified default/tmp phase=Running\n" +
				"[hh:mm:ss] Deleted  default/tmp\n"
			if d := cmp.Diff(want, hark.lines()); d != "" {
				t.Errorf("stdout (-want +got):\n%s", d)
			}
			if hark.err.String() != banner {
				t.Errorf("stderr %q; want %q", hark.err, banner)
			}
		})
	}
}

func TestObjectsThatExistComeFirstAsAdded(t *testing.T) {
	c := newCluster(t, harktest.Options{})
	c.createPod("a")
	c.createPod("b")
	hark := c.watch("po", "-o", "json")
	hark.prints(`"name":"b"`)
	c.setPhase("a", corev1.PodRunning)
	hark.prints(`"type":"MODIFIED"`)
	hark.interrupt()
	causes := strings.Count(hark.out.String(), `"type":"ADDED","cause":"initial"`)
	if causes != 2 || !strings.Contains(hark.out.String(), `"type":"MODIFIED","cause":"watch"`) {
		t.Errorf("%d initial events in\n%s", causes, hark.out)
	}
}
