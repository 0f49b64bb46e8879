package protobuf

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
)

// kinds returns the struct types of client-go's scheme that can be in protobuf, in
// order.
func kinds() []reflect.Type {
	var types []reflect.Type
	for _, t := range scheme.Scheme.AllKnownTypes() {
		if reflect.PointerTo(t).Implements(reflect.TypeFor[unmarshaler]()) {
			types = append(types, t)
		}
	}
	name := func(t reflect.Type) string { return t.PkgPath() + "." + t.Name() }
	slices.SortFunc(types, func(a, b reflect.Type) int { return strings.Compare(name(a), name(b)) })
	return slices.Compact(types)
}

// scribble changes all the bytes that v leads to and are not a string's.
func scribble(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			scribble(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			scribble(v.Field(i))
		}
	case reflect.Slice:
		for i := range v.Len() {
			if v.Type().Elem().Kind() == reflect.Uint8 && v.CanSet() {
				v.Index(i).SetUint(^v.Index(i).Uint() & 0xff)
			}
			scribble(v.Index(i))
		}
	case reflect.Map:
		for _, value := range v.Seq2() {
			for i := 0; value.Kind() == reflect.Slice && value.Type().Elem().Kind() == reflect.Uint8 && i < value.Len(); i++ {
				value.Index(i).SetUint(^value.Index(i).Uint() & 0xff)
			}
		}
	}
}

// compare decodes raw by the generated code and by Decode, to which the first
// stable bytes never change, and tells whether Decode did it.
func compare(t *testing.T, typ reflect.Type, raw []byte, stable int) bool {
	t.Helper()
	want, got := reflect.New(typ), reflect.New(typ)
	err := want.Interface().(unmarshaler).Unmarshal(raw)
	kept, data := string(raw[:stable]), slices.Clone(raw)
	done := Decode(unsafe.String(unsafe.SliceData(data), len(data)), kept, got.Interface())
	for i := range data { // they are somebody else's now
		data[i] ^= 0xff
	}
	switch {
	case !done:
		if !got.Elem().IsZero() {
			t.Errorf("%s of %x: given up, and the result is not zero", typ, raw)
		}
		return false
	case err != nil:
		t.Errorf("%s of %x: decoded; the generated code says %v", typ, raw, err)
	case !reflect.DeepEqual(got.Interface(), want.Interface()):
		t.Errorf("%s of %x: decoded to\n%+v; the generated code to\n%+v", typ, raw, got, want)
	}
	scribble(got)
	if kept != string(raw[:stable]) {
		t.Errorf("%s of %x: the result shares bytes that can be changed", typ, raw)
	}
	return true
}

func TestEveryKindIsDecodedAsTheGeneratedCodeDoes(t *testing.T) {
	r := newRandom(t)
	for _, typ := range kinds() {
		for range 20 {
			raw := r.message(t, typ)
			if !compare(t, typ, raw, r.IntN(len(raw)+1)) {
				t.Errorf("%s: given up on %x", typ, raw)
			}
		}
		if t.Failed() {
			return
		}
	}
}

func TestUnusualMessagesAreDecodedAsTheGeneratedCodeDoesOrNotAtAll(t *testing.T) {
	r := newRandom(t)
	done, all := 0, 0
	for _, typ := range kinds() {
		for range 20 {
			raw := r.rearrange(r.message(t, typ))
			if r.one(3) {
				raw = r.damage(raw)
			}
			all++
			if compare(t, typ, raw, r.IntN(len(raw)+1)) {
				done++
			}
		}
		if t.Failed() {
			return
		}
	}
	someOfEach(t, done, all)
}

// someOfEach checks that unusual messages are neither all decoded nor all given up.
func someOfEach(t *testing.T, done, all int) {
	t.Helper()
	t.Logf("%d of %d decoded", done, all)
	if done < all/10 || done > all*9/10 {
		t.Errorf("%d of %d decoded; want some of each", done, all)
	}
}

