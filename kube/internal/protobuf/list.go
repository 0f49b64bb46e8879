package protobuf

import (
	"reflect"
	"slices"
	"unsafe"
)

// The functions below set or add to a slice, whose address is p.

func addBool(p unsafe.Pointer, v uint64)  { add(p, isTrue(v)) }
func addInt32(p unsafe.Pointer, v uint64) { add(p, int32(v)) }
func addInt64(p unsafe.Pointer, v uint64) { add(p, int64(v)) }

func add[T any](p unsafe.Pointer, v T) {
	list := (*[]T)(p)
	*list = append(*list, v)
}

func addStrings(d *decoder, f *field, p unsafe.Pointer, at, stop, end int) int {
	list := slices.Grow(*(*[]string)(p), d.run(f.tag, stop, end))
	for next := stop; at != giveUp; {
		list = append(list, d.text(at, next))
		stop = next
		at, next = d.again(f.tag, stop, end)
	}
	*(*[]string)(p) = list
	return stop
}

// header is what a slice consists of.
type header struct {
	data     unsafe.Pointer
	len, cap int
}

// addMessages takes a whole list at once. It gives up on one that goes on after
// other fields: no encoder writes that.
func addMessages(d *decoder, f *field, p unsafe.Pointer, at, stop, end int) int {
	list := (*header)(p)
	if list.data != nil {
		return giveUp
	}
	n := d.run(f.tag, stop, end)
	elements := f.elements(n)
	*list = header{elements, n, n}
	for i, next := 0, stop; at != giveUp; i++ {
		if !d.nested(f.message, unsafe.Add(elements, i*f.size), at, next) {
			return giveUp
		}
		stop = next
		at, next = d.again(f.tag, stop, end)
	}
	return stop
}

// elements returns n zero elements of the list. One, as many lists have, is made without
// the slice header that MakeSlice allocates besides.
func (f *field) elements(n int) unsafe.Pointer {
	if n == 1 {
		return reflect.New(f.typ.Elem()).UnsafePointer()
	}
	return reflect.MakeSlice(f.typ, n, n).UnsafePointer()
}
