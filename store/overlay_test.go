package store

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gocampus/hark/internal/watchtest"
	"github.com/gocampus/hark/key"
	"github.com/gocampus/hark/wire"
)

// reachedStore is a store whose source has told o@5 and that it is at 5.
func reachedStore() (*Store, *Writer) {
	s, w := New(Options{Indexes: map[string]IndexFunc{"color": Label("color")}})
	w.Put(watchtest.Object("o@5", "color", "red"), false)
	w.Advance("5")
	return s, w
}

// seen is what Get returns of o.
func seen(s *Store) string {
	object, _ := s.Get(watchtest.Key("o"))
	return watchtest.Text(object)
}

// TestCase25_AnswerToAWriteIsSeenUntilTheWatchCatchesUp says of answers and
// events in different orders what reads see.
func TestCase25_AnswerToAWriteIsSeenUntilTheWatchCatchesUp(t *testing.T) {
	for _, tc := range []struct {
		name string
		do   string // "o@7": an answer; "+o@9", "-o@9": the watch tells; "=9": a bookmark
		want string // what a read sees after each
	}{
		{"answer first", "o@7 +o@7", "o@7 o@7"},
		{"answer last", "+o@7 o@7", "o@7 o@7"},
		{"the watch is ahead", "+o@9 o@7", "o@9 o@9"},
		{"an event in between", "o@7 +o@6 +o@7", "o@7 o@7 o@7"},
		{"deletion, then the answer", "-o@9 o@7", "- -"},
		{"answer, then deletion", "o@7 -o@9", "o@7 -"},
		{"created, deleted, then the answer", "-o@6 +o/U2@7 -o/U2@8 o/U2@7", "- o/U2@7 - -"},
		{"made again, the answer first", "o/U2@8 -o@7 +o/U2@8", "o/U2@8 o/U2@8 o/U2@8"},
		{"made again, the old one's answer last", "-o@7 +o/U2@8 o@6", "- o/U2@8 o/U2@8"},
		{"made again, then the old one's answer before the deletion is told", "o/U2@8 o@6", "o/U2@8 o/U2@8"},
		{"two answers", "o@7 o@8", "o@7 o@8"},
		{"two answers, swapped", "o@8 o@7", "o@8 o@8"},
		{"never told: another selection", "-o@6 o/U2@7 =8", "- o/U2@7 -"},
		{"no news but of others", "o@7 =6", "o@7 o@7"},
		{"versions count anew", "o@7 =3", "o@7 o@5"},
		{"no version", "o@x", "o@5"},
	} {
		s, w := reachedStore()
		var got []string
		for word := range strings.FieldsSeq(tc.do) {
			do(w, word)
			got = append(got, seen(s))
		}
		if got := strings.Join(got, " "); got != tc.want {
			t.Errorf("%s: %s = %s; want %s", tc.name, tc.do, got, tc.want)
		}
	}
}

func do(w *Writer, word string) {
	text := word[1:]
	switch word[0] {
	case '+':
		w.Put(watchtest.Object(text), false)
		w.Advance(watchtest.Object(text).ResourceVersion())
	case '-':
		final := watchtest.Object(text)
		w.Reach(final.ResourceVersion())
		w.Delete(final.Key())
		w.Advance(final.ResourceVersion())
	case '=':
		w.Advance(text)
	default:
		w.Observe(watchtest.Object(word))
	}
}

func TestCase25_NothingIsObservedBeforeTheFirstList(t *testing.T) {
	s, w := New(Options{})
	if w.Observe(watchtest.Object("o@5")) || s.Len() != 0 {
		t.Error("an answer was taken before anything was listed")
	}
	w.Put(watchtest.Object("o@5"), false)
	if w.Advance("opaque"); w.Observe(watchtest.Object("o@6")) {
		t.Error("an answer was taken that cannot be compared")
	}
}

