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
	read := k.readProtobuf
	if k.encoding == JSON {
		read = k.readJSON
	}
	if err := read(f); err != nil {
		return nil, moved(err, f.offset)
	}
	return k.choice.Keep(&k.draft), nil
}

// readProtobuf makes the draft of an object in protobuf, in one walk.
func (k *keeper) readProtobuf(f *frame) error {
	d := &k.draft
	d.meta = sink{cutting: !k.keepManagedFields, edits: reuse(d.meta.edits)}
	if err := scanProtobuf(f.object, &d.meta); err != nil {
		return err
	}
	return d.become(Protobuf, f.object, k.cut(f.object, d.meta.edits))
}

// readJSON makes the draft of an object in JSON. What is to be cut was found when
// the end of the object was, and nearly always only the metadata has to be walked
// again, without it.
func (k *keeper) readJSON(f *frame) error {
	raw := f.object
	if !k.keepManagedFields {
		raw = k.cut(raw, f.found.edits)
	}
	d := &k.draft
	d.meta = sink{}
	err := scanFoundJSON(raw, &f.found, &d.meta)
	if err == nil {
		err = d.become(JSON, raw, raw)
	}
	if err == nil {
		return nil
	}
	// Find the error once more where its offset is that in the stream.
	if _, uncut := NewObject(JSON, f.object); uncut != nil {
		err = uncut
	}
	return err
}

// scanFoundJSON is scanJSON of raw, in which f was found and what it says cut.
func scanFoundJSON(raw []byte, f *found, m *sink) error {
	if f.metadatas != 1 {
		return scanJSON(raw, m)
	}
	s := scanner{buf: raw, pos: f.metadata - f.start}
	s.metadata(m)
	m.parts, m.end = 1, s.pos
	return s.err
}

// forget lets go of the frame that was handed out. It may have been a large one, and
// the next one may be long in coming.
func (k *keeper) forget(f *frame) {
	f.kind, f.object = "", nil
	k.draft = Draft{meta: sink{edits: k.draft.meta.edits}}
	if cap(k.raw) > keepBuffer {
		k.raw = nil
	}
}

// cut returns raw after the edits; it is valid until the next call.
func (k *keeper) cut(raw []byte, edits []edit) []byte {
	if len(edits) == 0 {
		return raw
	}
	k.raw = appendEdited(k.raw[:0], raw, edits)
	return k.raw
}

// moved returns err with its offset counted from the start of the stream.
func moved(err error, by int64) error {
	if e, ok := errors.AsType[*Error](err); ok {
		e.Offset += by
	}
	return err
}
