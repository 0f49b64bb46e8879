package mvcc

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gocampus/hark/key"
)

// model is the obvious implementation: a copy of everything for each version.
type model struct {
	states []map[key.Key]string // by version
	events []string             // by version, from 1
}

func (m *model) newest() map[key.Key]string { return m.states[len(m.states)-1] }

func (m *model) commit(k key.Key, text string, remove bool) {
	next := maps.Clone(m.newest())
	_, existed := next[k]
	kind := "created"
	switch {
	case remove:
		delete(next, k)
		kind = "deleted"
	case existed:
		kind = "updated"
	}
	version := len(m.states)
	if !remove {
		next[k] = fmt.Sprintf("%s@%d", text, version)
	}
	m.states = append(m.states, next)
	m.events = append(m.events, fmt.Sprintf("%s %s@%d", kind, k, version))
}

func (m *model) list(version int, namespace string, after key.Key) []string {
	var keys []key.Key
	for k := range m.states[version] {
		if (namespace == "" || k.Namespace == namespace) && compareKeys(k, after) > 0 {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, compareKeys)
	lines := make([]string, len(keys))
	for i, k := range keys {
		lines[i] = k.String() + "=" + m.states[version][k]
	}
	return lines
}

func listed(s Snapshot[*value], namespace string, after key.Key) []string {
	lines := []string{}
	for r := range s.All(namespace, after) {
		lines = append(lines, fmt.Sprintf("%s=%s@%d", r.Key, r.Value.text, r.Version))
	}
	return lines
}

func eventLine(e Event[*value]) string {
	kind := map[EventType]string{Created: "created", Updated: "updated", Deleted: "deleted"}[e.Type]
	return fmt.Sprintf("%s %s@%d", kind, e.Current.Key, e.Version())
}

func TestStoreAgreesWithTheModel(t *testing.T) {
	for range 20 {
		seed := rand.Uint64()
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) { compareWithModel(t, rand.New(rand.NewPCG(seed, 0))) })
	}
}

func compareWithModel(t *testing.T, random *rand.Rand) {
	const history = 40
	s := New[*value](Options{History: history})
	m := &model{states: []map[key.Key]string{{}}}
	randomKey := func() key.Key {
		return key.Key{Namespace: []string{"a", "a-b", "b", ""}[random.IntN(4)], Name: fmt.Sprint(random.IntN(12))}
	}
	for step := range 400 {
		k, text := randomKey(), fmt.Sprint(step)
		record := s.Get("r", k)
		_, exists := m.newest()[k]
		if (record != nil) != exists {
			t.Fatalf("step %d: Get(%s) = %v; model has it: %v", step, k, record, exists)
		}
		remove := exists && random.IntN(3) == 0
		if _, err := s.Commit(Change[*value]{Resource: "r", Key: k, Expect: record.version(), Value: &value{text: text}, Delete: remove}); err != nil {
			t.Fatalf("step %d: %v", step, err)
		}
		m.commit(k, text, remove)
		compareReads(t, s, m, random, randomKey(), history)
	}
}

func compareReads(t *testing.T, s *Store[*value], m *model, random *rand.Rand, after key.Key, history int) {
	t.Helper()
	version := random.IntN(len(m.states))
	namespace := []string{"", "a", "a-b", "b"}[random.IntN(4)]
	snapshot, err := s.At("r", uint64(version))
	floor := len(m.events) - history
	if gone := version < floor; gone != (err != nil) {
		t.Fatalf("At(%d) with floor %d: %v", version, floor, err)
	}
	if err != nil {
		return
	}
	got, want := listed(snapshot, namespace, after), m.list(version, namespace, after)
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Fatalf("At(%d) of %q after %s:\ngot  %v\nwant %v", version, namespace, after, got, want)
	}
	if n := snapshot.CountAfter(namespace, after); n != len(want) {
		t.Fatalf("CountAfter(%q, %s) = %d; want %d", namespace, after, n, len(want))
	}
	cursor, err := s.Watch("r", uint64(version), 0)
	if err != nil {
		t.Fatal(err)
	}
	var events []string
	for {
		batch, err := cursor.Poll(1 + random.IntN(5))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range batch.Events {
			events = append(events, eventLine(e))
		}
		if batch.Wake != nil {
			break
		}
	}
	if !slices.Equal(events, m.events[version:]) {
		t.Fatalf("watch from %d:\ngot  %v\nwant %v", version, events, m.events[version:])
	}
}

func TestConcurrentWritersAndWatchersSeeOneOrder(t *testing.T) {
	s := New[*value](Options{})
	const writers, each = 4, 500
	var wait sync.WaitGroup
	for w := range writers {
		wait.Go(func() {
			for i := range each {
				k := key.Key{Name: fmt.Sprint((w + i) % 7)}
				for {
					record := s.Get("r", k)
					_, err := s.Commit(Change[*value]{Resource: "r", Key: k, Expect: record.version(), Value: &value{}})
					if err == nil {
						break
					}
					if !errors.Is(err, ErrConflict) {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	for range 3 {
		cursor, err := s.Watch("r", 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		wait.Go(func() {
			var last uint64
			for last < writers*each {
				batch, err := cursor.Poll(64)
				if err != nil {
					t.Error(err)
					return
				}
				for _, e := range batch.Events {
					if cmp.Compare(e.Version(), last+1) != 0 {
						t.Errorf("event %d follows %d", e.Version(), last)
						return
					}
					last = e.Version()
				}
				if batch.Wake != nil && last < writers*each {
					<-batch.Wake
				}
			}
		})
	}
	wait.Wait()
}