// TestEachWayToGiveUp goes through messages that are for the generated code, and
// some like them that are not.
func TestEachWayToGiveUp(t *testing.T) {
	field := func(num protowire.Number, content ...byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, num, protowire.BytesType), content)
	}
	pod, secret := reflect.TypeFor[corev1.Pod](), reflect.TypeFor[corev1.Secret]()
	for _, tc := range []struct {
		name string
		typ  reflect.Type
		raw  []byte
		want bool
	}{
		{"nothing", pod, nil, true},
		{"an unknown number and text", pod, []byte{0xc0, 0x3e, 0x96, 1, 0xc2, 0x3e, 1, 'x', 0x78, 1, 0x7a, 1, 'x'}, true},
		{"eight unknown bytes", pod, []byte{0xc1, 0x3e, 1, 2, 3, 4, 5, 6, 7, 8}, false},
		{"four unknown bytes", pod, []byte{0x7d, 1, 2, 3, 4}, false},
		{"an unknown group", pod, []byte{0xc3, 0x3e, 0xc4, 0x3e}, false},
		{"the end of a group", pod, []byte{0xc4, 0x3e}, false},
		{"field 0", pod, []byte{2, 0}, false},
		{"a number of field 0", pod, []byte{0, 0}, false},
		{"a field number of 33 bits", pod, []byte{0x8a, 0x80, 0x80, 0x80, 0x80, 0x02, 0}, false},
		{"a length of one too many", pod, []byte{0x0a, 1}, false},
		{"an unknown length of one too many", pod, []byte{0xc2, 0x3e, 1}, false},
		{"four bytes for eight", pod, []byte{0xc1, 0x3e, 1, 2, 3, 4}, false},
		{"a length of 64 bits", pod, []byte{0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}, false},
		{"a varint of eleven bytes", pod, []byte{0x0a, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0}, false},
		{"a varint of ten bytes", pod, []byte{0x0a, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00}, true},
		{"a number for a message", pod, []byte{0x08, 1}, false},
		{"a message for a number", pod, field(2, 0x22, 0), false}, // spec.terminationGracePeriodSeconds
		{"eight bytes for a message", pod, []byte{0x09, 1, 2, 3, 4, 5, 6, 7, 8}, false},
		{"metadata in two parts", pod, append(field(1, field(1, 'a')...), field(1, field(3, 'b')...)...), true},
		{"a list in two parts", pod, append(field(2, field(2, field(1, 'a')...)...), field(2, field(2, field(1, 'b')...)...)...), false},
		{"a list of texts in two parts", pod, append(field(1, field(14, 'a')...), field(1, field(14, 'b')...)...), true},
		{"a label with neither key nor value", pod, field(1, field(11)...), true},
		{"a label twice", pod, field(1, append(field(11, append(field(1, 'k'), field(2, 'a')...)...), field(11, append(field(2, 'b'), field(1, 'k')...)...)...)...), true},
		{"a label with more than a key and a value", pod, field(1, field(11, field(3)...)...), false},
		{"a label whose value is a number", pod, field(1, field(11, 0x10, 1)...), false},
		{"a secret of nothing", secret, field(2, field(1, 'k')...), true},
		{"a secret of no bytes", secret, field(2, append(field(1, 'k'), field(2)...)...), true},
		{"a time of fractions", pod, field(1, field(8, 0x08, 7, 0x10, 9)...), true},
		{"no time", pod, field(1, field(8)...), true},
		{"a newer time", pod, field(1, field(8, 0x18, 1)...), false},
		{"a time without a number", pod, field(1, field(8, 0x08)...), false},
		{"a quantity that is none", reflect.TypeFor[corev1.Node](), field(3, field(1, field(2, field(1, 'x')...)...)...), false},
		{"a quantity that is none before one", reflect.TypeFor[corev1.Node](), field(3, field(1, slices.Concat(field(2, field(1, 'x')...), field(2, field(1, '1')...))...)...), false},
		{"a label's key twice", pod, field(1, field(11, slices.Concat(field(1, 'k'), field(1, 'l'), field(2, 'v'))...)...), true},
	} {
		if got := compare(t, tc.typ, tc.raw, len(tc.raw)); got != tc.want {
			t.Errorf("%s: decoded: %v; want %v", tc.name, got, tc.want)
		}
	}
}

