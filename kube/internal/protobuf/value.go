package protobuf

import (
	"reflect"
	"unsafe"
)

// The functions below set a field, whose address is p, to one value. The last
// value counts, except that messages are merged. Types named otherwise have the
// same layout: a Protocol is a string.

func setStringPointer(d *decoder, _ *field, p unsafe.Pointer, at, stop, _ int) int {
	*(**string)(p) = new(d.text(at, stop))
	return stop
}

// setBytes sets what is not nil even when it is empty.
func setBytes(d *decoder, _ *field, p unsafe.Pointer, at, stop, _ int) int {
	*(*[]byte)(p) = d.bytes(at, stop)
	return stop
}

// bytes returns a copy of data[at:stop], never nil.
func (d *decoder) bytes(at, stop int) []byte {
	return append(make([]byte, 0, stop-at), d.data[at:stop]...)
}

// isTrue reads a bool as the generated code does, which keeps it in an int.
func isTrue(v uint64) bool { return int(v) != 0 }

func setBool(p unsafe.Pointer, v uint64)  { *(*bool)(p) = isTrue(v) }
func setInt32(p unsafe.Pointer, v uint64) { *(*int32)(p) = int32(v) }
func setInt64(p unsafe.Pointer, v uint64) { *(*int64)(p) = int64(v) }

func setBoolPointer(p unsafe.Pointer, v uint64)  { *(**bool)(p) = new(isTrue(v)) }
func setInt32Pointer(p unsafe.Pointer, v uint64) { *(**int32)(p) = new(int32(v)) }
func setInt64Pointer(p unsafe.Pointer, v uint64) { *(**int64)(p) = new(int64(v)) }

func setMessage(d *decoder, f *field, p unsafe.Pointer, at, stop, _ int) int {
	if !d.nested(f.message, p, at, stop) {
		return giveUp
	}
	return stop
}

func setMessagePointer(d *decoder, f *field, p unsafe.Pointer, at, stop, end int) int {
	target := (*unsafe.Pointer)(p)
	if *target == nil {
		*target = reflect.New(f.typ).UnsafePointer()
	}
	return setMessage(d, f, *target, at, stop, end)
}
