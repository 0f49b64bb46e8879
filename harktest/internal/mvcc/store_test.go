package mvcc

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gocampus/hark/key"
)

// value is a stored text that knows its version.
type value struct {
	text    string
	version uint64
}

func (v *value) Stamp(version uint64) { v.version = version }

func put(t *testing.T, s *Store[*value], name string, expect uint64, text string) uint64 {
	t.Helper()
	r, err := s.Commit(Change[*value]{Resource: "things", Key: key.Key{Name: name}, Expect: expect, Value: &value{text: text}})
	if err != nil {
		t.Fatalf("Commit(%s): %v", name, err)
	}
	return r.Version
}

func remove(t *testing.T, s *Store[*value], name string, expect uint64) uint64 {
	t.Helper()
	r, err := s.Commit(Change[*value]{Resource: "things", Key: key.Key{Name: name}, Expect: expect, Value: &value{}, Delete: true})
	if err != nil {
		t.Fatalf("Commit of a deletion of %s: %v", name, err)
	}
	return r.Version
}

func names(s Snapshot[*value]) string {
	var list []string
	for r := range s.All("", key.Key{}) {
		list = append(list, fmt.Sprintf("%s=%s@%d", r.Key, r.Value.text, r.Version))
	}
	return strings.Join(list, " ")
}

func TestCommitRefusesAnotherVersionThanTheExpectedOne(t *testing.T) {
	s := New[*value](Options{})
	first := put(t, s, "a", 0, "1")
	for _, c := range []Change[*value]{
		{Resource: "things", Key: key.Key{Name: "a"}, Value: &value{}},
		{Resource: "things", Key: key.Key{Name: "a"}, Expect: first + 1, Value: &value{}},
		{Resource: "things", Key: key.Key{Name: "b"}, Expect: first, Value: &value{}},
		{Resource: "things", Key: key.Key{Name: "b"}, Value: &value{}, Delete: true},
	} {
		if _, err := s.Commit(c); !errors.Is(err, ErrConflict) {
			t.Errorf("Commit(%+v) = %v; want ErrConflict", c, err)
		}
	}
	if got := s.Version(); got != first {
		t.Errorf("version after refused commits = %d; want %d", got, first)
	}
}

func TestVersionsAreOneSequenceOverAllResources(t *testing.T) {
	s := New[*value](Options{Start: 100})
	for i, resource := range []string{"pods", "nodes", "pods"} {
		r, err := s.Commit(Change[*value]{Resource: resource, Key: key.Key{Name: fmt.Sprint(i)}, Value: &value{}})
		if err != nil || r.Version != 101+uint64(i) || r.Value.version != r.Version {
			t.Fatalf("Commit %d = %+v, %v; want version %d, stamped", i, r, err, 101+i)
		}
	}
}

func TestAtShowsThePast(t *testing.T) {
	s := New[*value](Options{})
	v1 := put(t, s, "a", 0, "1")
	v2 := put(t, s, "b", 0, "1")
	v3 := put(t, s, "a", v1, "2")
	v4 := remove(t, s, "b", v2)
	for version, want := range map[uint64]string{
		0: "", v1: "a=1@1", v2: "a=1@1 b=1@2", v3: "a=2@3 b=1@2", v4: "a=2@3",
	} {
		snapshot, err := s.At("things", version)
		if err != nil || names(snapshot) != want {
			t.Errorf("At(%d) = %q, %v; want %q", version, names(snapshot), err, want)
		}
	}
	_, err := s.At("things", v4+1)
	if future, ok := errors.AsType[*FutureError](err); !ok || future.Current != v4 {
		t.Errorf("At of the future = %v; want FutureError", err)
	}
}

func TestHistoryIsBounded(t *testing.T) {
	s := New[*value](Options{History: 3})
	version := put(t, s, "a", 0, "0")
	for i := range 9 {
		version = put(t, s, "a", version, fmt.Sprint(i+1))
	}
	for v := range uint64(11) {
		_, errAt := s.At("things", v)
		_, errWatch := s.Watch("things", v, 0)
		_, gone := errors.AsType[*CompactedError](errAt)
		_, goneWatch := errors.AsType[*CompactedError](errWatch)
		if want := v < 7; gone != want || goneWatch != want {
			t.Errorf("version %d of 10 with 3 kept: At %v, Watch %v; want an error: %v", v, errAt, errWatch, want)
		}
	}
}

