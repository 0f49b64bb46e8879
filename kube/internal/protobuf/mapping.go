package protobuf

import (
	"reflect"
	"unsafe"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// The maps that have a function of their own, besides those of basic types.
type (
	resources    = map[corev1.ResourceName]resource.Quantity // a corev1.ResourceList
	resizeStates = map[corev1.ResourceName]corev1.ClaimResourceStatus
)

// entry is the places of a map entry's key and value in the data.
type entry struct {
	key, keyEnd     int
	value, valueEnd int // value is giveUp when there is none
}

// The tags in an entry.
const (
	keyTag   = 1<<3 | bytesType
	valueTag = 2<<3 | bytesType
)

// entry reads data[at:stop], where the last key counts. Of two values the first would have
// to be looked at too: it may be a message that is none.
func (d *decoder) entry(at, stop int) (e entry, ok bool) {
	e.value = giveUp
	for at < stop {
		tag, _ := d.varint(at, stop)
		start, end := d.again(tag, at, stop)
		switch {
		case start == giveUp:
			return e, false
		case tag == keyTag:
			e.key, e.keyEnd = start, end
		case tag == valueTag && e.value == giveUp:
			e.value, e.valueEnd = start, end
		default:
			return e, false
		}
		at = end
	}
	return e, true
}

// entries calls put for each entry of a run and returns where the run ends, or
// giveUp where there is none or put returns false.
func (d *decoder) entries(tag uint64, at, stop, end int, put func(key string, e entry) bool) int {
	for next := stop; at != giveUp; {
		e, ok := d.entry(at, next)
		if !ok || !put(d.text(e.key, e.keyEnd), e) {
			return giveUp
		}
		stop = next
		at, next = d.again(tag, stop, end)
	}
	return stop
}

// smallEntry is what an entry takes that has a key and a value of its own to tell.
const smallEntry = 8

// room is the number of entries to make a map for. However many there are, a map is
// not made larger than what the message has bytes for: entries of nothing take two
// bytes each, are all of one key, and would have room for 80 times as much.
func (d *decoder) room(tag uint64, at, stop, end int) int {
	return min(d.run(tag, stop, end), 1+(end-at)/smallEntry)
}

// madeMap returns the map at p, which it makes with room for n when there is none.
func madeMap[K comparable, V any](p unsafe.Pointer, n int) map[K]V {
	m := (*map[K]V)(p)
	if *m == nil {
		*m = make(map[K]V, n)
	}
	return *m
}

func putStrings[K, V ~string](d *decoder, f *field, p unsafe.Pointer, at, stop, end int) int {
	m := madeMap[K, V](p, d.room(f.tag, at, stop, end))
	return d.entries(f.tag, at, stop, end, func(key string, e entry) bool {
		value := ""
		if e.value != giveUp {
			value = d.text(e.value, e.valueEnd)
		}
		m[K(key)] = V(value)
		return true
	})
}

func putBytes(d *decoder, f *field, p unsafe.Pointer, at, stop, end int) int {
	m := madeMap[string, []byte](p, d.room(f.tag, at, stop, end))
	return d.entries(f.tag, at, stop, end, func(key string, e entry) bool {
		value := []byte{}
		if e.value != giveUp {
			value = d.bytes(e.value, e.valueEnd)
		}
		m[key] = value
		return true
	})
}

func putQuantities(d *decoder, f *field, p unsafe.Pointer, at, stop, end int) int {
	m := madeMap[corev1.ResourceName, resource.Quantity](p, d.room(f.tag, at, stop, end))
	return d.entries(f.tag, at, stop, end, func(key string, e entry) bool {
		var value resource.Quantity
		ok := e.value == giveUp || d.quantity(&value, e.value, e.valueEnd)
		m[corev1.ResourceName(key)] = value
		return ok
	})
}

func putMessages(d *decoder, f *field, p unsafe.Pointer, at, stop, end int) int {
	m := reflect.NewAt(f.typ, p).Elem()
	if m.IsNil() {
		m.Set(reflect.MakeMapWithSize(f.typ, d.room(f.tag, at, stop, end)))
	}
	return d.entries(f.tag, at, stop, end, func(key string, e entry) bool {
		value := reflect.New(f.typ.Elem())
		if e.value != giveUp && !d.nested(f.message, value.UnsafePointer(), e.value, e.valueEnd) {
			return false
		}
		m.SetMapIndex(reflect.ValueOf(key).Convert(f.typ.Key()), value.Elem())
		return true
	})
}
