package demo

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gocampus/hark/informer"
	"github.com/gocampus/hark/watch"
)

func TestAMarkTellsWhenItReachesAValue(t *testing.T) {
	var m mark
	m.set("1")
	first, again, second := m.reached("1"), m.reached("1"), m.reached("2")
	m.set("3")
	for _, c := range []<-chan struct{}{first, again, second} {
		if closed(c) {
			t.Fatal("told of a value that it has not been set to")
		}
	}
	m.set("1")
	if !closed(first) || !closed(again) || closed(second) || m.now() != "1" {
		t.Error("does not tell of 1, or tells of 2")
	}
	m.set("1") // nobody waits any more
}

func TestAnExpectationIsMetOnceByWhatMatches(t *testing.T) {
	var a audience
	added := a.expect(func(e informer.Event) bool { return e.Type == watch.EventAdded })
	deleted := a.expect(func(e informer.Event) bool { return e.Type == watch.EventDeleted })
	a.saw(informer.Event{Type: watch.EventModified})
	if closed(added) || closed(deleted) {
		t.Fatal("met by something else")
	}
	a.saw(informer.Event{Type: watch.EventAdded})
	a.saw(informer.Event{Type: watch.EventAdded})
	if !closed(added) || closed(deleted) {
		t.Error("not met by what matches, or met by something else")
	}
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestAPartThatDoesNotGetFurtherIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		started := time.Now()
		p := &play{part: 2}
		err := p.await(t.Context(), make(chan struct{}))
		stuck, ok := errors.AsType[*StuckError](err)
		if !ok || stuck.Part != 2 || stuck.After != patience {
			t.Errorf("await: %v; want that part 2 is stuck", err)
		}
		if took := time.Since(started); took != patience {
			t.Errorf("given up after %s; want %s", took, patience)
		}
	})
}

func TestWhoActsWaitsUntilWhatItActsUponIsShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pods := schema.GroupVersionResource{Version: "v1", Resource: "pods"}
		var s shown
		s.wait(t.Context(), pods, 7) // not shown at all: returns
		s.move(pods, 0)
		s.move(pods, 5)
		s.wait(t.Context(), pods, 5) // has been shown
		acted := make(chan struct{})
		go func() {
			s.wait(t.Context(), pods, 7)
			close(acted)
		}()
		for _, version := range []uint64{6, 3} {
			s.move(pods, version)
			synctest.Wait()
			if closed(acted) {
				t.Fatalf("acted upon version 7 when %d was shown", version)
			}
		}
		s.move(pods, 8)
		synctest.Wait()
		if !closed(acted) {
			t.Error("did not act although version 8 was shown")
		}
		started := time.Now()
		s.wait(t.Context(), pods, 9)
		if took := time.Since(started); took != screenPatience {
			t.Errorf("a line that never came was waited for %s; want %s", took, screenPatience)
		}
	})
}
