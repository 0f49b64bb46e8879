package protobuf

import (
	"reflect"
	"slices"
	"unsafe"
)

// The functions below add to a slice, whose address is p.

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

func addMessages(d *decoder, f *field, p unsafe.Pointer, at, stop, end int) int {
	list := reflect.NewAt(f.typ, p).Elem()
	i, n := list.Len(), d.run(f.tag, stop, end)
	list.Grow(n)
	list.SetLen(i + n)
	elements, size := list.UnsafePointer(), int(f.typ.Elem().Size())
	for next := stop; at != giveUp; i++ {
		if !d.nested(f.message, unsafe.Add(elements, i*size), at, next) {
			return giveUp
		}
		stop = next
		at, next = d.again(f.tag, stop, end)
	}
	return stop
}