func TestCompactionForgetsButDisturbsNoCursor(t *testing.T) {
	s := New[*value](Options{})
	v1 := put(t, s, "a", 0, "1")
	cursor, err := s.Watch("things", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	v2 := put(t, s, "a", v1, "2")
	s.Compact(0)
	if _, err := s.At("things", v1); err == nil {
		t.Error("At of a compacted version succeeded")
	}
	if _, err := s.At("things", v2); err != nil {
		t.Errorf("At of the compaction's version: %v", err)
	}
	batch, err := cursor.Poll(10)
	if err != nil || len(batch.Events) != 2 {
		t.Errorf("Poll after the compaction = %d events, %v; want 2", len(batch.Events), err)
	}
}

func TestSlowCursorIsOverrun(t *testing.T) {
	s := New[*value](Options{})
	cursor, err := s.Watch("things", 0, 2)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		put(t, s, fmt.Sprint(i), 0, "")
	}
	if _, err := cursor.Poll(10); !errors.Is(err, ErrOverrun) {
		t.Errorf("Poll with 3 of 2 unread events = %v; want ErrOverrun", err)
	}
}

func TestCursorWakesAtTheNextEventOfItsResourceOnly(t *testing.T) {
	s := New[*value](Options{})
	_, cursor := s.WatchNewest("things", 0)
	batch, err := cursor.Poll(10)
	if err != nil || batch.Wake == nil {
		t.Fatalf("Poll = %+v, %v; want a wake channel", batch, err)
	}
	if _, err := s.Commit(Change[*value]{Resource: "others", Key: key.Key{Name: "a"}, Value: &value{}}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-batch.Wake:
		t.Error("another resource woke the cursor")
	default:
	}
	put(t, s, "a", 0, "")
	<-batch.Wake
}

func TestRebaseNumbersObjectsAnewInTheOrderOfTheirChanges(t *testing.T) {
	s := New[*value](Options{Start: 1000})
	va := put(t, s, "a", 0, "1")
	put(t, s, "b", 0, "1")
	put(t, s, "a", va, "2")
	_, cursor := s.WatchNewest("things", 0)
	s.Rebase(5, func(v *value) *value { return &value{text: v.text} })
	if got, want := names(s.Newest("things")), "a=2@7 b=1@6"; got != want {
		t.Errorf("after Rebase = %q; want %q", got, want)
	}
	if _, err := cursor.Poll(1); !errors.Is(err, ErrReset) {
		t.Errorf("Poll after Rebase = %v; want ErrReset", err)
	}
	if _, err := s.Watch("things", 6, 0); err == nil {
		t.Error("a watch from before the last version succeeded after Rebase")
	}
	if _, err := s.Watch("things", 7, 0); err != nil {
		t.Errorf("a watch from the newest version after Rebase: %v", err)
	}
}

func TestKeysAreOrderedByTheirText(t *testing.T) {
	keys := []key.Key{
		{Namespace: "a", Name: "z"}, {Namespace: "a-b", Name: "a"}, {Namespace: "a0", Name: "a"}, {Namespace: "a", Name: "a"}, {Namespace: "", Name: "n"}, {Namespace: "b", Name: ""},
	}
	got, want := slices.Clone(keys), slices.Clone(keys)
	slices.SortFunc(got, compareKeys)
	slices.SortFunc(want, func(a, b key.Key) int { return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name) })
	if !slices.Equal(got, want) {
		t.Errorf("sorted = %v; want %v", got, want)
	}
}

func TestCursorWhoseEventsWereForgottenIsOverrun(t *testing.T) {
	s := New[*value](Options{History: 3})
	cursor, err := s.Watch("things", 0, 100) // it may lag behind further than is kept
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		put(t, s, fmt.Sprint(i), 0, "")
	}
	if _, err := cursor.Poll(10); !errors.Is(err, ErrOverrun) {
		t.Errorf("Poll after 5 events of which 3 are kept = %v; want ErrOverrun", err)
	}
}

func TestChangedWakesAtAChangeOfAnyResource(t *testing.T) {
	s := New[*value](Options{})
	version, wake := s.Changed()
	select {
	case <-wake:
		t.Fatal("nothing has changed yet")
	default:
	}
	put(t, s, "a", 0, "")
	<-wake
	if after, _ := s.Changed(); after != version+1 {
		t.Errorf("version after a change = %d; want %d", after, version+1)
	}
}
