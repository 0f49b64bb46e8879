package protobuf

import (
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// generatedOf returns what the generated code makes of raw, nil for an error.
func generatedOf(typ reflect.Type, raw []byte) any {
	want := reflect.New(typ)
	if want.Interface().(unmarshaler).Unmarshal(slices.Clone(raw)) != nil {
		return nil
	}
	return want.Interface()
}

// model makes a model and compares it with the generated code; nil where it gives up.
func model(t *testing.T, typ reflect.Type, raw []byte, like *Model) *Model {
	t.Helper()
	into := reflect.New(typ)
	m := NewModel(string(raw), into.Interface(), like)
	switch want := generatedOf(typ, raw); {
	case m == nil && !into.Elem().IsZero():
		t.Errorf("%s of %x: given up, and the result is not zero", typ, raw)
	case m != nil && !reflect.DeepEqual(into.Interface(), want):
		t.Errorf("%s of %x as a model: decoded to\n%+v; the generated code to\n%+v", typ, raw, into, want)
	}
	return m
}

// intact tells whether a model, made of raw, is what it was.
func (m *Model) intact(typ reflect.Type, raw []byte) bool {
	return m == nil || reflect.DeepEqual(reflect.NewAt(typ, m.value).Interface(), generatedOf(typ, raw))
}

func (m *Model) bytes() string {
	if m == nil {
		return ""
	}
	return m.data
}

// compareLike decodes raw beside a model, whose first bytes never change, and tells whether
// that was done.
func compareLike(t *testing.T, typ reflect.Type, raw []byte, stable int, like *Model) bool {
	t.Helper()
	got, data := reflect.New(typ), slices.Clone(raw)
	shared, known, done := DecodeLike(unsafe.String(unsafe.SliceData(data), len(data)), string(raw[:stable]), got.Interface(), like)
	for i := range data { // they are somebody else's now
		data[i] ^= 0xff
	}
	switch want := generatedOf(typ, raw); {
	case !done:
		if !got.Elem().IsZero() || shared != 0 {
			t.Errorf("%s of %x: given up, and the result is not zero", typ, raw)
		}
	case !reflect.DeepEqual(got.Interface(), want):
		t.Errorf("%s of %x like %x: decoded to\n%+v; the generated code to\n%+v", typ, raw, like.bytes(), got, want)
	case shared < 0 || shared > known || known > len(raw):
		t.Errorf("%d of %d bytes are shared, of %d in all", shared, known, len(raw))
	}
	return done
}

func TestWhatIsLikeAModelIsDecodedAsTheGeneratedCodeDoes(t *testing.T) {
	r := newRandom(t)
	shared := 0
	for _, typ := range kinds() {
		for range 3 {
			object := r.object(typ)
			first := encoded(t, object)
			m := model(t, typ, first, nil)
			for range 3 {
				if typ.NumField() > 0 {
					r.touch(object.Elem().Field(r.IntN(typ.NumField())), 0)
				}
				raw := encoded(t, object)
				next := model(t, typ, raw, m) // a model like a model
				if m == nil || next == nil || !compareLike(t, typ, raw, r.IntN(len(raw)+1), m) || !compareLike(t, typ, raw, len(raw), next) {
					t.Fatalf("%s: given up on %x like %x", typ, raw, first)
				}
				n, _, _ := DecodeLike(string(raw), string(raw), reflect.New(typ).Interface(), m)
				shared += n
				if !m.intact(typ, first) || !next.intact(typ, raw) {
					t.Fatalf("%s: a model was changed", typ)
				}
			}
		}
	}
	if shared == 0 {
		t.Error("nothing was shared")
	}
}

func TestUnusualMessagesLikeUnusualModels(t *testing.T) {
	r := newRandom(t)
	done, all := 0, 0
	for _, typ := range kinds() {
		for range 8 {
			object := r.object(typ)
			first := encoded(t, object)
			if typ.NumField() > 0 {
				r.touch(object.Elem().Field(r.IntN(typ.NumField())), 0)
			}
			raw := encoded(t, object)
			if r.one(2) {
				first = r.rearrange(first)
			}
			if r.one(2) {
				raw = r.rearrange(raw)
			}
			if r.one(4) {
				raw = r.damage(raw)
			}
			m := model(t, typ, first, nil)
			all++
			if compareLike(t, typ, raw, r.IntN(len(raw)+1), m) {
				done++
			}
			if !m.intact(typ, first) {
				t.Fatalf("%s: the model was changed", typ)
			}
		}
		if t.Failed() {
			return
		}
	}
	someOfEach(t, done, all)
}

// TestAMessageInPartsIsNoModel: equal bytes would not be equal results.
func TestAMessageInPartsIsNoModel(t *testing.T) {
	typ := reflect.TypeFor[corev1.Pod]()
	field := func(num protowire.Number, content ...byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, num, protowire.BytesType), content)
	}
	join := func(parts ...[]byte) []byte { return slices.Concat(parts...) }
	name := field(1, 'a')
	for _, tc := range []struct {
		name string
		raw  []byte
		want bool
	}{
		{"in order", join(field(1, name...), field(3, field(1, 'R')...)), true},
		{"nothing", nil, true},
		{"out of order", join(field(3, field(1, 'R')...), field(1, name...)), false},
		{"metadata in two parts", join(field(1, name...), field(1, field(3, 'b')...)), false},
		{"the name twice", field(1, join(name, name)...), true}, // the last one counts, in the same message
		{"metadata out of order", field(1, join(field(3, 'b'), name)...), false},
		{"labels in two parts", field(1, join(field(11, name...), field(12, name...), field(11, name...))...), false},
		{"groups of numbers", field(2, field(14, 0x20, 1, 0x20, 2)...), true}, // spec.securityContext.supplementalGroups
		{"an unknown field at last", join(field(1, name...), []byte{0xc0, 0x3e, 1}), true},
	} {
		if got := model(t, typ, tc.raw, nil) != nil; got != tc.want {
			t.Errorf("%s: a model: %v; want %v", tc.name, got, tc.want)
		}
	}
}

