package workqueue

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var seedFlag = flag.Uint64("seed", 0, "run the random tests with this seed only")

// pair is a core and the model that it must agree with.
type pair struct {
	core  core[string]
	model model
	now   instant
	timed bool
	// spread times an item's letter is its hash: with 0 all have the same.
	spread uint32
	trace  []string
}

func newPair(timed, fair bool) *pair {
	p := &pair{timed: timed}
	backoff := Backoff{Base: 3, Max: 40}.withDefaults()
	p.core.timed = timed
	p.core.backoff, p.model.backoff = backoff, backoff
	p.core.order.aging, p.model.aging = 20, 20
	p.core.order.fair, p.model.fair = fair, fair
	p.core.maxFailures, p.model.maxFailures = 3, 3
	return p
}

func (p *pair) hash(item string) uint32 { return p.spread * uint32(item[0]) }

func (p *pair) find(item string) *node[string] {
	if n := p.core.recent(item); n != nil {
		return n
	}
	return p.core.find(item, p.hash(item))
}

// stamp is what a shell would pass where the time matters only to some.
func (p *pair) stamp() instant {
	if p.timed {
		return p.now
	}
	return unknown
}

// laneOfItem makes two lanes of the items a, b, c …, one without a name.
func laneOfItem(item string) string { return []string{"", "A"}[item[0]%2] }

// step does one operation, chosen by what next returns (in [0, n)), on both
// sides, and returns how they differ.
func (p *pair) step(next func(n int) int) error {
	item := string(rune('a' + next(6)))
	lane := ""
	if p.core.order.fair {
		lane = laneOfItem(item)
	}
	switch next(14) {
	case 0, 1:
		p.log("add %s", item)
		p.core.add(item, p.hash(item), lane, p.stamp())
		p.model.request(item, lane, request{}, p.stamp())
	case 2, 3, 4:
		r := request{after: time.Duration(next(30) - 5), when: When(next(3)), inherit: next(2) == 0}
		if p.timed && !r.inherit {
			r.priority = int32(next(5) - 2)
		}
		r.reason = []string{"", "x", "y", "z"}[next(4)]
		p.log("schedule %s %+v", item, r)
		p.core.schedule(item, p.hash(item), lane, &r, p.now)
		p.model.request(item, lane, r, p.now)
	case 5:
		p.log("retry %s", item)
		p.core.retry(item, p.hash(item), lane, 0, p.now)
		p.model.retry(item, lane, p.now)
	case 6:
		p.log("record %s", item)
		text := fmt.Sprintf("error %d", len(p.trace))
		p.core.record(item, p.hash(item), lane, text, p.now)
		p.model.record(item, lane, text)
	case 7:
		p.log("forget %s", item)
		p.core.forget(p.find(item))
		p.model.forget(item)
	case 8:
		p.log("cancel %s", item)
		if got, want := p.core.cancel(p.find(item)), p.model.cancel(item); got != want {
			return fmt.Errorf("cancel = %t; want %t", got, want)
		}
	case 9, 10:
		return p.take()
	case 11, 12:
		p.log("done %s", item)
		if got, want := p.core.done(p.find(item), p.stamp()), p.model.done(item, p.stamp()); got != want {
			return fmt.Errorf("done = %t; want %t", got, want)
		}
	case 13:
		switch next(60) {
		case 0:
			p.log("close")
			p.core.close()
			p.model.close()
			return nil
		case 1, 2, 3, 4, 5, 6, 7, 8, 9:
			p.log("compact") // it may come at any time and changes nothing
			p.core.compact()
			return nil
		}
		p.now += instant(next(8))
		p.log("now %d", p.now)
		p.core.promote(p.now)
		p.model.promote(p.now)
	}
	return nil
}

func (p *pair) take() error {
	p.log("take")
	p.core.promote(p.now)
	p.model.promote(p.now)
	want, some := p.model.take(p.stamp())
	n := p.core.take(p.stamp())
	if got := n != nil; got != some || got && n.item != want {
		return fmt.Errorf("take = %+v; want %q, %t", n, want, some)
	}
	return nil
}

func (p *pair) log(format string, args ...any) {
	p.trace = append(p.trace, fmt.Sprintf(format, args...))
}

// view is what both sides are compared by.
type view struct {
	Queued, Delayed, Running, Again, Failing []string
	Failures                                 map[string]int
	Errors                                   map[string]string
	Reasons                                  map[string][]string
	Due                                      map[string]instant
}