// TestMessagesThatLieTooDeepAreNotDecoded: no type of the scheme holds itself, but
// a later one may.
func TestMessagesThatLieTooDeepAreNotDecoded(t *testing.T) {
	type doll struct{ In *doll }
	plan := new(message)
	plan.fields = []field{{tag: noTag}, {tag: 1<<3 | bytesType, bytes: setMessagePointer, typ: reflect.TypeFor[doll](), message: plan, like: likePointer}}
	for depth := range 2 * maxDepth {
		var raw []byte
		for range depth {
			raw = protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), raw)
		}
		d, outer := &decoder{data: string(raw)}, new(doll)
		if got := d.message(plan, unsafe.Pointer(outer), 0, len(raw)); got != (depth <= maxDepth) {
			t.Fatalf("depth %d: decoded: %v; want %v", depth, got, !got)
		}
		s := &sharer{decoder: decoder{data: string(raw)}, strict: true}
		if got := s.message(plan, unsafe.Pointer(new(doll)), 0, len(raw), part{}); got != (depth <= maxDepth) {
			t.Fatalf("depth %d as a model: decoded: %v; want %v", depth, got, !got)
		}
	}
}

func TestOnlyTypesOfTheAPIAreDecoded(t *testing.T) {
	type mine struct{ corev1.Pod } // its Unmarshal is the Pod's
	for _, into := range []any{nil, 1, corev1.Pod{}, new(mine), new(string), new(metav1.Time), new(resource.Quantity)} {
		if Knows(into) {
			t.Errorf("there is a plan for %T", into)
		}
	}
	if !Knows(new(corev1.Pod)) || !Knows(new(metav1.PartialObjectMetadata)) {
		t.Error("there is no plan for a Pod or its metadata")
	}
	if Decode("", "", new(mine)) {
		t.Error("a type of one's own was decoded")
	}
}

// TestEveryTypeOfTheSchemeHasAPlan: those that go on with their own Unmarshal
// are few and known.
func TestEveryTypeOfTheSchemeHasAPlan(t *testing.T) {
	want := []string{
		"authentication/v1.TokenRequestSpec", "authentication/v1.UserInfo", "authentication/v1beta1.UserInfo",
		"authorization/v1.SubjectAccessReviewSpec", "authorization/v1beta1.SubjectAccessReviewSpec",
		"certificates/v1.CertificateSigningRequestSpec", "certificates/v1beta1.CertificateSigningRequestSpec",
		"meta/v1.APIResource", "pkg/runtime.RawExtension",
	}
	p := newPlanner()
	for _, typ := range kinds() {
		if p.planOf(typ) == nil {
			t.Errorf("%s has no plan", typ)
		}
	}
	given := newPlanner().built
	var got []string
	for typ, m := range p.built {
		if m.whole != nil && given[typ] == nil {
			path := strings.Split(typ.PkgPath(), "/")
			got = append(got, strings.Join(path[len(path)-2:], "/")+"."+typ.Name())
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("types with their own Unmarshal (-got +want):\n%s", diff)
	}
	if len(p.built) < 1000 {
		t.Errorf("only %d types were seen", len(p.built))
	}
}

func TestPlansAreMadeBySeveralAtOnce(t *testing.T) {
	p := newPlanner()
	var asking sync.WaitGroup
	for i := range 8 {
		asking.Go(func() {
			types := kinds()
			for j := range types {
				if m := p.planOf(types[(j*(i+1))%len(types)]); m == nil || m.fields == nil && m.whole == nil {
					t.Errorf("%s: an incomplete plan", types[j])
				}
			}
		})
	}
	asking.Wait()
}

func TestQuantitiesOfTwoResultsAreIndependent(t *testing.T) {
	const many = "12345678901234567890123" // kept as a pointer
	for _, text := range append(quantityTexts, many) {
		list := &corev1.LimitRangeItem{Max: corev1.ResourceList{"cpu": resource.MustParse(text)}}
		raw, err := list.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			want, got := new(corev1.LimitRangeItem), new(corev1.LimitRangeItem)
			if err := want.Unmarshal(raw); err != nil || !Decode(string(raw), string(raw), got) {
				t.Fatalf("%s: %v", text, err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s: decoded to %#v; want %#v", text, got, want)
			}
			q := got.Max["cpu"]
			q.Add(resource.MustParse("7"))
			q.AsDec().Neg(q.AsDec())
		}
	}
}

// TestStringsAreNotCopied: what is allocated is structs, lists and maps.
func TestStringsAreNotCopied(t *testing.T) {
	pod := &corev1.Pod{}
	pod.Name, pod.Labels = "a", map[string]string{}
	for i := range 30 {
		pod.Labels[fmt.Sprint("label-", i)] = "value"
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: "c", Image: "image", Args: []string{"a", "b"}})
	}
	raw, err := pod.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	data := string(raw)
	var got *corev1.Pod
	allocs := testing.AllocsPerRun(100, func() {
		got = new(corev1.Pod)
		if !Decode(data, data, got) {
			t.Fatal("given up")
		}
	})
	// The pod, the decoder, the containers (in two), the arguments of 30, the labels: at most
	// six for the parts of a map.
	if allocs > 40 {
		t.Errorf("%v allocations; want at most 40", allocs)
	}
	if unsafe.StringData(got.Name) != unsafe.StringData(data[strings.Index(data, "a"):]) {
		t.Error("the name was copied")
	}
}

