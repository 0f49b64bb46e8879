package store

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gocampus/hark/internal/watchtest"
	"github.com/gocampus/hark/key"
	"github.com/gocampus/hark/wire"
)

func TestPutKeepsTheNewestVersion(t *testing.T) {
	for _, tc := range []struct {
		name, have, put string
		force           bool
		outcome         Outcome
		want            string
	}{
		{"new", "", "a@1", false, Stored, "a@1"},
		{"newer", "a@1", "a@2", false, Stored, "a@2"},
		{"longer number", "a@9", "a@10", false, Stored, "a@10"},
		{"the same", "a@2", "a@2", false, Known, "a@2"},
		{"older", "a@3", "a@2", false, Stale, "a@3"},
		{"older, forced", "a@3", "a@2", true, Stored, "a@2"},
		{"another UID", "a/1@3", "a/2@4", false, Stored, "a/2@4"},
		{"another UID, older", "a/1@9", "a/2@4", false, Stale, "a/1@9"},
		{"another UID, older, forced: history began anew", "a/1@9", "a/2@4", true, Stored, "a/2@4"},
		{"opaque versions", "a@x", "a@w", false, Stored, "a@w"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, w := New(Options{})
			if tc.have != "" {
				w.Put(watchtest.Object(tc.have), false)
			}
			w.Begin(tc.force, false)
			plan := w.Put(watchtest.Object(tc.put), tc.force)
			got, _ := s.Get(watchtest.Key("a"))
			if plan.Outcome != tc.outcome || watchtest.Text(got) != tc.want {
				t.Errorf("outcome %v, have %s; want %v, %s", plan.Outcome, watchtest.Text(got), tc.outcome, tc.want)
			}
		})
	}
}

func TestReplacementFindsWhatWasNotPut(t *testing.T) {
	s, w := New(Options{})
	for _, text := range []string{"a@1", "b@2", "c@3"} {
		w.Put(watchtest.Object(text), false)
	}
	w.Begin(false, false)
	w.Put(watchtest.Object("a@1"), false) // unchanged
	w.Put(watchtest.Object("c@5"), false) // changed
	w.Put(watchtest.Object("d@4"), false) // new
	if got := w.End("9"); !slices.Equal(got, []key.Key{watchtest.Key("b")}) {
		t.Errorf("End = %v; want b", got)
	}
	if s.Len() != 4 {
		t.Errorf("Len = %d; content must stay readable until it is deleted", s.Len())
	}
}

func TestAllIsASnapshot(t *testing.T) {
	s, w := New(Options{})
	for i := range 10 {
		w.Put(watchtest.Object(fmt.Sprintf("k%d@1", i)), false)
	}
	n := 0
	for o := range s.All() {
		w.Delete(o.Key()) // writing goes on while one reads
		n++
	}
	if n != 10 || s.Len() != 0 {
		t.Errorf("saw %d objects, %d left; want 10 and 0", n, s.Len())
	}
}

func byVersionDigit(dst []string, o *wire.Object) ([]string, error) {
	switch rv := o.ResourceVersion(); rv[len(rv)-1] {
	case '8':
		return nil, errors.New("eight")
	case '9':
		panic("nine")
	default:
		return append(dst, rv[len(rv)-1:], "all", "all"), nil
	}
}

func TestFailingIndexFunctionLeavesTheObjectReadable(t *testing.T) {
	s, w := New(Options{Indexes: map[string]IndexFunc{"digit": byVersionDigit}})
	for _, text := range []string{"a@1", "b@8", "c@9"} {
		w.Put(watchtest.Object(text), false)
	}
	stats := s.Stats()
	if stats.Objects != 3 || stats.IndexFailures != 2 || stats.LastIndexError == nil {
		t.Errorf("Stats = %+v; want 3 objects and 2 failures", stats)
	}
	if got := names(s, "digit", "all"); !slices.Equal(got, []string{"a@1"}) {
		t.Errorf("index has %v; want a@1", got)
	}
	w.Put(watchtest.Object("b@11"), false) // it heals with the next version
	if got := names(s, "digit", "1"); !slices.Equal(got, []string{"a@1", "b@11"}) {
		t.Errorf("index has %v after b was repaired", got)
	}
}

func TestUnknownIndexIsACallersBug(t *testing.T) {
	s, _ := New(Options{})
	defer func() {
		if recover() == nil {
			t.Error("Indexed of an unknown index did not panic")
		}
	}()
	s.Indexed("nope", "")
}

func names(s *Store, index, value string) []string {
	var got []string
	for o := range s.Indexed(index, value) {
		got = append(got, watchtest.Text(o))
	}
	slices.Sort(got)
	return got
}

// TestAVersionGivenOutAgain: a server whose history began anew has other bytes
// under a version that the store knows. A consistent list counts.
func TestAVersionGivenOutAgain(t *testing.T) {
	s, w := New(Options{})
	w.Put(watchtest.Object("a@7", "color", "red"), false)
	w.Begin(true, true)
	if got := w.Put(watchtest.Object("a@7", "color", "red"), true).Outcome; got != Known {
		t.Errorf("the same bytes: %v; want Known", got)
	}
	w.Begin(true, true)
	if got := w.Put(watchtest.Object("a@7", "color", "blue"), true).Outcome; got != Stored {
		t.Errorf("other bytes: %v; want Stored", got)
	}
	o, _ := s.Get(watchtest.Key("a"))
	if color, _ := o.Label("color"); color != "blue" {
		t.Errorf("the store has %s", color)
	}
}