func TestObservationsAreInEveryRead(t *testing.T) {
	s, w := reachedStore()
	w.Put(watchtest.Object("other@4", "color", "red"), false)
	if !w.Observe(watchtest.Object("o@7", "color", "blue")) || !w.Observe(watchtest.Object("new@8", "color", "blue")) {
		t.Fatal("Observe = false")
	}
	for what, tc := range map[string]struct{ got, want []string }{
		"all":    {content(s), []string{"new@8", "o@7", "other@4"}},
		"red":    {names(s, "color", "red"), []string{"other@4"}},
		"blue":   {names(s, "color", "blue"), []string{"new@8", "o@7"}},
		"values": {s.IndexValues("color"), []string{"blue", "red"}},
		"told":   {texts(w.AllTold()), []string{"o@5", "other@4"}},
	} {
		if diff := cmp.Diff(tc.want, tc.got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", what, diff)
		}
	}
	if n := s.Len(); n != 3 || s.Stats().Objects != 3 || s.Stats().Observed != 2 {
		t.Errorf("Len = %d, %+v; want 3 objects, 2 observed", n, s.Stats())
	}
	if got := watchtest.Text(w.Told(watchtest.Key("o"))); got != "o@5" || w.Told(watchtest.Key("new")) != nil {
		t.Errorf("Told = %s; want o@5 and no new", got)
	}
	w.Advance("8") // it selects neither
	if got := content(s); !slices.Equal(got, []string{"o@5", "other@4"}) || s.Stats().Observed != 0 {
		t.Errorf("store has %v, %d observed, once the watch has told otherwise", got, s.Stats().Observed)
	}
}

func content(s *Store) []string { return texts(slices.Collect(s.All())) }

func texts(objects []*wire.Object) []string {
	var out []string
	for _, o := range objects {
		out = append(out, watchtest.Text(o))
	}
	slices.Sort(out)
	return out
}

func TestIndexFunctionThatFailsAtAnObservationIsCounted(t *testing.T) {
	s, w := New(Options{Indexes: map[string]IndexFunc{"digit": byVersionDigit}})
	w.Advance("1")
	if !w.Observe(watchtest.Object("a@8")) || s.Stats().IndexFailures != 1 {
		t.Errorf("%+v; want the object seen and a failure counted", s.Stats())
	}
}

// past is one write of a history: what it made of a key, nil for a deletion.
type past struct {
	version int
	key     key.Key
	object  *wire.Object
}

// observing is a store that follows a history from behind, and its model.
type observing struct {
	rng     *rand.Rand
	store   *Store
	writer  *Writer
	history []past
	told    int // writes of the history that the store has been told
	handed  []past
}

// TestObservationsAgainstAModel: reads see of each key the newest of what the
// watch has told and of what was handed in above the version that it has
// reached, in whatever order things come.
func TestObservationsAgainstAModel(t *testing.T) {
	for range 100 {
		seed := rand.Uint64()
		s, w := New(Options{Indexes: map[string]IndexFunc{"parity": byParity}})
		m := &observing{rng: rand.New(rand.NewPCG(seed, 0)), store: s, writer: w}
		m.write()
		m.relist()
		for step := range 200 {
			m.step()
			if diff := m.diff(); diff != "" {
				t.Fatalf("seed %d, step %d (-want +got)\n%s", seed, step, diff)
			}
		}
	}
}

func byParity(dst []string, o *wire.Object) ([]string, error) {
	version, _ := o.Version()
	return append(dst, fmt.Sprint(version%2)), nil
}

func (m *observing) step() {
	switch n := m.rng.IntN(100); {
	case n < 40:
		m.write()
	case n < 70:
		m.tell()
	case n < 97:
		m.hand()
	case n < 99:
		m.relist()
	default: // restored from a backup
		m.history, m.handed, m.told = nil, nil, 0
		m.write()
		m.relist()
	}
}

// write adds a write to the history.
func (m *observing) write() {
	version := len(m.history) + 1
	name := fmt.Sprintf("k%d", m.rng.IntN(5))
	k := watchtest.Key(name)
	old := state(m.history)[k]
	p := past{version: version, key: k}
	switch {
	case old == nil:
		p.object = watchtest.Object(fmt.Sprintf("%s/u%d@%d", name, version, version))
	case m.rng.IntN(3) > 0:
		p.object = watchtest.Object(fmt.Sprintf("%s/%s@%d", name, old.UID(), version))
	}
	m.history = append(m.history, p)
}

func state(history []past) map[key.Key]*wire.Object {
	objects := map[key.Key]*wire.Object{}
	for _, p := range history {
		if objects[p.key] = p.object; p.object == nil {
			delete(objects, p.key)
		}
	}
	return objects
}

