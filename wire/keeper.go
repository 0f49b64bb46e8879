package wire

import "errors"

// frame is what a reader found: an object among the bytes of its window, valid
// until the reader goes on.
type frame struct {
	began     int64  // where the frame or item begins in the stream
	eventType string // of a watch
	kind      string // from the envelope of a protobuf object
	object    []byte // nil when there is none
	offset    int64  // of object in the stream
	found     found  // where things are in a JSON object
}

// keeper makes Objects of the bytes in a reader's window.
type keeper struct {
	encoding          Encoding
	keepManagedFields bool
	choice            Keeper
	draft             Draft  // reused
	edits             []edit // reused
	raw               []byte // reused: the object at hand, cut
}

func newKeeper(encoding Encoding, o Options) keeper {
	choice := o.Keeper
	if choice == nil {
		choice = wholes{}
	}
	return keeper{encoding: encoding, keepManagedFields: o.KeepManagedFields, choice: choice}
}

// wholes keeps every object whole.
type wholes struct{}

func (wholes) Keep(d *Draft) *Object { return d.Whole(d.Key().Clone()) }

// keep makes an Object of the frame's object, cut, as the choice has it.
func (k *keeper) keep(f *frame) (*Object, error) {
	edits, err := k.cuts(f)
	if err != nil {
		return nil, moved(err, f.offset)
	}
	raw := k.cut(f.object, edits)
	d := &k.draft
	d.meta = sink{}
	if err = k.scan(raw, f, &d.meta); err == nil {
		if err = d.become(k.encoding, raw); err == nil {
			return k.choice.Keep(d), nil
		}
	}
	// Find the error once more where its offset is that in the stream.
	if _, uncut := NewObject(k.encoding, f.object); uncut != nil {
		err = uncut
	}
	return nil, moved(err, f.offset)
}

// cut returns raw after the edits; it is valid until the next call.
func (k *keeper) cut(raw []byte, edits []edit) []byte {
	if len(edits) == 0 {
		return raw
	}
	if cap(k.raw) > keepBuffer {
		k.raw = nil
	}
	k.raw = appendEdited(k.raw[:0], raw, edits)
	return k.raw
}

// cuts returns what takes the managedFields out of the frame's object.
func (k *keeper) cuts(f *frame) ([]edit, error) {
	switch {
	case k.keepManagedFields:
		return nil, nil
	case k.encoding == JSON:
		return f.found.edits, nil
	}
	var err error
	k.edits, err = editsProtobuf(f.object, reuse(k.edits))
	return k.edits, err
}

// scan reads the metadata of raw, the frame's object less what was cut. Of JSON
// nearly always only the metadata has to be walked again.
func (k *keeper) scan(raw []byte, f *frame, m *sink) error {
	if k.encoding == JSON && f.found.metadatas == 1 {
		s := scanner{buf: raw, pos: f.found.metadata - f.found.start}
		s.metadata(m)
		m.parts, m.end = 1, s.pos
		return s.err
	}
	return scan(k.encoding, raw, m)
}

// moved returns err with its offset counted from the start of the stream.
func moved(err error, by int64) error {
	if e, ok := errors.AsType[*Error](err); ok {
		e.Offset += by
	}
	return err
}
