package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gocampus/hark/internal/podgen"
)

// podOf is pod number i as an object in one piece.
func podOf(tb testing.TB, encoding Encoding, i int, o podgen.Options) *Object {
	tb.Helper()
	pod := podgen.Pod(i, o)
	pod.ManagedFields = nil
	return objectOf(tb, encoding, encoded(tb, encoding, pod))
}

func objectOf(tb testing.TB, encoding Encoding, raw []byte) *Object {
	tb.Helper()
	o, err := NewObject(encoding, raw)
	if err != nil {
		tb.Fatalf("%q: %v", raw, err)
	}
	return o
}

// keep compacts an object and holds its family.
func (c *Compactor) keep(o *Object) *Object {
	small, family := c.Compact(o, o.Key())
	c.Hold(family)
	return small
}

// expectSame fails unless got tells of itself what want does.
func expectSame(tb testing.TB, got, want *Object) {
	tb.Helper()
	raw := want.AppendBytes(nil)
	if !bytes.Equal(got.AppendBytes(nil), raw) {
		tb.Fatalf("reads %q\n stored %q", got.AppendBytes(nil), raw)
	}
	type told struct {
		UID, Owner, ResourceVersion, Text          string
		Label, Annotation                          string
		Version                                    uint64
		Size                                       int
		Deleting, Integer, HasLabel, HasAnnotation bool
		Encoding                                   Encoding
		Meta                                       Meta
	}
	tell := func(o *Object) (t told) {
		t.UID, t.Owner, t.ResourceVersion, t.Text, t.Size = o.UID(), o.OwnerUID(), o.ResourceVersion(), o.String(), o.Size()
		t.Deleting, t.Encoding, t.Meta = o.Deleting(), o.Encoding(), o.Meta()
		t.Version, t.Integer = o.Version()
		t.Label, t.HasLabel = o.Label("app")
		t.Annotation, t.HasAnnotation = o.Annotation("checksum/config")
		return t
	}
	if diff := cmp.Diff(tell(want), tell(got)); diff != "" {
		tb.Fatalf("%q (-want +got)\n%s", raw, diff)
	}
	if !got.Equal(want) || !want.Equal(got) {
		tb.Fatalf("%q: not equal", raw)
	}
}

func TestCompactObjectsReadAsTheyWereStored(t *testing.T) {
	bothEncodings(t, func(t *testing.T, encoding Encoding) {
		for _, siblings := range []int{50, 3, 1} {
			c := new(Compactor)
			var small, want []*Object
			for i := range 200 {
				o := podOf(t, encoding, i, podgen.Options{Siblings: siblings})
				small, want = append(small, c.keep(o)), append(want, o)
			}
			for i := range small {
				expectSame(t, small[i], want[i])
				if other := (i + 1) % len(small); small[i].Equal(small[other]) || small[i].Equal(want[other]) {
					t.Errorf("%s equals %s", small[i], want[other])
				}
			}
		}
	})
}

// TestCompactedSizes holds what is kept of an object, its share of bases included.
func TestCompactedSizes(t *testing.T) {
	bothEncodings(t, func(t *testing.T, encoding Encoding) {
		for siblings, share := range map[int]float64{50: 0.2, 1: 0.35} {
			c := new(Compactor)
			kept, all := 0, 0
			bases := map[string]bool{}
			for i := range 400 {
				o := podOf(t, encoding, i, podgen.Options{Siblings: siblings})
				small := c.keep(o)
				kept, all = kept+len(small.body.data), all+o.Size()
				if !bases[small.body.base] {
					bases[small.body.base] = true
					kept += len(small.body.base)
				}
			}
			if got := float64(kept) / float64(all); got > share {
				t.Errorf("of pods, %d a ReplicaSet, %.2f is kept; want at most %.2f", siblings, got, share)
			}
		}
	})
}

