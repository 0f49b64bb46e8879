package delta

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gocampus/hark/internal/watchtest"
	"github.com/gocampus/hark/key"
	"github.com/gocampus/hark/watch"
	"github.com/gocampus/hark/wire"
)

// change makes a change from "old > new" in watchtest's notation.
func change(text string) Change {
	cause := watch.CauseWatch
	text, resync := strings.CutSuffix(text, " resync")
	if resync {
		cause = watch.CauseResync
	}
	text, final, _ := strings.Cut(text, " final ")
	before, after, _ := strings.Cut(text, " > ")
	c := Change{Old: object(before), New: object(after), Final: object(final), Cause: cause}
	for _, o := range []*wire.Object{c.New, c.Old} {
		if o != nil {
			c.Key = o.Key()
		}
	}
	return c
}

func object(text string) *wire.Object {
	if text == "-" || text == "" {
		return nil
	}
	return watchtest.Object(text)
}

func describe(e Event) string {
	text := fmt.Sprintf("%s %s > %s", e.Type, watchtest.Text(e.Old), watchtest.Text(e.New))
	if e.FinalStateUnknown {
		text += " final state unknown"
	}
	if e.Cause == watch.CauseResync {
		text += " resync"
	}
	if e.Merged > 0 {
		text += fmt.Sprintf(" merged %d", e.Merged)
	}
	return text
}

func drain(p *pending) []string {
	var got []string
	for {
		e, mark, ok := pop(p)
		switch {
		case !ok:
			return got
		case mark != nil:
			got = append(got, "mark")
		default:
			got = append(got, describe(e))
		}
	}
}

// pop takes out one event or mark.
func pop(p *pending) (e Event, mark *Mark, ok bool) {
	events := make([]Event, 1)
	n, mark := p.popSome(events)
	return events[0], mark, n > 0 || mark != nil
}

