package protobuf

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// random makes objects and damages their bytes.
type random struct{ *rand.Rand }

func newRandom(t *testing.T) random {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	return random{seeded(seed)}
}

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

func (r random) one(n int) bool { return r.IntN(n) == 0 }

func (r random) text() string { return strings.Repeat(string(rune('a'+r.IntN(26))), r.IntN(20)) }

func (r random) number() int64 {
	n := int64(r.Uint64()) >> r.IntN(64)
	if r.one(4) {
		return 0
	}
	return n
}

var quantityTexts = []string{"0", "1", "100m", "64Mi", "1.5Gi", "0.5", "1e3", "12345678901234567890123", "1000", "-3", "1.5e-9", "0.1Ki", "3000n"}

// special fills the types that are not to be filled field by field.
func (r random) special(v reflect.Value) bool {
	switch p := v.Addr().Interface().(type) {
	case *metav1.TypeMeta:
	case *metav1.Time:
		*p = metav1.Unix(r.number()>>20, 0)
	case *metav1.MicroTime:
		*p = metav1.NewMicroTime(time.Unix(r.number()>>20, r.Int64N(1e9)))
	case *resource.Quantity:
		*p = resource.MustParse(quantityTexts[r.IntN(len(quantityTexts))])
	case *metav1.FieldsV1:
		*p = *metav1.NewFieldsV1(r.text())
	case *runtime.RawExtension:
		p.Raw = []byte(r.text())
	default:
		return false
	}
	return true
}

// fill sets v, which can be set, to something random; what lies deeper is sparser.
func (r random) fill(v reflect.Value, depth int) {
	if r.special(v) {
		return
	}
	n := 0
	if depth < 12 && !r.one(2+depth/3) {
		n = 1 + r.IntN(3)
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(r.text())
	case reflect.Bool:
		v.SetBool(r.one(2))
	case reflect.Int32, reflect.Int64:
		v.SetInt(r.number() >> (64 - v.Type().Bits()))
	case reflect.Uint8:
		v.SetUint(r.Uint64() & 0xff)
	case reflect.Struct:
		for i := range v.NumField() {
			r.fill(v.Field(i), depth+1)
		}
	case reflect.Pointer:
		if n > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			r.fill(v.Elem(), depth+1)
		}
	case reflect.Slice:
		if n > 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
		}
		for i := range n {
			r.fill(v.Index(i), depth+1)
		}
	case reflect.Map:
		r.fillMap(v, n, depth)
	default:
		panic("no values are made of " + v.Type().String())
	}
}

func (r random) fillMap(v reflect.Value, n, depth int) {
	if n > 0 {
		v.Set(reflect.MakeMap(v.Type()))
	}
	for range n {
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		r.fill(key, depth+1)
		r.fill(value, depth+1)
		v.SetMapIndex(key, value)
	}
}

// message returns what a new object of type t encodes to.
func (r random) message(t testing.TB, typ reflect.Type) []byte { return encoded(t, r.object(typ)) }

// object returns a pointer to a new object.
func (r random) object(typ reflect.Type) reflect.Value {
	object := reflect.New(typ)
	for i := range typ.NumField() {
		r.fill(object.Elem().Field(i), 0)
	}
	return object
}

func encoded(t testing.TB, object reflect.Value) []byte {
	t.Helper()
	raw, err := object.Interface().(interface{ Marshal() ([]byte, error) }).Marshal()
	if err != nil {
		t.Fatalf("%s: %v", object.Type(), err)
	}
	return raw
}

// touch changes something in v, which is in an object: as the next version would have it.
func (r random) touch(v reflect.Value, depth int) {
	switch kind := v.Kind(); {
	case r.one(6):
	case kind == reflect.Struct && !r.special(v) && v.NumField() > 0:
		r.touch(v.Field(r.IntN(v.NumField())), depth+1)
		return
	case kind == reflect.Pointer && !v.IsNil():
		r.touch(v.Elem(), depth+1)
		return
	case kind == reflect.Slice && v.Len() > 0:
		switch at := r.IntN(v.Len()); r.IntN(4) {
		case 0: // one less
			v.Set(reflect.AppendSlice(v.Slice3(0, at, at), v.Slice(at+1, v.Len())))
		case 1: // one more
			v.Set(reflect.Append(v.Slice3(0, v.Len(), v.Len()), v.Index(at)))
		default:
			r.touch(v.Index(at), depth+1)
		}
		return
	}
	v.SetZero()
	r.fill(v, depth)
}

