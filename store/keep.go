package store

import (
	"github.com/gocampus/hark/key"
	"github.com/gocampus/hark/wire"
)

// kept is the object that Keep has handed out last and what it found out of it,
// until something is written.
type kept struct {
	object *wire.Object
	record *record      // of the same key, nil when there is none
	family *wire.Family // nil: the object is not compact, or is the record's
}

// Keep implements wire.Keeper, for a reader whose Next is called by the Writer's
// goroutine: an object that is here already is not kept a second time, a new
// version has the key that is here, and a compact store never has an object in one
// piece. Nothing is stored.
func (w *Writer) Keep(draft *wire.Draft) *wire.Object {
	r := w.store.records[draft.Key()] // only the writer writes: no lock to read
	w.kept = kept{record: r}
	var k key.Key
	if r == nil {
		k = draft.Key().Clone()
	} else {
		k = r.object.Key()
	}
	switch {
	case r != nil && draft.Equal(r.object):
		w.kept.object = r.object
	case w.compactor == nil:
		w.kept.object = draft.Whole(k)
	default:
		w.kept.object, w.kept.family = w.compactor.Keep(draft, k)
	}
	return w.kept.object
}

// found returns what Keep found out of an object, or the record of its key alone
// where the object is not the last one that Keep handed out.
func (w *Writer) found(object *wire.Object) kept {
	if w.kept.object == object {
		return w.kept
	}
	return kept{object: object, record: w.store.records[object.Key()]} // only the writer writes: no lock to read
}