// TestAListIsSharedAsAWholeAlone: one that begins like the model's is another one.
func TestAListIsSharedAsAWholeAlone(t *testing.T) {
	typ := reflect.TypeFor[corev1.Pod]()
	pods := func(args ...string) []byte {
		p := &corev1.Pod{}
		p.Spec.NodeName = strings.Join(args, "")
		p.Finalizers = args
		for _, a := range args {
			p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: a, Args: args})
			p.Labels = map[string]string{a: a}
		}
		return encoded(t, reflect.ValueOf(p))
	}
	all := [][]byte{pods(), pods("a"), pods("a", "b"), pods("a", "b", "c"), pods("b", "c"), pods("c", "a", "b")}
	for _, first := range all {
		m := model(t, typ, first, nil)
		for _, raw := range all {
			if !compareLike(t, typ, raw, len(raw), m) {
				t.Errorf("given up on %x like %x", raw, first)
			}
		}
	}
}

// TestAnUpdateCostsWhatItChanges: the rest is the version before.
func TestAnUpdateCostsWhatItChanges(t *testing.T) {
	before := pod()
	raw := encoded(t, reflect.ValueOf(before))
	first, second := new(corev1.Pod), new(corev1.Pod)
	m := NewModel(string(raw), first, nil)
	before.ResourceVersion, before.Status.Phase = "1234568", corev1.PodFailed
	data := string(encoded(t, reflect.ValueOf(before)))
	shared, known, ok := DecodeLike(data, data, second, m)
	if !ok || second.Status.Phase != corev1.PodFailed || second.ResourceVersion != "1234568" {
		t.Fatalf("decoded to %+v", second)
	}
	if shared < len(data)*9/10 || known != len(data) {
		t.Errorf("%d of %d bytes are shared, of %d in all", shared, known, len(data))
	}
	if &first.Spec.Containers[0] != &second.Spec.Containers[0] || &first.Status.Conditions[0] != &second.Status.Conditions[0] {
		t.Error("what did not change was decoded again")
	}
	allocs := testing.AllocsPerRun(100, func() {
		if _, _, ok := DecodeLike(data, data, new(corev1.Pod), m); !ok {
			t.Fatal("given up")
		}
	})
	if allocs > 2 { // the pod and the decoder
		t.Errorf("%v allocations; want 2", allocs)
	}
}

func TestAModelOfAnotherTypeIsNotUsed(t *testing.T) {
	raw := string(encoded(t, reflect.ValueOf(pod())))
	m := NewModel(raw, new(corev1.Pod), nil)
	got := new(metav1.PartialObjectMetadata)
	if shared, known, ok := DecodeLike(raw, raw, got, m); !ok || shared != 0 || known >= len(raw) || got.Name != pod().Name {
		t.Errorf("%d of %d bytes shared, %v: %+v", shared, known, ok, got)
	}
	if NewModel(raw, new(metav1.Time), nil) != nil {
		t.Error("a type without a plan is a model")
	}
}

func TestSeveralDecodeLikeOneModel(t *testing.T) {
	p := pod()
	m := NewModel(string(encoded(t, reflect.ValueOf(p))), new(corev1.Pod), nil)
	p.Status.Message = "changed"
	raw := encoded(t, reflect.ValueOf(p))
	var decoding sync.WaitGroup
	for range 8 {
		decoding.Go(func() {
			for range 100 {
				compareLike(t, reflect.TypeFor[corev1.Pod](), raw, len(raw), m)
			}
		})
	}
	decoding.Wait()
}

func FuzzWhatIsLikeAModelIsTheGeneratedUnmarshalOrNothing(f *testing.F) {
	types := fuzzedTypes()
	r := random{Rand: seeded(2)}
	for i, typ := range types {
		object := r.object(typ)
		first := encoded(f, object)
		r.touch(object.Elem().Field(r.IntN(typ.NumField())), 0)
		f.Add(first, encoded(f, object), uint8(i))
	}
	f.Fuzz(func(t *testing.T, first, raw []byte, kind uint8) {
		typ := types[int(kind)%len(types)]
		m := model(t, typ, first, nil)
		compareLike(t, typ, raw, len(raw)/2, m)
		model(t, typ, raw, m)
		if !m.intact(typ, first) {
			t.Errorf("%s: the model of %x was changed", typ, first)
		}
	})
}