// rearrange changes the fields of a message, and of those in it, so that it
// mostly stays one: other orders, doubled, lost and unknown fields, messages in parts.
func (r random) rearrange(raw []byte) []byte {
	var fields [][]byte
	for rest := raw; len(rest) > 0; {
		_, _, n := protowire.ConsumeField(rest)
		if n < 0 {
			return raw // no message
		}
		fields = append(fields, r.within(rest[:n:n]))
		rest = rest[n:]
	}
	for range r.IntN(3) {
		fields = r.edit(fields)
	}
	var out []byte
	for _, f := range fields {
		out = append(out, f...)
	}
	return out
}

// within rearranges what is in a field.
func (r random) within(field []byte) []byte {
	num, typ, n := protowire.ConsumeTag(field)
	if typ != protowire.BytesType || r.one(3) {
		return field
	}
	content, _ := protowire.ConsumeBytes(field[n:])
	if len(content) > 0 && r.one(8) { // in two parts, of which the second may be no message
		cut := r.IntN(len(content))
		if _, _, first := protowire.ConsumeField(content); first > 0 {
			cut = first
		}
		out := protowire.AppendBytes(protowire.AppendTag(nil, num, typ), content[:cut])
		return protowire.AppendBytes(protowire.AppendTag(out, num, typ), content[cut:])
	}
	return protowire.AppendBytes(protowire.AppendTag(nil, num, typ), r.rearrange(content))
}

func (r random) edit(fields [][]byte) [][]byte {
	at := r.IntN(len(fields) + 1)
	insert := func(f []byte) [][]byte {
		return append(fields[:at:at], append([][]byte{f}, fields[at:]...)...)
	}
	if len(fields) == 0 || r.one(4) {
		return insert(r.field())
	}
	some := r.IntN(len(fields))
	switch r.IntN(4) {
	case 0:
		r.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
	case 1:
		return insert(fields[some])
	case 2:
		return append(fields[:some:some], fields[some+1:]...)
	case 3: // another field's number, or an overlong one
		_, _, n := protowire.ConsumeTag(fields[some])
		fields[some] = append(protowire.AppendVarint(nil, uint64(r.IntN(100))), fields[some][max(n, 0):]...)
	}
	return fields
}

// field is one that no type has, or a small one that many have.
func (r random) field() []byte {
	num := protowire.Number(1 + r.IntN(12))
	if r.one(2) {
		num += 2000
	}
	switch r.IntN(6) {
	case 0:
		return protowire.AppendFixed32(protowire.AppendTag(nil, num, protowire.Fixed32Type), r.Uint32())
	case 1:
		return protowire.AppendFixed64(protowire.AppendTag(nil, num, protowire.Fixed64Type), r.Uint64())
	case 2:
		return protowire.AppendBytes(protowire.AppendTag(nil, num, protowire.BytesType), []byte(r.text()))
	case 3:
		return protowire.AppendTag(protowire.AppendTag(nil, num, protowire.StartGroupType), num, protowire.EndGroupType)
	case 4: // longer than it need be
		return append(protowire.AppendTag(nil, num, protowire.VarintType), 0x81, 0x80, 0x80, 0)
	}
	return protowire.AppendVarint(protowire.AppendTag(nil, num, protowire.VarintType), uint64(r.number()))
}

// damage changes some bytes, whatever they are.
func (r random) damage(raw []byte) []byte {
	raw = append([]byte(nil), raw...)
	for range 1 + r.IntN(3) {
		if len(raw) == 0 {
			return raw
		}
		at := r.IntN(len(raw))
		switch r.IntN(4) {
		case 0:
			raw[at] ^= 1 << r.IntN(8)
		case 1:
			raw[at] = byte(r.Uint32())
		case 2:
			raw = raw[:at]
		case 3:
			raw = append(raw[:at], raw[min(len(raw), at+1+r.IntN(4)):]...)
		}
	}
	return raw
}