// TestAForcedListBelievesItsFirstWordOfAKey: a list that names a key again, older,
// does not take it back.
func TestAForcedListBelievesItsFirstWordOfAKey(t *testing.T) {
	s, w := New(Options{})
	w.Put(watchtest.Object("a@7"), false)
	w.Begin(true, false)
	var got []Outcome
	for _, text := range []string{"a@5", "a@3", "a@6", "a@5"} {
		got = append(got, w.Put(watchtest.Object(text), true).Outcome)
	}
	o, _ := s.Get(watchtest.Key("a"))
	if want := []Outcome{Stored, Stale, Stored, Stale}; !slices.Equal(got, want) || watchtest.Text(o) != "a@6" {
		t.Errorf("outcomes %v, have %s; want %v, a@6", got, watchtest.Text(o), want)
	}
}

// TestRandomWritesAgreeWithAMap compares store and indexes with a map that is
// searched from end to end.
func TestRandomWritesAgreeWithAMap(t *testing.T) {
	bothForms(t, func(t *testing.T, o Options) {
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		rng := rand.New(rand.NewPCG(seed, 0))
		o.Indexes = map[string]IndexFunc{"namespace": Namespace(), "color": Label("color"), "digit": byVersionDigit}
		s, w := New(o)
		model := map[key.Key]*wire.Object{}
		colors := map[key.Key]string{}
		for version := range 20_000 {
			name := fmt.Sprintf("k%d", rng.IntN(40))
			k := watchtest.Key(name)
			if rng.IntN(4) == 0 {
				if got := w.Delete(k); !equal(got, model[k]) {
					t.Fatalf("Delete(%s) = %s; model has %s", k, watchtest.Text(got), watchtest.Text(model[k]))
				}
				delete(model, k)
				delete(colors, k)
			} else {
				color := []string{"red", "green", "blue"}[rng.IntN(3)]
				object := watchtest.Object(fmt.Sprintf("%s@%d", name, version), "color", color)
				if plan := w.Put(object, false); !equal(plan.Old, model[k]) || !plan.New.Equal(object) {
					t.Fatalf("Put(%s) = %s > %s; model has %s", watchtest.Text(object), watchtest.Text(plan.Old), watchtest.Text(plan.New), watchtest.Text(model[k]))
				}
				model[k], colors[k] = object, color
			}
			if version%50 == 0 {
				compare(t, s, model, colors)
			}
		}
		compare(t, s, model, colors)
	})
}

func equal(a, b *wire.Object) bool { return a == b || a != nil && b != nil && a.Equal(b) }

func compare(t *testing.T, s *Store, model map[key.Key]*wire.Object, colors map[key.Key]string) {
	t.Helper()
	want := map[string][]string{}
	for k, o := range model {
		text := watchtest.Text(o)
		want["all"] = append(want["all"], text)
		want["color "+colors[k]] = append(want["color "+colors[k]], text)
		want["namespace ns"] = append(want["namespace ns"], text)
		if rv := o.ResourceVersion(); rv[len(rv)-1] < '8' {
			want["digit "+rv[len(rv)-1:]] = append(want["digit "+rv[len(rv)-1:]], text)
			want["digit all"] = append(want["digit all"], text)
		}
	}
	got := map[string][]string{}
	for o := range s.All() {
		got["all"] = append(got["all"], watchtest.Text(o))
	}
	for _, index := range []string{"namespace", "color", "digit"} {
		for _, value := range s.IndexValues(index) {
			got[index+" "+value] = names(s, index, value)
		}
	}
	for _, m := range []map[string][]string{want, got} {
		for _, list := range m {
			slices.Sort(list)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("(-model +store)\n%s", diff)
	}
}

// TestAValueThatMovesToAnotherIndex: the values are the same ones, in the same
// order, and the indexes are not.
func TestAValueThatMovesToAnotherIndex(t *testing.T) {
	s, w := New(Options{Indexes: map[string]IndexFunc{"first": Label("first"), "second": Label("second")}})
	w.Put(watchtest.Object("a@1", "first", "x"), false)
	w.Put(watchtest.Object("a@2", "second", "x"), false)
	if got := names(s, "first", "x"); len(got) != 0 {
		t.Errorf("the index it left has %v", got)
	}
	if got := names(s, "second", "x"); !slices.Equal(got, []string{"a@2"}) {
		t.Errorf("the index it is in now has %v", got)
	}
}

func TestUpdateWithTheSameIndexValuesAllocatesNothing(t *testing.T) {
	_, w := New(Options{Indexes: map[string]IndexFunc{"namespace": Namespace()}})
	a, b := watchtest.Object("a@1"), watchtest.Object("a@2")
	w.Put(a, true)
	w.Put(b, true)
	update := func() {
		for _, o := range []*wire.Object{a, b} {
			w.Begin(true, false)
			if w.Put(o, true).Outcome != Stored {
				t.Fatal("an update was not stored")
			}
		}
	}
	if n := testing.AllocsPerRun(1000, update); n != 0 {
		t.Errorf("two updates allocate %v times; want 0", n)
	}
}