// TestAnyHashFindsTheSameBytes: a hash that throws owners together costs room and
// nothing else.
func TestAnyHashFindsTheSameBytes(t *testing.T) {
	bothEncodings(t, func(t *testing.T, encoding Encoding) {
		c := &Compactor{hash: func(owner string) uint64 { return uint64(len(owner) % 2) }}
		for i := range 300 {
			o := podOf(t, encoding, i, podgen.Options{Siblings: 1 + i%3})
			expectSame(t, c.keep(o), o)
		}
		if n := len(c.families); n > 2 {
			t.Errorf("%d families with 2 hashes", n)
		}
	})
}

// TestRandomObjectsReadAsTheyWereStored stores generated JSON, and bytes around
// metadata that are anything, in versions that grow out of one another.
func TestRandomObjectsReadAsTheyWereStored(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := &random{Rand: rand.New(rand.NewPCG(seed, 0))}
	c := new(Compactor)
	var held []*Family
	stored := 0
	for range 20_000 {
		encoding, raw := JSON, []byte(r.object())
		if r.IntN(2) == 0 {
			encoding, raw = Protobuf, r.protobuf()
		}
		o, err := NewObject(encoding, raw)
		if err != nil {
			continue
		}
		small, family := c.Compact(o, o.Key())
		c.Hold(family)
		held = append(held, family)
		expectSame(t, small, o)
		stored++
		if r.IntN(3) == 0 {
			at := r.IntN(len(held))
			c.Release(held[at])
			held = slices.Delete(held, at, at+1)
		}
	}
	if stored < 1000 {
		t.Errorf("only %d were objects", stored)
	}
	for _, family := range held {
		c.Release(family)
	}
	if c.members != 0 || c.families != nil || c.general.base != "" {
		t.Errorf("%d members, %d families are left, and a base of %d bytes", c.members, len(c.families), len(c.general.base))
	}
}

// protobuf makes an object of metadata and fields that repeat, miss bytes or
// have others.
func (r *random) protobuf() []byte {
	field := func(dst []byte, num byte, content []byte) []byte {
		dst = append(dst, num<<3|2)
		for n := len(content); ; n >>= 7 {
			if n < 0x80 {
				return append(append(dst, byte(n)), content...)
			}
			dst = append(dst, byte(n)|0x80)
		}
	}
	letters := strings.Repeat("the same again and again ", 20)
	content := func() []byte {
		start := r.IntN(100)
		b := []byte(letters[start : start+r.IntN(300)])
		for range r.IntN(4) {
			if len(b) > 0 {
				b[r.IntN(len(b))] = byte(r.Uint32())
			}
		}
		return b
	}
	meta := field(nil, metaName, fmt.Appendf(nil, "n%d", r.IntN(100)))
	meta = field(meta, metaNamespace, []byte("ns"))
	meta = field(meta, metaUID, fmt.Appendf(nil, "uid-%d%s", r.Uint32(), strings.Repeat("x", r.IntN(2)*r.IntN(300))))
	meta = field(meta, metaResourceVersion, fmt.Append(nil, r.Uint32()))
	if r.IntN(2) == 0 {
		owner := field([]byte{ownerController << 3, 1}, ownerUID, fmt.Appendf(nil, "owner-%d", r.IntN(5)))
		meta = field(meta, metaOwnerReferences, owner)
	}
	raw := field(nil, objectMetadata, meta)
	for range r.IntN(6) {
		raw = field(raw, 2+byte(r.IntN(3)), content())
	}
	if r.IntN(10) == 0 {
		raw = field(raw, objectMetadata, field(nil, metaUID, []byte("another"))) // a second part
	}
	return raw
}