// TestAMapIsNotMadeLargerThanItsEntriesCanBe: what a message of nothing but empty
// entries takes is bounded, and honest ones find room at once.
func TestAMapIsNotMadeLargerThanItsEntriesCanBe(t *testing.T) {
	const n = 1000
	tag := uint64(11<<3 | bytesType) // the labels of metadata
	for _, tc := range []struct {
		entry string
		want  int
	}{
		{"", 1 + (n*2-2)/smallEntry},
		{"\x0a\x02ab\x12\x00", n},
	} {
		var raw []byte
		for range n {
			raw = protowire.AppendString(protowire.AppendVarint(raw, tag), tc.entry)
		}
		d := &decoder{data: string(raw)}
		if got := d.room(tag, 2, 2+len(tc.entry), len(raw)); got != tc.want {
			t.Errorf("room for %d entries %q: %d; want %d", n, tc.entry, got, tc.want)
		}
		if !compare(t, reflect.TypeFor[metav1.ObjectMeta](), raw, len(raw)) {
			t.Errorf("%d entries %q: given up", n, tc.entry)
		}
	}
}

// fuzzedTypes have between them all that a plan can be made of.
func fuzzedTypes() []reflect.Type {
	return []reflect.Type{
		reflect.TypeFor[corev1.Pod](), reflect.TypeFor[corev1.Node](), reflect.TypeFor[corev1.Secret](), reflect.TypeFor[corev1.Event](),
		reflect.TypeFor[appsv1.Deployment](), reflect.TypeFor[appsv1.ControllerRevision](),
		reflect.TypeFor[coordinationv1.Lease](), reflect.TypeFor[resourcev1.ResourceSlice](),
		reflect.TypeFor[metav1.PartialObjectMetadata](),
	}
}

func FuzzDecodeIsTheGeneratedUnmarshalOrNothing(f *testing.F) {
	types := fuzzedTypes()
	r := random{Rand: seeded(1)}
	for i, typ := range types {
		raw := r.message(f, typ)
		f.Add(raw, uint8(i), uint16(len(raw)/2))
	}
	f.Fuzz(func(t *testing.T, raw []byte, kind uint8, stable uint16) {
		compare(t, types[int(kind)%len(types)], raw, min(len(raw), int(stable)))
	})
}