func newView() view {
	return view{Failures: map[string]int{}, Errors: map[string]string{}, Reasons: map[string][]string{}, Due: map[string]instant{}}
}

func (c *core[T]) view(name func(T) string) view {
	v := newView()
	for n := range c.nodes.members(&c.order.aged) {
		v.Queued = append(v.Queued, name(n.item))
	}
	for _, n := range c.deadlines.sorted(&c.nodes) {
		v.Delayed = append(v.Delayed, name(n.item))
		v.Due[name(n.item)] = n.at
	}
	for n := range c.nodes.members(&c.failing) {
		v.Failing = append(v.Failing, name(n.item))
	}
	for n := range c.nodes.all {
		item := n.item
		if n.state&running != 0 {
			v.Running = append(v.Running, name(item))
			if n.state&ready != 0 {
				v.Again = append(v.Again, name(item))
			}
		}
		if n.failures > 0 {
			v.Failures[name(item)] = int(n.failures)
		}
		if d := n.detail(); d != nil {
			if d.recorded != nil {
				v.Errors[name(item)] = d.err
			}
			if reasons := slices.Concat(d.now.texts, d.next.texts); len(reasons) > 0 {
				v.Reasons[name(item)] = reasons
			}
		}
	}
	slices.Sort(v.Running)
	slices.Sort(v.Again)
	return v
}

func (m *model) view() view {
	v := newView()
	names := func(items []*modelItem) (names []string) {
		for _, it := range items {
			names = append(names, it.item)
		}
		return names
	}
	v.Queued, v.Delayed, v.Failing = names(m.queued()), names(m.delayed()), names(m.failing())
	for _, it := range m.items {
		if it.delays {
			v.Due[it.item] = it.at
		}
		if it.running {
			v.Running = append(v.Running, it.item)
			if it.ready {
				v.Again = append(v.Again, it.item)
			}
		}
		if it.failures > 0 {
			v.Failures[it.item] = it.failures
		}
		if it.err != "" {
			v.Errors[it.item] = it.err
		}
		if reasons := slices.Concat(it.now, it.reasons); len(reasons) > 0 {
			v.Reasons[it.item] = reasons
		}
	}
	slices.Sort(v.Running)
	slices.Sort(v.Again)
	return v
}

// walk does steps until done returns true, and compares after each.
func (p *pair) walk(next func(n int) int, done func() bool) error {
	for !done() {
		if err := p.step(next); err != nil {
			return err
		}
		if err := p.core.broken(); err != nil {
			return err
		}
		got, want := p.core.view(func(item string) string { return item }), p.model.view()
		if !reflect.DeepEqual(got, want) {
			return fmt.Errorf("-core +model:\n%s", cmp.Diff(got, want))
		}
	}
	return nil
}

func TestTheCoreAgreesWithTheModelOnRandomOperations(t *testing.T) {
	for round := range 300 {
		seed := rand.Uint64()
		if *seedFlag != 0 {
			seed = *seedFlag
		}
		random := rand.New(rand.NewPCG(seed, 0))
		p := newPair(random.IntN(4) > 0, random.IntN(2) == 0)
		p.timed = p.timed || p.core.order.fair
		p.spread = []uint32{0, 1 << 28, 1<<32 - 1, 2654435761}[random.IntN(4)]
		steps := 0
		err := p.walk(random.IntN, func() bool { steps++; return steps > 300 })
		if err != nil {
			t.Fatalf("round %d, -seed=%d: after\n%s\n%v", round, seed, strings.Join(p.trace, "\n"), err)
		}
		if *seedFlag != 0 {
			return
		}
	}
}

func FuzzTheCoreAgreesWithTheModel(f *testing.F) {
	f.Add(byte(3), []byte("\x00\x00\x01\x00\x00\x09\x00\x0b"))
	f.Add(byte(0), []byte("\x00\x05\x00\x05\x00\x0d\x07\x07\x00\x09\x00\x0b\x00\x05"))
	f.Fuzz(func(t *testing.T, mode byte, ops []byte) {
		if len(ops) > 2000 {
			return
		}
		fair := mode&2 != 0
		p := newPair(mode&1 != 0 || fair, fair)
		p.spread = uint32(mode>>2) << 26
		next := func(n int) int {
			if len(ops) == 0 {
				return 0
			}
			op := int(ops[0])
			ops = ops[1:]
			return op % n
		}
		if err := p.walk(next, func() bool { return len(ops) == 0 }); err != nil {
			t.Fatalf("after\n%s\n%v", strings.Join(p.trace, "\n"), err)
		}
	})
}