func FuzzPatch(f *testing.F) {
	f.Add([]byte("the same text, and another one"), []byte("the same TEXT, and another one"), uint8(9), uint8(4))
	f.Add([]byte(""), []byte("new"), uint8(0), uint8(0))
	f.Add([]byte("abcdefgh"), []byte("abcdefghabcdefgh"), uint8(8), uint8(1))
	f.Add(bytes.Repeat([]byte("abcd"), 50), bytes.Repeat([]byte("abcd"), 60), uint8(100), uint8(20))
	var m matcher // its state is what there is to get wrong
	f.Fuzz(func(t *testing.T, base, raw []byte, start, n uint8) {
		var kept []place
		if end := int(start) + int(n); n > 0 && n < 255 && end <= len(raw) {
			kept = append(kept, placeAt(int(start), int(n)))
		}
		patch, moved := m.patch(raw, string(base), kept)
		own := string(patch)
		for _, n := range []int{len(raw), len(raw) / 2, len(raw) / 3, 0} {
			if got := appendPatched([]byte("x"), own, string(base), n); string(got) != "x"+string(raw[:n]) {
				t.Fatalf("base %q, patch %q: %q; want %q", base, own, got[1:], raw[:n])
			}
		}
		for i, p := range kept {
			if got, want := moved[i].in(own), p.in(string(raw)); got != want {
				t.Fatalf("kept %q; want %q", got, want)
			}
		}
	})
}

func FuzzCompactObject(f *testing.F) {
	for _, encoding := range []Encoding{Protobuf, JSON} {
		for _, raw := range seeds(f, encoding) {
			f.Add(uint8(encoding), raw)
		}
	}
	var c Compactor
	f.Fuzz(func(t *testing.T, encoding uint8, raw []byte) {
		o, err := NewObject(Encoding(encoding), raw)
		if err != nil {
			return
		}
		small, family := c.Compact(o, o.Key())
		c.Hold(family)
		expectSame(t, small, o)
		again, _ := c.Compact(small, o.Key())
		expectSame(t, again, o)
	})
}

// TestAFamilyThatChangesGetsANewBase: what all of them have now is shared again.
func TestAFamilyThatChangesGetsANewBase(t *testing.T) {
	c := new(Compactor)
	note := "a note that all of them get: " + strings.Repeat("0123456789 abcdef ", 60)
	last := 0
	for round := range 2 {
		for i := range 50 {
			pod := podgen.Pod(i, podgen.Options{Generation: round})
			if pod.ManagedFields = nil; round == 1 {
				pod.Annotations["note"] = note
			}
			o := objectOf(t, JSON, encoded(t, JSON, pod))
			small, family := c.Compact(o, o.Key())
			if round == 0 {
				c.Hold(family)
			}
			expectSame(t, small, o)
			last = len(small.body.data)
		}
	}
	if last > len(note)/2 {
		t.Errorf("the last patch has %d bytes: the note of %d is in each", last, len(note))
	}
}

// TestALoneObjectGetsNoBaseOfItsOwn, however often it changes.
func TestALoneObjectGetsNoBaseOfItsOwn(t *testing.T) {
	c := new(Compactor)
	for i := range 3 {
		c.keep(podOf(t, Protobuf, i, podgen.Options{Siblings: 1}))
	}
	for generation := range 100 {
		small, _ := c.Compact(podOf(t, Protobuf, 1, podgen.Options{Siblings: 1, Generation: generation}), podOf(t, Protobuf, 1, podgen.Options{Siblings: 1}).Key())
		if small.body.base != c.general.base {
			t.Fatalf("generation %d has a base of its own", generation)
		}
	}
}

// TestObjectsThatShareNothingTakeNoMoreThanAlone: what does not compact takes
// no more than it would alone.
func TestObjectsThatShareNothingTakeNoMoreThanAlone(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	c := new(Compactor)
	kept, all := 0, 0
	bases := map[string]bool{}
	for i := range 500 {
		content := make([]byte, rng.IntN(8000))
		for j := range content {
			content[j] = byte('0' + rng.IntN(64))
		}
		raw, err := json.Marshal(map[string]any{
			"metadata": map[string]any{"name": fmt.Sprint("n", i), "uid": fmt.Sprint(rng.Uint64()), "resourceVersion": fmt.Sprint(i)},
			"content":  string(content),
		})
		if err != nil {
			t.Fatal(err)
		}
		o := objectOf(t, JSON, raw)
		small := c.keep(o)
		expectSame(t, small, o)
		all += o.Size()
		kept += len(small.body.data)
		if small.body.form == patched && !bases[small.body.base] {
			bases[small.body.base] = true
			kept += len(small.body.base)
		}
	}
	if kept > all+all/20 {
		t.Errorf("%d bytes are kept of %d", kept, all)
	}
}

