package protobuf

import (
	"math"
	"reflect"
	"strings"
	"unsafe"
)

// Knows tells whether Decode has a plan for what into points to. Where it has
// none it always returns false.
func Knows(into any) bool {
	t := reflect.TypeOf(into)
	if t == nil || t.Kind() != reflect.Pointer {
		return false
	}
	m := planned.planOf(t.Elem())
	return m != nil && m.whole == nil
}

// Decode decodes the message data into into, a non-nil pointer to the zero value
// of a generated API type, and reports whether it did. If not, into is the zero value
// again, and its own Unmarshal has to be asked.
//
// stable is a copy of the beginning of data, or of all of it, that never changes.
// Strings of the result are parts of it, and keep it in memory; what lies behind it is
// copied. data itself is not needed any more once Decode has returned. Nothing
// that can be changed is shared with either.
func Decode(data, stable string, into any) bool {
	target := reflect.ValueOf(into)
	m := planned.planOf(target.Type().Elem())
	if m == nil || m.whole != nil {
		return false
	}
	d := &decoder{data: data, stable: stable}
	if !d.message(m, target.UnsafePointer(), 0, len(data)) {
		target.Elem().SetZero()
		return false
	}
	return true
}

// decoder decodes one message. Places are offsets in data.
type decoder struct {
	data   string
	stable string // the beginning of data
	depth  int    // messages around the one at hand
}

// maxDepth is how deep messages may lie in one another. The types of the API
// go to about 15.
const maxDepth = 100

// giveUp is in place of an offset where the message is for the type's own
// Unmarshal.
const giveUp = -1

// The wire types of fields.
const (
	varintType  = 0
	fixed64Type = 1
	bytesType   = 2
	fixed32Type = 5
	typeBits    = 7
)

// message decodes data[at:end] into the struct at p and reports whether it did.
// Most of the time goes by here, on tags and lengths of one byte and on strings.
func (d *decoder) message(m *message, p unsafe.Pointer, at, end int) bool {
	for data := d.data[:end]; at < end; {
		tag := uint64(data[at])
		if at++; tag >= 0x80 {
			tag, at = d.longVarint(at-1, end)
		}
		f := m.field(tag >> 3)
		if f == nil {
			if at = d.skip(tag, at, end); at == giveUp {
				return false
			}
			continue
		}
		if f.tag != tag || uint(at) >= uint(len(data)) {
			return false
		}
		v := uint64(data[at])
		if at++; v >= 0x80 {
			if v, at = d.longVarint(at-1, end); at == giveUp {
				return false
			}
		}
		if f.number != nil {
			f.number(unsafe.Add(p, f.offset), v)
			continue
		}
		if v > uint64(end-at) {
			return false
		}
		if stop := at + int(v); f.bytes == nil {
			*(*string)(unsafe.Add(p, f.offset)) = d.text(at, stop)
			at = stop
		} else if at = f.bytes(d, f, unsafe.Add(p, f.offset), at, stop, end); at == giveUp {
			return false
		}
	}
	return true
}

// field returns the field of a number, nil when there is none.
func (m *message) field(number uint64) *field {
	if number < uint64(len(m.fields)) && m.fields[number].tag != 0 {
		return &m.fields[number]
	}
	return nil
}

// skip returns where the value of a field ends that the type does not have: it is
// newer than this program. Where at is giveUp there is no tag.
func (d *decoder) skip(tag uint64, at, end int) int {
	if number := tag >> 3; at == giveUp || number == 0 || number > math.MaxInt32 {
		return giveUp
	}
	var n uint64
	switch tag & typeBits {
	case varintType:
		_, at = d.varint(at, end)
		return at
	case bytesType:
		n, at = d.varint(at, end)
	case fixed64Type:
		n = 8
	case fixed32Type:
		n = 4
	default:
		return giveUp
	}
	if at == giveUp || n > uint64(end-at) {
		return giveUp
	}
	return at + int(n)
}

// nested is message for one inside another, or in the form that its type has of
// its own.
func (d *decoder) nested(m *message, p unsafe.Pointer, at, stop int) bool {
	if m.whole != nil {
		return m.whole(d, p, at, stop)
	}
	if d.depth == maxDepth {
		return false
	}
	d.depth++
	ok := d.message(m, p, at, stop)
	d.depth--
	return ok
}

// again returns the bounds of the value at the place at when that has the same tag
// as the one before it, and giveUp when it has not.
func (d *decoder) again(tag uint64, at, end int) (start, stop int) {
	if rest := d.data[at:end]; len(rest) >= 2 && tag < 0x80 && rest[1] < 0x80 { // nearly always
		if n := int(rest[1]); uint64(rest[0]) == tag && n <= len(rest)-2 {
			return at + 2, at + 2 + n
		}
		return giveUp, 0
	}
	next, at := d.varint(at, end)
	if at == giveUp || next != tag {
		return giveUp, 0
	}
	n, at := d.varint(at, end)
	if at == giveUp || n > uint64(end-at) {
		return giveUp, 0
	}
	return at, at + int(n)
}

// run counts the values with one tag that follow one another, the first of which
// ends at stop.
func (d *decoder) run(tag uint64, stop, end int) int {
	for n := 1; ; n++ {
		var at int
		if at, stop = d.again(tag, stop, end); at == giveUp {
			return n
		}
	}
}

// varint reads the number at the place at and returns where it ends.
func (d *decoder) varint(at, end int) (uint64, int) {
	if at < end && d.data[at] < 0x80 {
		return uint64(d.data[at]), at + 1
	}
	return d.longVarint(at, end)
}

// longVarint is varint for more than one byte. As in the generated code, bits above the 64th are
// dropped and leading zeros are accepted.
//
//go:noinline
func (d *decoder) longVarint(at, end int) (v uint64, stop int) {
	for shift := 0; shift < 64 && at < end; shift += 7 {
		b := d.data[at]
		at++
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v, at
		}
	}
	return 0, giveUp
}

// text returns data[at:stop] as a string that stays.
func (d *decoder) text(at, stop int) string {
	if stop <= len(d.stable) {
		return d.stable[at:stop]
	}
	return strings.Clone(d.data[at:stop])
}
