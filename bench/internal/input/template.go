package input

import (
	"bytes"
	"fmt"
)

// template is one encoded object and the places of its unique values.
type template struct {
	raw   []byte
	slots [][]int // of each field, offsets in raw
}

// newTemplate finds the values of the object's state in its encoding. Each must
// be there.
func newTemplate(raw []byte, s state, fields []field, protobuf bool) (*template, error) {
	t := &template{raw: raw, slots: make([][]int, len(fields))}
	for i, f := range fields {
		value := f(nil, s, protobuf)
		for from := 0; ; {
			at := bytes.Index(raw[from:], value)
			if at < 0 {
				break
			}
			t.slots[i] = append(t.slots[i], from+at)
			from += at + len(value)
		}
		if len(t.slots[i]) == 0 {
			return nil, fmt.Errorf("input: object %d does not have the value %q of field %d", s.n, value, i)
		}
	}
	return t, nil
}

// appendObject appends the object with the values of another state.
func (t *template) appendObject(dst []byte, s state, fields []field, protobuf bool) []byte {
	start := len(dst)
	dst = append(dst, t.raw...)
	var space [128]byte
	for i, f := range fields {
		value := f(space[:0], s, protobuf)
		for _, at := range t.slots[i] {
			copy(dst[start+at:], value)
		}
	}
	return dst
}
