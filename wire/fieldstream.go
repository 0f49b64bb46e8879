package wire

import (
	"encoding/binary"

	"google.golang.org/protobuf/encoding/protowire"
)

// fieldStream walks the fields of a protobuf message that is too long to hold.
type fieldStream struct {
	window
	end int64 // where the message ends in the stream

	// The field at hand: the window begins with its value.
	num    protowire.Number
	typ    protowire.Type
	length int64 // of a BytesType field
}

// nextField reads the tag of the next field, and of a BytesType field the
// length too. It returns io.EOF only when the stream ends before the tag.
func (f *fieldStream) nextField() error {
	began := f.offset
	tag, err := f.readVarint()
	if err != nil {
		return err
	}
	if f.num, f.typ = protowire.DecodeTag(tag); f.num < protowire.MinValidNumber {
		return &Error{Offset: began, What: "malformed protobuf field"}
	}
	if f.typ == protowire.BytesType {
		return f.readLength(began)
	}
	return f.inBounds(began, 0)
}

func (f *fieldStream) readLength(began int64) error {
	length, err := f.readVarint()
	if err != nil {
		return f.broken(err, "a protobuf field")
	}
	f.length = int64(length)
	return f.inBounds(began, length)
}

// inBounds checks that the message still has n bytes.
func (f *fieldStream) inBounds(began int64, n uint64) error {
	if f.offset > f.end || n > uint64(f.end-f.offset) {
		return &Error{Offset: began, What: "protobuf field is longer than the message around it"}
	}
	return nil
}

// skipField consumes the value of the field at hand, groups included.
func (f *fieldStream) skipField() error {
	for depth := 0; ; {
		began := f.offset
		var err error
		switch f.typ {
		case protowire.VarintType:
			_, err = f.readVarint()
		case protowire.Fixed32Type:
			err = f.discard(4)
		case protowire.Fixed64Type:
			err = f.discard(8)
		case protowire.BytesType:
			err = f.discard(f.length)
		case protowire.StartGroupType:
			depth++
		case protowire.EndGroupType:
			depth--
		}
		switch {
		case err != nil:
			return f.broken(err, "a protobuf field")
		case depth < 0 || f.typ > protowire.Fixed32Type:
			return &Error{Offset: began, What: "malformed protobuf field"}
		case f.offset > f.end:
			return f.inBounds(began, 0)
		case depth == 0:
			return nil
		}
		if err := f.nextField(); err != nil {
			return f.broken(err, "a protobuf field")
		}
	}
}

// readVarint consumes a varint. It returns io.EOF only when the stream ends
// before the first byte.
func (f *fieldStream) readVarint() (uint64, error) {
	for n := 1; ; n++ {
		if err := f.need(n); err != nil {
			if n > 1 {
				err = f.broken(err, "a protobuf field")
			}
			return 0, err
		}
		if f.bytes()[n-1] >= 0x80 && n < binary.MaxVarintLen64 {
			continue
		}
		v, size := protowire.ConsumeVarint(f.bytes()[:n])
		if size < 0 {
			return 0, &Error{Offset: f.offset, What: "malformed protobuf varint", Err: protowire.ParseError(size)}
		}
		f.skip(n)
		return v, nil
	}
}