func TestHugeObjectsStayAsTheyAre(t *testing.T) {
	raw := fmt.Appendf(nil, `{"metadata":{"name":"huge"},"data":%q}`, strings.Repeat("x", maxCompact))
	o := objectOf(t, JSON, raw)
	if small := new(Compactor).keep(o); small != o {
		t.Errorf("%d bytes became %d", o.Size(), len(small.body.data))
	}
}

// TestTheTableOfFamiliesShrinks: a Go map keeps its buckets.
func TestTheTableOfFamiliesShrinks(t *testing.T) {
	c := new(Compactor)
	var families []*Family
	for i := range 5000 {
		f := &Family{hash: uint64(i)}
		c.Hold(f)
		families = append(families, f)
	}
	for _, f := range families[1:] {
		c.Release(f)
	}
	if len(c.families) != 1 || c.peak > 5000/4 {
		t.Errorf("%d families, made for %d", len(c.families), c.peak)
	}
}

func TestCompactingAllocatesTheObjectWithItsPatch(t *testing.T) {
	bothEncodings(t, func(t *testing.T, encoding Encoding) {
		c := new(Compactor)
		for i := range 20 {
			c.keep(podOf(t, encoding, i, podgen.Options{}))
		}
		o := podOf(t, encoding, 20, podgen.Options{})
		if got := testing.AllocsPerRun(100, func() { c.Compact(o, o.Key()) }); got != 1 {
			t.Errorf("Compact allocates %v times; want 1", got)
		}
	})
}

// TestTheOwnerOfACompactObjectIsReadWithoutTheRest: each first View asks for it.
func TestTheOwnerOfACompactObjectIsReadWithoutTheRest(t *testing.T) {
	bothEncodings(t, func(t *testing.T, encoding Encoding) {
		c := new(Compactor)
		for i := range 20 {
			c.keep(podOf(t, encoding, i, podgen.Options{}))
		}
		small := c.keep(podOf(t, encoding, 20, podgen.Options{}))
		if got := testing.AllocsPerRun(100, func() { small.OwnerUID() }); got > 2 { // it, and what it is found with
			t.Errorf("OwnerUID allocates %v times; want 2 at the most", got)
		}
	})
}

// TestStringsOfACompactObjectStayValid: they are put together in a buffer that
// the next read uses again.
func TestStringsOfACompactObjectStayValid(t *testing.T) {
	bothEncodings(t, func(t *testing.T, encoding Encoding) {
		c := new(Compactor)
		a := c.keep(podOf(t, encoding, 0, podgen.Options{Siblings: 1}))
		b := c.keep(podOf(t, encoding, 1, podgen.Options{Siblings: 1}))
		meta := a.Meta()
		label, _ := a.Label("app")
		annotation, _ := a.Annotation("checksum/config")
		owner := a.OwnerUID()
		for range 100 {
			b.Meta()
			b.Label("app")
			b.OwnerUID()
		}
		want := podOf(t, encoding, 0, podgen.Options{Siblings: 1})
		wantAnnotation, _ := want.Annotation("checksum/config")
		if diff := cmp.Diff(want.Meta(), meta); diff != "" || annotation != wantAnnotation || label != "service-0" || owner == "" || owner != want.OwnerUID() {
			t.Errorf("label %q, annotation %q, owner %q, (-want +got)\n%s", label, annotation, owner, diff)
		}
	})
}

// TestOnlyWhatHasSomethingInCommonIsCompared: finding out that there is nothing
// would take longest of all.
func TestOnlyWhatHasSomethingInCommonIsCompared(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	text := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte('a' + rng.IntN(26))
		}
		return b
	}
	base := string(text(5000))
	var m matcher
	if m.promises(text(2000), base) {
		t.Error("random text promises something")
	}
	if raw := append(text(1000), base[1001:2500]...); !m.promises(raw, base) {
		t.Error("half of the base promises nothing")
	}
	if !m.promises(text(50), base) || !m.promises(text(50), "") {
		t.Error("what is short enough is not compared")
	}
}
