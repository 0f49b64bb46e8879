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

// The wire types of fields, of which the API uses two.
const (
	varintType = 0
	bytesType  = 2
	typeBits   = 7
)

// message decodes data[at:end] into the struct at p and reports whether it did.
// Most of the time goes by here, on short strings.
func (d *decoder) message(m *message, p unsafe.Pointer, at, end int) bool {
	for data := d.data[:end]; at < end; {
		var tag, v uint64
		if behind := at + 1; behind < len(data) && data[at]|data[behind] < 0x80 {
			tag, v = uint64(data[at]), uint64(data[behind])
			at = behind + 1
		} else if tag, v, at = d.head(at, end); at == giveUp {
			return false
		}
		f := m.field(tag)
		switch {
		case f == nil:
			at = m.skip(tag, v, at, end)
		case f.number != nil:
			f.number(unsafe.Add(p, f.offset), v)
		case v > uint64(end-at):
			return false
		case f.bytes != nil:
			at = f.bytes(d, f, unsafe.Add(p, f.offset), at, at+int(v), end)
		default:
			stop := at + int(v)
			*(*string)(unsafe.Add(p, f.offset)) = d.text(at, stop)
			at = stop
		}
		if at == giveUp {
			return false
		}
	}
	return true
}

// field returns the field with this tag, nil when there is none.
func (m *message) field(tag uint64) *field {
	if number := tag >> 3; number < uint64(len(m.fields)) {
		if f := &m.fields[number]; f.tag == tag {
			return f
		}
	}
	return nil
}

// head reads the beginning of a field: its tag, and the number behind it, which is the
// value or its length. (No type of the API has fields of the other kinds.)
func (d *decoder) head(at, end int) (tag, v uint64, next int) {
	if rest := d.data[at:end]; len(rest) > 2 && rest[0] < 0x80 && rest[1] >= 0x80 && rest[2] < 0x80 { // of 128 bytes and more
		return uint64(rest[0]), uint64(rest[1]&0x7f) | uint64(rest[2])<<7, at + 3
	}
	if tag, at = d.varint(at, end); at == giveUp {
		return 0, 0, giveUp
	}
	v, at = d.varint(at, end)
	return tag, v, at
}

// skip returns where a field ends that the type does not have: it is newer than
// this program. The place at is behind the field's head.
func (m *message) skip(tag, v uint64, at, end int) int {
	number := tag >> 3
	known := number < uint64(len(m.fields)) && m.fields[number].tag != 0
	switch {
	case known || number == 0 || number > math.MaxInt32:
	case tag&typeBits == varintType:
		return at
	case tag&typeBits == bytesType && v <= uint64(end-at):
		return at + int(v)
	}
	return giveUp
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
	if rest := d.data[at:end]; tag < 0x80 && len(rest) > 1 && rest[1] < 0x80 { // nearly always
		if n := int(rest[1]); uint64(rest[0]) == tag && n <= len(rest)-2 {
			return at + 2, at + 2 + n
		}
		return giveUp, 0
	}
	next, n, at := d.head(at, end)
	if at == giveUp || next != tag || n > uint64(end-at) {
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
