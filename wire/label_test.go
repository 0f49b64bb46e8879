package wire

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/gocampus/hark/internal/podgen"
)

// TestLabelsReadInTheirPlaceAreThoseOfAScan: of all forms of an object, with labels
// of all sizes, orders and spellings that protobuf allows.
func TestLabelsReadInTheirPlaceAreThoseOfAScan(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	c := new(Compactor)
	inPlace := 0
	for range 3000 {
		raw, names := objectWithLabels(rng)
		whole, err := NewObject(Protobuf, raw)
		if err != nil {
			t.Fatal(err)
		}
		small := c.keep(whole)
		for _, name := range names {
			m := sink{label: lookup{name: name}}
			if err := scan(Protobuf, raw, &m); err != nil {
				t.Fatal(err)
			}
			for form, o := range map[string]*Object{"whole": whole, "split": cloned(t, whole), "compact": small} {
				if value, ok := o.Label(name); value != m.label.value || ok != m.label.ok {
					t.Fatalf("%s: label %q of %q = %q, %t; a scan finds %q, %t", form, name, raw, value, ok, m.label.value, m.label.ok)
				}
				if _, _, known := o.body.label(name); known {
					inPlace++
				}
			}
		}
	}
	if inPlace == 0 {
		t.Error("none was read in its place")
	}
}

// cloned returns an equal object as a reader makes it.
func cloned(t *testing.T, o *Object) *Object {
	t.Helper()
	k := newKeeper(Protobuf, Options{})
	c, err := k.keep(&frame{object: o.AppendBytes(nil)})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// objectWithLabels returns an object with labels here and there, and names that it
// may have.
func objectWithLabels(rng *rand.Rand) (raw []byte, names []string) {
	names = []string{"", "absent", "l30", "z"}
	meta := fields{}.add(metaName, []byte("a"))
	sorted := rng.IntN(2) == 0 // as encoders do
	for i := range rng.IntN(9) {
		switch rng.IntN(20) {
		case 0:
			meta = meta.add(metaUID, []byte("u"))
		case 1:
			meta = meta.add(metaAnnotations, fields{}.add(entryKey, []byte("k")).add(entryValue, []byte("v")))
		default:
			name := fmt.Sprintf("l%d", rng.IntN(5))
			if sorted {
				name = fmt.Sprintf("l%d%d", i, rng.IntN(2))
			}
			value := strings.Repeat("v", rng.IntN(9)*rng.IntN(9)*rng.IntN(9)) + fmt.Sprint(rng.IntN(100))
			meta = meta.add(metaLabels, labelEntry(rng, name, value))
			names = append(names, name)
		}
	}
	object := fields{}.add(objectMetadata, meta)
	switch rng.IntN(4) {
	case 0: // the metadata is the end
	case 1: // what follows looks like a label
		object = object.add(metaLabels, fields{}.add(entryKey, []byte("l1")).add(entryValue, []byte("not one")))
	case 2:
		object = object.add(2, []byte(strings.Repeat("spec", rng.IntN(2000))))
	case 3: // metadata in two parts
		object = object.add(2, []byte("spec")).add(objectMetadata, fields{}.add(metaLabels, labelEntry(rng, "l2", "second")))
	}
	return object, names
}

// labelEntry is a map entry, mostly as encoders write it.
func labelEntry(rng *rand.Rand, name, value string) []byte {
	entry := fields{}.add(entryKey, []byte(name)).add(entryValue, []byte(value))
	switch rng.IntN(12) {
	case 0:
		return fields{}.add(entryValue, []byte(value)).add(entryKey, []byte(name))
	case 1:
		return fields{}.add(entryKey, []byte(name))
	case 2:
		return fields{}.add(entryValue, []byte(value))
	case 3:
		return entry.add(entryValue, []byte("again"))
	case 4:
		return entry.add(7, []byte("unknown"))
	}
	return entry
}

func TestALabelReadInItsPlaceAllocatesNothing(t *testing.T) {
	c := new(Compactor)
	var o *Object
	for i := range 20 {
		o = c.keep(podOf(t, Protobuf, i, podgen.Options{}))
	}
	if o.body.form != patched {
		t.Fatal("the object is not compact")
	}
	if _, _, known := o.body.label("app"); !known {
		t.Error("a sibling's label is not read in its place")
	}
	if n := testing.AllocsPerRun(100, func() { o.Label("app") }); n != 0 {
		t.Errorf("Label allocates %v times; want 0", n)
	}
}

// TestALabelInAnUnusualSpellingIsFound: its number may be written in more bytes than
// it takes, and its name may be empty.
func TestALabelInAnUnusualSpellingIsFound(t *testing.T) {
	entry := func(name, value string) []byte {
		return fields{}.add(entryKey, []byte(name)).add(entryValue, []byte(value))
	}
	plain := fields{}.add(metaLabels, entry("b", "plain"))
	long := append([]byte{labelTag | 0x80, 0}, plain[1:]...) // the same field
	for name, labels := range map[string][]byte{
		"first":  append(long, fields{}.add(metaLabels, entry("c", "1"))...),
		"second": append(fields{}.add(metaLabels, entry("a", "1")), long...),
		"last":   append(fields{}.add(metaLabels, entry("", "empty")), long...),
	} {
		meta := append(fields{}.add(metaName, []byte("a")), labels...)
		raw := fields{}.add(objectMetadata, meta)
		o, err := NewObject(Protobuf, raw)
		if err != nil {
			t.Fatal(err)
		}
		checkLabels(t, name, o)
	}
	o, err := NewObject(JSON, []byte(`{"metadata":{"name":"a","labels":{"":"empty","b":"plain"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	checkLabels(t, "JSON", o)
}

// checkLabels compares single labels with those of all the metadata.
func checkLabels(t *testing.T, name string, o *Object) {
	t.Helper()
	meta := o.Meta()
	for _, label := range []string{"", "a", "b", "c", "d"} {
		want, wantOK := meta.Label(label)
		if got, ok := o.Label(label); got != want || ok != wantOK {
			t.Errorf("%s: label %q = %q, %t; want %q, %t", name, label, got, ok, want, wantOK)
		}
	}
}