func TestChangesOfOneKeyCoalesceByTheRules(t *testing.T) {
	for _, tc := range []struct {
		name    string
		changes []string
		want    []string
	}{
		{"add, update", []string{"- > a@1", "a@1 > a@2"}, []string{"ADDED - > a@2 merged 1"}},
		{"add, delete (C4)", []string{"- > a@1", "a@1 > - final a@2"}, nil},
		{"update, update", []string{"a@1 > a@2", "a@2 > a@3"}, []string{"MODIFIED a@1 > a@3 merged 1"}},
		{"update, delete", []string{"a@1 > a@2", "a@2 > - final a@3"}, []string{"DELETED a@3 > - merged 1"}},
		{"update, then missing in a list", []string{"a@1 > a@2", "a@2 > -"}, []string{"DELETED a@2 > - final state unknown merged 1"}},
		{"update, then another UID in a list", []string{"a/1@1 > a/1@2", "a/1@2 > a/2@3"},
			[]string{"DELETED a/1@2 > - final state unknown", "ADDED - > a/2@3 merged 1"}},
		{"delete seen in a list", []string{"a@1 > -"}, []string{"DELETED a@1 > - final state unknown"}},
		{"delete, add of another UID (C15)", []string{"a/1@1 > - final a/1@2", "- > a/2@3"},
			[]string{"DELETED a/1@2 > -", "ADDED - > a/2@3 merged 1"}},
		{"another UID at once (C15)", []string{"a/1@5 > a/2@8"},
			[]string{"DELETED a/1@5 > - final state unknown", "ADDED - > a/2@8"}},
		{"delete, add, delete", []string{"a/1@1 > - final a/1@2", "- > a/2@3", "a/2@3 > - final a/2@4"},
			[]string{"DELETED a/1@2 > - merged 2"}},
		{"delete, add, update", []string{"a/1@1 > - final a/1@2", "- > a/2@3", "a/2@3 > a/2@4"},
			[]string{"DELETED a/1@2 > -", "ADDED - > a/2@4 merged 2"}},
		{"delete, add of the same UID", []string{"a@1 > - final a@2", "- > a@3"}, []string{"MODIFIED a@1 > a@3 merged 1"}},
		{"delete, add of the same version", []string{"a@1 > -", "- > a@1"}, nil},
		{"resync alone", []string{"a@1 > a@1 resync"}, []string{"MODIFIED a@1 > a@1 resync"}},
		{"resync behind an update (C5)", []string{"a@5 > a@6", "a@5 > a@5 resync"}, []string{"MODIFIED a@5 > a@6"}},
		{"resync behind a delete (C5)", []string{"a@5 > - final a@6", "a@5 > a@5 resync"}, []string{"DELETED a@6 > -"}},
		{"update behind a resync", []string{"a@5 > a@5 resync", "a@5 > a@6"}, []string{"MODIFIED a@5 > a@6 merged 1"}},
		{"delete behind a resync", []string{"a@5 > a@5 resync", "a@5 > - final a@6"}, []string{"DELETED a@6 > - merged 1"}},
		{"nothing to nothing", []string{"- > -"}, nil},
		{"order is that of the keys' first change", []string{"- > a@1", "- > b@2", "a@1 > a@3"},
			[]string{"ADDED - > a@3 merged 1", "ADDED - > b@2"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := newPending(0)
			for _, text := range tc.changes {
				p.push(change(text))
			}
			if diff := cmp.Diff(tc.want, drain(p)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestEveryTellsEachChangeUpToTheBound(t *testing.T) {
	p := newPending(3)
	for _, text := range []string{"- > a@1", "a@1 > a@2", "a@2 > - final a@3", "- > a/2@4", "a/2@4 > a/2@5", "- > b@6"} {
		p.push(change(text))
	}
	want := []string{
		"ADDED - > a@1", "MODIFIED a@1 > a@2",
		"DELETED a@3 > -", "ADDED - > a/2@5 merged 2", // beyond the bound: merged into what waits
		"ADDED - > b@6",
	}
	if diff := cmp.Diff(want, drain(p)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestTwoStepsOfOneEntryStayOpenToChanges(t *testing.T) {
	p := newPending(0)
	p.push(change("a/1@1 > a/2@2"))
	if e, _, _ := pop(p); describe(e) != "DELETED a/1@1 > - final state unknown" {
		t.Fatalf("first step: %s", describe(e))
	}
	p.push(change("a/2@2 > - final a/2@3"))
	if got := drain(p); got != nil {
		t.Fatalf("after the second object was deleted: %v; want nothing: the handler never saw it", got)
	}
}

func TestMarkComesAfterWhatWasPushedBefore(t *testing.T) {
	p := newPending(0)
	p.push(change("- > a@1"))
	p.push(change("- > b@1"))
	p.addMark(&Mark{})
	p.push(change("a@1 > a@2"))
	p.push(change("- > c@3"))
	want := []string{"ADDED - > a@2 merged 1", "ADDED - > b@1", "mark", "ADDED - > c@3"}
	if diff := cmp.Diff(want, drain(p)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestFoldOfEventsIsTheTruth drives random histories and random popping against
// the dumbest model: a map of what is true, and a map of what was told.
func TestFoldOfEventsIsTheTruth(t *testing.T) {
	for _, bound := range []int{0, 1, 7, 1000} {
		seed := rand.Uint64()
		t.Run(fmt.Sprintf("bound %d seed %d", bound, seed), func(t *testing.T) {
			h := newHistory(t, seed, bound)
			for range 20_000 {
				h.step()
			}
			h.popAll()
			if diff := cmp.Diff(texts(h.truth), texts(h.told)); diff != "" {
				t.Fatalf("told is not the truth (-truth +told)\n%s", diff)
			}
		})
	}
}

// TestWhatComesBehindAFenceFollowsFromTheStateAtIt: readers join at fences, each
// with the truth at its own, and all hear the same from there on.
func TestWhatComesBehindAFenceFollowsFromTheStateAtIt(t *testing.T) {
	for _, bound := range []int{0, 7} {
		seed := rand.Uint64()
		t.Run(fmt.Sprintf("bound %d seed %d", bound, seed), func(t *testing.T) {
			h := newHistory(t, seed, bound)
			for n := range 20_000 {
				if n%200 == 0 && len(h.late) < 20 || h.rng.IntN(500) == 0 {
					h.fence()
				}
				h.step()
			}
			h.popAll()
			if h.fences > 0 {
				t.Fatalf("%d fences were not popped", h.fences)
			}
			for n, told := range append(h.late, h.told) {
				if diff := cmp.Diff(texts(h.truth), texts(told)); diff != "" {
					t.Fatalf("what reader %d was told is not the truth (-truth +told)\n%s", n, diff)
				}
			}
		})
	}
}

func TestChangesDoNotCoalesceAcrossAFence(t *testing.T) {
	p := newPending(0)
	p.push(change("- > a@1"))
	p.push(change("b@1 > - final b@2"))
	p.addMark(&Mark{Fence: true})
	p.push(change("a@1 > - final a@3"))
	p.push(change("- > b@4"))
	p.push(change("b@4 > b@5"))
	p.push(change("- > c@6"))
	p.push(change("c@6 > - final c@7"))
	want := []string{"ADDED - > a@1", "DELETED b@2 > -", "mark", "DELETED a@3 > -", "ADDED - > b@5 merged 1"}
	if diff := cmp.Diff(want, drain(p)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestPopFillsInWhatComesBeforeTheNextMark(t *testing.T) {
	p := newPending(0)
	p.push(change("- > a@1"))
	p.push(change("b/1@1 > b/2@2")) // two events
	m := &Mark{Value: "here"}
	p.addMark(m)
	p.push(change("- > c@3"))
	events := make([]Event, 2)
	for n, want := range []struct {
		events int
		mark   *Mark
	}{{2, nil}, {1, nil}, {0, m}, {1, nil}, {0, nil}} {
		if got, mark := p.popSome(events); got != want.events || mark != want.mark {
			t.Errorf("pop %d: %d events, mark %v; want %d, %v", n, got, mark, want.events, want.mark)
		}
	}
}

type history struct {
	t       *testing.T
	rng     *rand.Rand
	keys    int
	p       *pending
	version int
	truth   map[key.Key]*wire.Object
	told    map[key.Key]*wire.Object
	late    []map[key.Key]*wire.Object // told to readers that joined at a fence
	fences  int                        // that wait
}

func newHistory(t *testing.T, seed uint64, bound int) *history {
	rng := rand.New(rand.NewPCG(seed, 0))
	return &history{t: t, rng: rng, keys: 6 + rng.IntN(3*maxWalk), p: newPending(bound),
		truth: map[key.Key]*wire.Object{}, told: map[key.Key]*wire.Object{}}
}

// fence lets a reader join that knows the truth.
func (h *history) fence() {
	h.fences++
	h.p.addMark(&Mark{Fence: true, Value: maps.Clone(h.truth)})
}

func (h *history) step() {
	if h.rng.IntN(100) == 0 {
		h.popAll()
	}
	name := fmt.Sprintf("k%d", h.rng.IntN(h.keys))
	k := watchtest.Key(name)
	old := h.truth[k]
	h.version++
	switch choice := h.rng.IntN(10); {
	case choice < 3:
		h.pop()
	case choice == 3 && old != nil:
		h.p.push(Change{Key: k, Old: old, New: old, Cause: watch.CauseResync})
	case choice == 4 && old != nil: // replaced while nobody looked
		h.change(k, old, watchtest.Object(fmt.Sprintf("%s/u%d@%d", name, h.version, h.version)))
	case choice < 6 && old != nil:
		h.change(k, old, nil)
	case old == nil:
		h.change(k, nil, watchtest.Object(fmt.Sprintf("%s/u%d@%d", name, h.version, h.version)))
	default:
		h.change(k, old, watchtest.Object(fmt.Sprintf("%s/%s@%d", name, old.UID(), h.version)))
	}
	h.check()
}

func (h *history) change(k key.Key, old, now *wire.Object) {
	c := Change{Key: k, Old: old, New: now, Cause: watch.CauseWatch}
	if now == nil && h.rng.IntN(2) == 0 {
		c.Final = watchtest.Object(fmt.Sprintf("%s/%s@%d", k.Name, old.UID(), h.version))
	}
	h.p.push(c)
	if now == nil {
		delete(h.truth, k)
		return
	}
	h.truth[k] = now
}

func (h *history) popAll() {
	for h.pop() {
	}
}

// pop takes one event, or lets a reader join, and reports whether there was any.
func (h *history) pop() bool {
	e, mark, ok := pop(h.p)
	switch {
	case mark != nil:
		h.fences--
		h.late = append(h.late, mark.Value.(map[key.Key]*wire.Object))
	case ok:
		h.tell(h.told, e)
		for _, told := range h.late {
			h.tell(told, e)
		}
	}
	return ok
}

// tell applies an event to what was told before.
func (h *history) tell(told map[key.Key]*wire.Object, e Event) {
	before := told[e.Key]
	switch e.Type {
	case watch.EventAdded:
		if before != nil || e.Old != nil || e.New == nil {
			h.t.Fatalf("%s; told before: %s", describe(e), watchtest.Text(before))
		}
		told[e.Key] = e.New
	case watch.EventModified:
		if before == nil || e.Old != before || e.New.UID() != before.UID() {
			h.t.Fatalf("%s; told before: %s", describe(e), watchtest.Text(before))
		}
		if e.Old == e.New && e.Cause != watch.CauseResync {
			h.t.Fatalf("%s tells nothing", describe(e))
		}
		told[e.Key] = e.New
	case watch.EventDeleted:
		if before == nil || e.Old == nil || e.Old.UID() != before.UID() {
			h.t.Fatalf("%s; told before: %s", describe(e), watchtest.Text(before))
		}
		delete(told, e.Key)
	default:
		h.t.Fatalf("unknown event %s", describe(e))
	}
}

// check holds the invariants of pending.
func (h *history) check() {
	p, n := h.p, 0
	last := map[key.Key]*entry{}
	for e := p.head.next; e != &p.head; e = e.next {
		if e.mark != nil {
			continue
		}
		n++
		if before := last[e.key]; before != nil && before.now != e.seen {
			h.t.Fatalf("entries of %s do not join", e.key)
		}
		if !e.tells() {
			h.t.Fatalf("an entry of %s has nothing to tell", e.key)
		}
		last[e.key] = e
	}
	if n != p.length || n > p.bound+len(last)*(1+h.fences) {
		h.t.Fatalf("%d entries, length says %d, bound %d, %d keys, %d fences", n, p.length, p.bound, len(last), h.fences)
	}
	if indexed := len(p.last); p.indexed && indexed != len(last) || !p.indexed && (indexed > 0 || p.waiting > maxWalk) {
		h.t.Fatalf("indexed %v: last has %d keys, %d wait", p.indexed, indexed, len(last))
	}
	for n := range h.keys {
		k := watchtest.Key(fmt.Sprintf("k%d", n))
		if p.find(k) != last[k] {
			h.t.Fatalf("%s: what is found is not the newest entry", k)
		}
	}
	if p.waiting != n+h.fences {
		h.t.Fatalf("%d wait; want %d and %d fences", p.waiting, n, h.fences)
	}
}

func texts(objects map[key.Key]*wire.Object) map[string]string {
	out := map[string]string{}
	for k, o := range objects {
		out[k.String()] = watchtest.Text(o)
	}
	return out
}

func TestSteadyStateAllocatesNothing(t *testing.T) {
	p := newPending(0)
	a, b := watchtest.Object("a@1"), watchtest.Object("a@2")
	c := Change{Key: a.Key(), Old: a, New: b, Cause: watch.CauseWatch}
	events := make([]Event, 8)
	p.push(c)
	p.popSome(events)
	if n := testing.AllocsPerRun(1000, func() { p.push(c); p.popSome(events) }); n != 0 {
		t.Errorf("push and pop allocate %v times; want 0", n)
	}
}
