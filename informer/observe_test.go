package informer

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocampus/hark/internal/watchtest"
	"github.com/gocampus/hark/watch"
)

// TestCase25_LateAnswerToAWriteDoesNotRollBack: the watch has told @9 when the
// answer @7 comes; and it has told a deletion.
func TestCase25_LateAnswerToAWriteDoesNotRollBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := New(watchtest.New(watchtest.Stream("5", []string{"o@5", "p@4"}, watchtest.Modified("o@9"), watchtest.Deleted("p@10"))), Options{})
		run(t, i)
		synctest.Wait()
		if i.Observe(watchtest.Object("o@7")) || i.Observe(watchtest.Object("p@8")) {
			t.Error("a late answer was taken")
		}
		expect(t, "store", content(i.Store()), []string{"o@9"})
	})
}

// TestCase25_ReadsSeeAWriteBeforeTheWatchTellsOfIt; handlers, late ones and
// replays included, go on hearing what the watch has told.
func TestCase25_ReadsSeeAWriteBeforeTheWatchTellsOfIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		more := make(chan struct{})
		echo, gone := watchtest.Modified("o@7"), watchtest.Deleted("o@9")
		echo.When = more
		gone.Wait = time.Minute
		i := New(watchtest.New(watchtest.Stream("5", []string{"o@5"}, echo, gone)), Options{})
		var early, late tape
		handle(t, i, early.handle, HandlerOptions{Resync: 40 * time.Second})
		run(t, i)
		synctest.Wait()
		if !i.Observe(watchtest.Object("o@7")) || !i.Observe(watchtest.Object("new@8")) {
			t.Fatal("an answer was not taken")
		}
		expect(t, "store", content(i.Store()), []string{"new@8", "o@7"})
		handle(t, i, late.handle, HandlerOptions{})
		time.Sleep(50 * time.Second)
		expect(t, "early handler", early.take(), []string{"ADDED - > o@5 initial", "MODIFIED o@5 > o@5 resync"})
		expect(t, "late handler", late.take(), []string{"ADDED - > o@5 initial"})
		close(more)
		synctest.Wait()
		expect(t, "early handler", early.take(), []string{"MODIFIED o@5 > o@7 watch"})
		expect(t, "store", content(i.Store()), []string{"new@8", "o@7"})
		time.Sleep(2 * time.Minute)
		expect(t, "late handler", late.take(), []string{"MODIFIED o@5 > o@7 watch", "DELETED o@9 > - watch"})
		// The watch has passed @8 and not told of it: another selection's.
		expect(t, "store", content(i.Store()), nil)
	})
}

// TestCase25_ListThatIsOlderThanAWriteIsNotStale: it is held against what the
// watch has told, and the write stays seen.
func TestCase25_ListThatIsOlderThanAWriteIsNotStale(t *testing.T) {
	i := New(watchtest.New(), Options{})
	i.apply.Begin(true, false)
	i.apply.Put(watchtest.Object("o@5"))
	i.apply.Commit("5", false)
	i.Observe(watchtest.Object("o@8"))
	i.apply.Begin(false, false)
	if stale := i.apply.Put(watchtest.Object("o@6")); stale {
		t.Error("a list newer than the watch was called stale")
	}
	i.apply.Commit("7", false)
	expect(t, "store", content(i.Store()), []string{"o@8"})
	i.apply.Apply(watch.EventDeleted, watchtest.Object("o@9"))
	i.apply.Advance("9")
	expect(t, "store", content(i.Store()), nil)
}

// TestCase25_NoAnswerSlipsInWhileADeletionIsApplied: between the change of the
// store and the word that its version is reached.
func TestCase25_NoAnswerSlipsInWhileADeletionIsApplied(t *testing.T) {
	i := New(watchtest.New(), Options{})
	i.apply.Begin(true, false)
	for _, text := range []string{"o@5", "p@4"} {
		i.apply.Put(watchtest.Object(text))
	}
	i.apply.Commit("5", false)
	i.apply.Apply(watch.EventDeleted, watchtest.Object("o@9"))
	if i.Observe(watchtest.Object("o@7")) {
		t.Error("an answer from before the deletion was taken")
	}
	i.apply.Advance("9")
	expect(t, "store", content(i.Store()), []string{"p@4"})
}
