package informer

import (
	"testing"

	"github.com/gocampus/hark/internal/watchtest"
	"github.com/gocampus/hark/watch"
)

// TestWhatIsOlderThanTheStoreChangesNothing: the reflector holds old events of
// a watch back, but not what comes with a list or a streaming list.
func TestWhatIsOlderThanTheStoreChangesNothing(t *testing.T) {
	i := New(watchtest.New(), Options{})
	var l tape
	r := handle(t, i, l.handle, HandlerOptions{})
	i.apply.Begin(true, false)
	i.apply.Put(watchtest.Object("o/U2@9"))
	i.apply.Commit("9", false)
	i.apply.Begin(false, false)
	if stale := i.apply.Put(watchtest.Object("o/U2@8")); !stale {
		t.Error("an older version of a list was not called stale")
	}
	i.apply.Apply(watch.EventModified, watchtest.Object("o/U2@7"))
	i.apply.Apply(watch.EventDeleted, watchtest.Object("o/U1@8"))
	i.apply.Apply("RENAMED", watchtest.Object("o/U2@10"))
	i.apply.Commit("10", false)
	expect(t, "store", content(i.Store()), []string{"o/U2@9"})
	if n := r.Status().Pending; n != 1 {
		t.Errorf("%d events wait for the handler; want the first alone", n)
	}
	if c := i.Status().Changes; c.Stale != 3 || c.Unknown != 1 || c.Stored != 1 {
		t.Errorf("counts %+v; want 3 stale, 1 unknown, 1 stored", c)
	}
}
