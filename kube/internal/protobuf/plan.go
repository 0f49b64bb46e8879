package protobuf

import (
	"math"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// message is the plan of a struct type. It does not change once it is built.
type message struct {
	typ    reflect.Type
	fields []field // by number; without a tag is one that the type does not have
	// whole decodes a type that has no plan of fields, data[at:stop] being the
	// content, and reports whether it did.
	whole func(d *decoder, p unsafe.Pointer, at, stop int) bool
}

// field is the plan of a field. One of number and bytes is set, except of a string.
type field struct {
	tag    uint64 // as it has to be before the value
	offset uintptr
	// number takes the value of a varint, the field's address being p.
	number func(p unsafe.Pointer, v uint64)
	// bytes takes data[at:stop] and, of a list or map, those that follow up to end
	// at the most. It returns where it stopped, or giveUp.
	bytes func(d *decoder, f *field, p unsafe.Pointer, at, stop, end int) int

	typ     reflect.Type // of a list or map; of the target of a pointer
	size    int          // of an element of a list
	message *message     // of a message, and of the elements of a list or map
	like    likeness
}

// noTag is the tag of field 0, which no message has.
const noTag = math.MaxUint64

// maxNumber bounds the table of a message. The highest number in use is below 100.
const maxNumber = 1000

// unmarshaler is what generated API types have.
type unmarshaler interface{ Unmarshal([]byte) error }

// planner makes the plan of each type once. It is safe for concurrent use.
type planner struct {
	known sync.Map // the *message, maybe nil, by the reflect.Type that was asked for

	mu    sync.Mutex
	built map[reflect.Type]*message // and those that they lead to
}

func newPlanner() *planner {
	return &planner{built: map[reflect.Type]*message{
		reflect.TypeFor[metav1.Time]():       {typ: reflect.TypeFor[metav1.Time](), whole: setTime},
		reflect.TypeFor[metav1.MicroTime]():  {typ: reflect.TypeFor[metav1.MicroTime](), whole: setMicroTime},
		reflect.TypeFor[resource.Quantity](): {typ: reflect.TypeFor[resource.Quantity](), whole: setQuantity},
	}}
}

// planned is all there is of plans: types do not change.
var planned = newPlanner()

// planOf returns the plan of t, and nil where it is not one of the API's generated
// structs.
func (b *planner) planOf(t reflect.Type) *message {
	if known, ok := b.known.Load(t); ok {
		return known.(*message)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	m := b.message(t)
	b.known.Store(t, m)
	return m
}

// message returns the plan of t with all that it leads to, nil where there is none.
func (b *planner) message(t reflect.Type) *message {
	if m, ok := b.built[t]; ok {
		return m // or will be: types may contain themselves
	}
	if !generated(t) {
		return nil
	}
	m := &message{typ: t}
	b.built[t] = m
	if m.fields = b.fields(t); m.fields == nil {
		m.whole = ownUnmarshal(t)
	}
	return m
}

// generated tells whether t is a struct of the API whose Unmarshal is (as far as
// can be seen) made from its tags.
func generated(t reflect.Type) bool {
	path := t.PkgPath()
	return t.Kind() == reflect.Struct &&
		(strings.HasPrefix(path, "k8s.io/api/") || strings.HasPrefix(path, "k8s.io/apimachinery/")) &&
		reflect.PointerTo(t).Implements(reflect.TypeFor[unmarshaler]())
}

// fields returns the plans of t's fields, and nil when one of them is nothing
// that is known here.
func (b *planner) fields(t reflect.Type) []field {
	fields := []field{{tag: noTag}}
	for i := range t.NumField() {
		sf := t.Field(i)
		number, tagged := numberOf(sf.Tag)
		if !tagged && sf.Type == reflect.TypeFor[metav1.TypeMeta]() {
			continue // not a part of the message
		}
		f := b.field(sf.Type)
		if !tagged || f == nil {
			return nil
		}
		f.offset, f.tag = sf.Offset, uint64(number)<<3|bytesType
		if f.number != nil {
			f.tag = uint64(number)<<3 | varintType
		}
		for len(fields) <= number {
			fields = append(fields, field{})
		}
		fields[number] = *f
	}
	return fields
}

// numberOf reads the field number out of `protobuf:"bytes,1,opt,name=metadata"`.
// The tags say nothing else that can be relied on.
func numberOf(tag reflect.StructTag) (number int, ok bool) {
	parts := strings.Split(tag.Get("protobuf"), ",")
	if len(parts) < 2 {
		return 0, false
	}
	number, err := strconv.Atoi(parts[1])
	return number, err == nil && number > 0 && number <= maxNumber
}

// field returns the plan of a field of type t, nil for a type that is not known here.
func (b *planner) field(t reflect.Type) *field {
	switch t.Kind() {
	case reflect.Struct:
		return b.ofMessage(t, setMessage, likeMessage)
	case reflect.Pointer:
		return b.pointer(t.Elem())
	case reflect.Slice:
		return b.list(t)
	case reflect.Map:
		return b.mapping(t)
	}
	return plain(t)
}

// plain is field for types that are not made of others.
func plain(t reflect.Type) *field {
	switch t.Kind() {
	case reflect.String:
		return &field{}
	case reflect.Bool:
		return &field{number: setBool}
	case reflect.Int32:
		return &field{number: setInt32}
	case reflect.Int64:
		return &field{number: setInt64}
	}
	return nil
}

// pointer is field for pointers to elem.
func (b *planner) pointer(elem reflect.Type) *field {
	switch elem.Kind() {
	case reflect.String:
		return &field{bytes: setStringPointer}
	case reflect.Bool:
		return &field{number: setBoolPointer}
	case reflect.Int32:
		return &field{number: setInt32Pointer}
	case reflect.Int64:
		return &field{number: setInt64Pointer}
	case reflect.Struct:
		f := b.ofMessage(elem, setMessagePointer, likePointer)
		if f != nil {
			f.typ = elem
		}
		return f
	}
	return nil
}

// list is field for slices.
func (b *planner) list(t reflect.Type) *field {
	if reflect.PointerTo(t).Implements(reflect.TypeFor[unmarshaler]()) {
		return nil // a message in the form of a list
	}
	switch t.Elem().Kind() {
	case reflect.Uint8:
		return &field{bytes: setBytes}
	case reflect.String:
		return &field{bytes: addStrings, like: likeStrings}
	case reflect.Bool:
		return &field{number: addBool}
	case reflect.Int32:
		return &field{number: addInt32}
	case reflect.Int64:
		return &field{number: addInt64}
	case reflect.Struct:
		f := b.ofMessage(t.Elem(), addMessages, likeList)
		if f != nil {
			f.typ, f.size = t, int(t.Elem().Size())
		}
		return f
	}
	return nil
}

// mapping is field for maps.
func (b *planner) mapping(t reflect.Type) *field {
	switch {
	case t.ConvertibleTo(reflect.TypeFor[map[string]string]()):
		return &field{bytes: putStrings[string, string], like: likeMap}
	case t.ConvertibleTo(reflect.TypeFor[resizeStates]()):
		return &field{bytes: putStrings[corev1.ResourceName, corev1.ClaimResourceStatus], like: likeMap}
	case t.ConvertibleTo(reflect.TypeFor[map[string][]byte]()):
		return &field{bytes: putBytes, like: likeMap}
	case t.ConvertibleTo(reflect.TypeFor[resources]()):
		return &field{bytes: putQuantities, like: likeMap}
	case t.Key().Kind() == reflect.String && t.Elem().Kind() == reflect.Struct:
		f := b.ofMessage(t.Elem(), putMessages, likeMap)
		if f != nil {
			f.typ = t
		}
		return f
	}
	return nil
}

// ofMessage is the field of a message or of several, which set sets.
func (b *planner) ofMessage(t reflect.Type, set func(d *decoder, f *field, p unsafe.Pointer, at, stop, end int) int, like likeness) *field {
	m := b.message(t)
	if m == nil {
		return nil
	}
	return &field{bytes: set, message: m, like: like}
}

// ownUnmarshal decodes by the Unmarshal of t itself.
func ownUnmarshal(t reflect.Type) func(d *decoder, p unsafe.Pointer, at, stop int) bool {
	return func(d *decoder, p unsafe.Pointer, at, stop int) bool {
		content := unsafe.Slice(unsafe.StringData(d.data), len(d.data))[at:stop:stop]
		return reflect.NewAt(t, p).Interface().(unmarshaler).Unmarshal(content) == nil
	}
}