// tell delivers the next event of the watch.
func (m *observing) tell() {
	if m.told == len(m.history) {
		return
	}
	p := m.history[m.told]
	m.told++
	if p.object != nil {
		m.writer.Put(p.object, false)
	} else {
		m.writer.Reach(fmt.Sprint(p.version))
		m.writer.Delete(p.key)
	}
	m.writer.Advance(fmt.Sprint(p.version))
}

// relist delivers a list, which may be of a cache that lags, while writes and
// answers go on.
func (m *observing) relist() {
	consistent := m.told == 0 || m.rng.IntN(2) == 0
	version := len(m.history)
	if !consistent {
		version -= m.rng.IntN(version - m.told + 1)
	}
	m.writer.Begin(consistent, false)
	for range m.rng.IntN(4) {
		m.write()
		m.hand()
	}
	for _, object := range state(m.history[:version]) {
		m.writer.Put(object, consistent)
	}
	for _, k := range m.writer.End(fmt.Sprint(version)) {
		m.writer.Delete(k)
	}
	m.writer.Advance(fmt.Sprint(version))
	m.told = version
}

// hand hands in the answer to any past write.
func (m *observing) hand() {
	p := m.history[m.rng.IntN(len(m.history))]
	if p.object != nil && m.told > 0 {
		m.handed = append(m.handed, p)
		m.writer.Observe(p.object)
	}
}

// diff compares every read with the model.
func (m *observing) diff() string {
	want := state(m.history[:m.told])
	for _, p := range m.handed {
		if p.version > m.told && p.version > int(versionOf(want[p.key])) {
			want[p.key] = p.object
		}
	}
	got, byIndex := map[string]string{}, map[string]string{}
	for k := range want {
		o, _ := m.store.Get(k)
		got[k.Name] = watchtest.Text(o)
	}
	for o := range m.store.All() {
		got["all "+o.Key().Name] = watchtest.Text(o)
	}
	for _, value := range m.store.IndexValues("parity") {
		byIndex[value] = strings.Join(names(m.store, "parity", value), " ")
	}
	expected, expectedByIndex := map[string]string{}, map[string]string{}
	for k, o := range want {
		expected[k.Name], expected["all "+k.Name] = watchtest.Text(o), watchtest.Text(o)
	}
	for value, objects := range parities(want) {
		expectedByIndex[value] = strings.Join(objects, " ")
	}
	if n := m.store.Len(); n != len(want) {
		return fmt.Sprintf("Len = %d; want %d", n, len(want))
	}
	return cmp.Diff(expected, got) + cmp.Diff(expectedByIndex, byIndex)
}

func parities(objects map[key.Key]*wire.Object) map[string][]string {
	all := map[string][]string{}
	for _, o := range objects {
		value := fmt.Sprint(versionOf(o) % 2)
		all[value] = append(all[value], watchtest.Text(o))
	}
	for _, list := range all {
		slices.Sort(list)
	}
	return all
}

// TestReadsNeverGoBackWhileAnswersAndEventsRace: one goroutine tells what the
// others write and observe; a reader sees the versions of one object rise only.
func TestReadsNeverGoBackWhileAnswersAndEventsRace(t *testing.T) {
	s, w := reachedStore()
	const last = 5000
	var writing, reading sync.WaitGroup
	for offset := range 2 {
		writing.Go(func() {
			for version := 6 + offset; version <= last; version += 2 {
				w.Observe(watchtest.Object(fmt.Sprintf("o@%d", version)))
			}
		})
	}
	writing.Go(func() {
		for version := 6; version <= last; version++ {
			w.Put(watchtest.Object(fmt.Sprintf("o@%d", version)), false)
			w.Advance(fmt.Sprint(version))
		}
	})
	stop := make(chan struct{})
	for range 2 {
		reading.Go(func() {
			var newest uint64
			for {
				o, _ := s.Get(watchtest.Key("o"))
				if version := versionOf(o); version < newest {
					t.Errorf("read version %d after %d", version, newest)
				} else {
					newest = version
				}
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	writing.Wait()
	close(stop)
	reading.Wait()
	if got := seen(s); got != fmt.Sprintf("o@%d", last) || s.Stats().Observed != 0 {
		t.Errorf("in the end %s, %+v", got, s.Stats())
	}
}
