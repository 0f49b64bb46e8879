package wire

import "encoding/binary"

const (
	eventType   = 1
	eventObject = 2

	rawExtensionRaw = 1

	// frameHeader is the length of a frame, in 4 bytes, big-endian.
	frameHeader = 4
)

// protobufFrames reads the frames of a watch in protobuf: the length of each,
// then a bare metav1.WatchEvent whose object is in an envelope.
type protobufFrames struct {
	window
	limit int
	used  int // bytes of the last frame, still in the window
}

func (p *protobufFrames) next(f *frame) error {
	p.skip(p.used)
	p.used = 0
	if err := p.need(frameHeader); err != nil {
		if p.size() == 0 {
			return err // the end, at a border
		}
		return p.broken(err, "the length of a frame")
	}
	length := int64(binary.BigEndian.Uint32(p.bytes()))
	if length > int64(p.limit) {
		began := p.offset
		if err := p.discard(frameHeader + length); err != nil {
			return p.broken(err, "a frame that is over the limit")
		}
		return oversized("frame", began, length, p.limit)
	}
	end := frameHeader + int(length)
	if err := p.need(end); err != nil {
		return p.broken(err, "a frame")
	}
	p.used = end
	err := readEvent(p.bytes()[frameHeader:end], f)
	f.began = p.offset
	f.offset += p.offset + frameHeader
	return moved(err, p.offset+frameHeader)
}

// readEvent reads a WatchEvent and takes its object out of the envelope. As for
// a decoder, the last of several types or objects counts.
func readEvent(body []byte, f *frame) error {
	*f = frame{found: f.found}
	event := message{data: body}
	var object message
	var name string
	for event.next() {
		switch event.num {
		case eventType:
			event.text(&name, "an event's type")
		case eventObject:
			extension := event.enter("an event's object")
			for extension.next() {
				if extension.num == rawExtensionRaw {
					object = extension.enter("an event's object")
				}
			}
			event.err = extension.err
		}
	}
	f.eventType = EventType(name)
	if event.err != nil || len(object.data) == 0 {
		return event.err
	}
	kind, object, err := unwrap(object)
	if err != nil {
		return err
	}
	f.kind, f.object, f.offset = kind, object.data, int64(object.base)
	if f.object == nil {
		f.object = []byte{} // an object without a field
	}
	return nil
}
