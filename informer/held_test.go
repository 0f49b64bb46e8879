package informer

import (
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocampus/hark/internal/watchtest"
	"github.com/gocampus/hark/watch"
)

// TestOnlyACompleteListBringsBackWhatIsGone: what a list shows though the store
// saw it go is not told while the list may still prove to be old or unfinished.
func TestOnlyACompleteListBringsBackWhatIsGone(t *testing.T) {
	start := []string{"ADDED - > a@5 initial", "ADDED - > b@9 initial", "DELETED a@11 > - watch"}
	for _, test := range []struct {
		name  string
		last  watchtest.Answer
		told  []string
		store []string
	}{
		{"sent again", watchtest.List("12", "b@9"), nil, []string{"b@9"}},
		{"counted anew", watchtest.List("10", "b@9", "a@5"), []string{"ADDED - > a@5 relist"}, []string{"a@5", "b@9"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				source := watchtest.New(
					watchtest.Stream("9", []string{"a@5", "b@9"}, watchtest.Deleted("a@11"), watchtest.Error(watch.KindExpired)),
					watchtest.Watch(watchtest.Added("b@9"), watchtest.Added("a@5")).ThenEnd(io.EOF), // unfinished
					watchtest.List("9", "a@5", "b@9"), // older than asked for
					watchtest.Watch(watchtest.Added("a@5"), watchtest.Added("b@9"), watchtest.Modified("c@10")).ThenEnd(io.EOF),
					test.last,
					watchtest.Watch())
				i := New(source, Options{})
				var l tape
				handle(t, i, l.handle, HandlerOptions{Every: 100})
				run(t, i)
				time.Sleep(time.Minute)
				expect(t, "requests", source.Requests(), []string{`watch rv="" initial`,
					`watch rv="11" initial`, `list rv="11"`, `watch rv="" initial`, `list rv="" limit=500`, `watch rv="` + test.last.Meta.ResourceVersion + `"`})
				expect(t, "events", l.take(), append(start[:3:3], test.told...))
				expect(t, "store", content(i.Store()), test.store)
			})
		})
	}
}

// TestListAfterAnUnfinishedOneIsNotOlder: handlers have heard of the changes that
// came before a list broke, so the next list must have them.
func TestListAfterAnUnfinishedOneIsNotOlder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := watchtest.New(
			watchtest.Stream("9", []string{"a@5", "b@9"}, watchtest.Error(watch.KindExpired)),
			watchtest.Watch(watchtest.Added("a@5"), watchtest.Added("b@12"), watchtest.Deleted("a@13")).ThenEnd(io.EOF),
			watchtest.List("15", "b@12", "c@15").ThenEnd(&watch.Error{Kind: watch.KindUnavailable}),
			watchtest.List("13", "b@12"), // another server, that is not as far
			watchtest.List("15", "b@12", "c@15"),
			watchtest.Watch())
		i := New(source, Options{})
		var l tape
		handle(t, i, l.handle, HandlerOptions{Every: 100})
		run(t, i)
		time.Sleep(time.Minute)
		expect(t, "requests", source.Requests(), []string{`watch rv="" initial`,
			`watch rv="9" initial`, `list rv="13"`, `list rv="15"`, `list rv="" limit=500`, `watch rv="15"`})
		expect(t, "events", l.take(), []string{"ADDED - > a@5 initial", "ADDED - > b@9 initial",
			"MODIFIED b@9 > b@12 relist", "DELETED a@13 > - watch", "ADDED - > c@15 relist"})
	})
}

// TestChangesOfWhatIsHeldBack: while a list is under way, changes that follow
// replace or end what is held back; what is newer than the store is not.
func TestChangesOfWhatIsHeldBack(t *testing.T) {
	i := New(watchtest.New(), Options{})
	var l tape
	r := handle(t, i, l.handle, HandlerOptions{Every: 100})
	i.apply.Begin(true, false)
	i.apply.Commit("20", false)
	i.apply.Begin(false, false)
	for _, text := range []string{"a@5", "b@6", "c@7", "d/D1@8", "new@21"} {
		if i.apply.Put(watchtest.Object(text)) {
			t.Errorf("%s was called stale; the end of the list tells", text)
		}
	}
	expect(t, "store", content(i.Store()), []string{"new@21"})
	i.apply.Apply(watch.EventModified, watchtest.Object("a@15"))
	i.apply.Apply(watch.EventModified, watchtest.Object("a@14"))
	i.apply.Apply(watch.EventDeleted, watchtest.Object("b@16"))
	i.apply.Apply(watch.EventModified, watchtest.Object("c@22"))
	i.apply.Apply(watch.EventDeleted, watchtest.Object("d/D0@3"))
	expect(t, "store", content(i.Store()), []string{"c@22", "new@21"})
	i.apply.Commit("22", false)
	expect(t, "store", content(i.Store()), []string{"a@15", "c@22", "d/D1@8", "new@21"})
	if n := r.Status().Pending; n != 4 {
		t.Errorf("%d events wait for the handler; want each object told once", n)
	}
	if c := i.Status().Changes; c.Stored != 4 || c.Deleted != 0 || c.Stale != 0 {
		t.Errorf("counts %+v; want 4 stored and nothing else", c)
	}
}

// TestDeletionBeforeTheFirstCompleteListIsNotUndone: the store has no version yet.
func TestDeletionBeforeTheFirstCompleteListIsNotUndone(t *testing.T) {
	i := New(watchtest.New(), Options{})
	i.apply.Begin(true, false)
	i.apply.Put(watchtest.Object("a@5"))
	i.apply.Apply(watch.EventDeleted, watchtest.Object("a@7"))
	for range 2 {
		i.apply.Begin(true, false)
		i.apply.Put(watchtest.Object("a@5"))
		i.apply.Put(watchtest.Object("b@8"))
		expect(t, "store", content(i.Store()), []string{"b@8"})
	}
}

// TestAConsistentListTakesTheStoreBackAtItsEnd: where the server's history began
// anew the list counts, with the changes that followed its items; where its
// beginning was old or something was sent again, handlers do not hear of that.
func TestAConsistentListTakesTheStoreBackAtItsEnd(t *testing.T) {
	i := New(watchtest.New(), Options{})
	var l tape
	r := handle(t, i, l.handle, HandlerOptions{Every: 100})
	i.apply.Begin(true, false)
	before := []string{"a@20", "b@20", "c@20", "d@20", "e@20"}
	for _, text := range before {
		i.apply.Put(watchtest.Object(text))
	}
	i.apply.Commit("20", false)
	for _, end := range []bool{false, true} {
		i.apply.Begin(true, true)
		for _, text := range []string{"a@1", "b@2", "c@3", "d/D2@4", "e@5"} {
			if i.apply.Put(watchtest.Object(text)) {
				t.Errorf("%s was called stale in a list that counts", text)
			}
		}
		expect(t, "store before the end", content(i.Store()), before)
		if !end {
			continue
		}
		i.apply.Apply(watch.EventModified, watchtest.Object("b@6"))
		i.apply.Apply(watch.EventModified, watchtest.Object("b@7"))
		i.apply.Apply(watch.EventDeleted, watchtest.Object("c@8"))
		i.apply.Apply(watch.EventModified, watchtest.Object("e@20"))
		i.apply.Commit("9", false)
	}
	expect(t, "store", content(i.Store()), []string{"a@1", "b@7", "d/D2@4", "e@20"})
	if n := r.Status().Pending; n != 5+4 {
		t.Errorf("%d events wait for the handler; want a, b and d told once more, and c's end", n)
	}
}
