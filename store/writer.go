package store

import (
	"github.com/gocampus/hark/key"
	"github.com/gocampus/hark/wire"
)

// shrinkFrom is the size from which a map that has lost most of its content is
// made anew: a Go map keeps its buckets when entries are deleted.
const shrinkFrom = 1024

// Writer is the writing side of a Store. It is for one goroutine, except where a
// method says otherwise.
type Writer struct {
	store      *Store
	compactor  *wire.Compactor // nil: objects are kept whole
	round      uint64
	consistent bool       // what Begin was told
	anew       bool       // of the replacement under way: versions may have been given out again
	scratch    [][]string // index values of the object at hand
	kept       kept
	errs       []error
}

// Outcome says what becomes of an object.
type Outcome uint8

const (
	// Stored: the object is the newest version now.
	Stored Outcome = iota
	// Known: the store has this very version already.
	Known
	// Stale: the store has a newer version, which it keeps.
	Stale
)

// Plan is what storing an object would do.
type Plan struct {
	Outcome Outcome
	// Old is the version that the store has now, nil when it has none.
	Old *wire.Object
	// New is what the store keeps if it stores the object: that or an equal one.
	New *wire.Object

	record *record
	family *wire.Family
}

// Prepare finds out what storing an object would do, and calls the index
// functions if it would do anything: foreign code, which so runs without any
// lock of the caller's around Store. Nothing may be written between the two.
//
// Versions are compared as integers where both are; otherwise a different
// version counts as newer. With force an older version replaces a newer one too,
// where nothing of the key was stored, known or stale since Begin, and so do, if
// Begin was told anew, other bytes of the same version.
func (w *Writer) Prepare(object *wire.Object, force bool) Plan {
	kept := w.found(object)
	p := Plan{New: object, record: kept.record, family: kept.family}
	if p.record != nil {
		p.Old = p.record.object
		force = force && p.record.round != w.round
		switch order := compareVersions(p.Old, object); {
		case order == 0 && !(force && w.anew && !p.Old.Equal(object)):
			p.Outcome = Known
		case order > 0 && !force:
			p.Outcome = Stale
		}
		if p.Outcome != Stored {
			p.record.round = w.round
			return p
		}
	}
	w.computeIndexes(object)
	if w.compactor != nil && p.family == nil {
		w.compact(&p)
	}
	return p
}

// compact makes the plan's New small, and under the key that the store has: each
// version comes with one of its own.
func (w *Writer) compact(p *Plan) {
	k := p.New.Key()
	if p.Old != nil {
		k = p.Old.Key()
	}
	p.New, p.family = w.compactor.Compact(p.New, k)
}

// Store carries out a plan whose Outcome is Stored; others change nothing.
func (w *Writer) Store(p Plan) {
	switch {
	case p.Outcome != Stored:
		return
	case p.record == nil:
		w.insert(p)
	default:
		w.replace(p)
	}
}

// Put prepares and stores.
func (w *Writer) Put(object *wire.Object, force bool) Plan {
	p := w.Prepare(object, force)
	w.Store(p)
	return p
}

// compareVersions is 0 for one version of one object, positive when a is newer.
func compareVersions(a, b *wire.Object) int {
	x, xOK := a.Version()
	y, yOK := b.Version()
	switch {
	case xOK && yOK && x > y:
		return 1
	case xOK && yOK && x < y: // as nearly always, without a look at the bytes
		return -1
	case a.UID() == b.UID() && a.ResourceVersion() == b.ResourceVersion() && a.ResourceVersion() != "":
		return 0
	}
	return -1
}

func (w *Writer) insert(p Plan) {
	w.kept = kept{}
	s := w.store
	r := &record{round: w.round}
	w.hold(r, p.family)
	s.mu.Lock()
	defer s.mu.Unlock()
	r.object = p.New
	s.records[p.New.Key()] = r
	s.peak = max(s.peak, len(s.records))
	r.move(s.indexes, w.scratch)
	s.countFailures(w.errs)
}

func (w *Writer) replace(p Plan) {
	w.kept = kept{}
	s, r := w.store, p.record
	r.round = w.round
	w.hold(r, p.family)
	s.mu.Lock()
	defer s.mu.Unlock()
	r.object = p.New
	if !r.unchanged(s.indexes, w.scratch) {
		r.move(s.indexes, w.scratch)
	}
	s.countFailures(w.errs)
}

// hold counts a record as one of another family than before; nil is none.
func (w *Writer) hold(r *record, family *wire.Family) {
	if r.family == family {
		return
	}
	if family != nil {
		w.compactor.Hold(family)
	}
	if r.family != nil {
		w.compactor.Release(r.family)
	}
	r.family = family
}

// computeIndexes calls the index functions: foreign code, hence before the lock.
func (w *Writer) computeIndexes(object *wire.Object) {
	w.errs = w.errs[:0]
	for i, x := range w.store.indexes {
		values, err := x.compute(w.scratch[i], object)
		if err != nil {
			w.errs = append(w.errs, err)
		}
		w.scratch[i] = values
	}
}

// countFailures counts what index functions failed with. The caller holds mu.
func (s *Store) countFailures(errs []error) {
	s.failed += uint64(len(errs))
	if len(errs) > 0 {
		s.lastErr = errs[len(errs)-1]
	}
}

// Told returns what was stored of a key, nil for nothing: what the watch has
// told, without what was observed. It may be called from any goroutine.
func (w *Writer) Told(k key.Key) *wire.Object {
	s := w.store
	s.mu.RLock()
	defer s.mu.RUnlock()
	if r := s.records[k]; r != nil {
		return r.object
	}
	return nil
}

// AllTold returns all that was stored, likewise. It may be called from any
// goroutine.
func (w *Writer) AllTold() []*wire.Object {
	s := w.store
	s.mu.RLock()
	defer s.mu.RUnlock()
	objects := make([]*wire.Object, 0, len(s.records))
	for _, r := range s.records {
		objects = append(objects, r.object)
	}
	return objects
}

// Delete removes a key and returns what was there, or nil.
func (w *Writer) Delete(k key.Key) *wire.Object {
	w.kept = kept{}
	s := w.store
	r := s.records[k]
	if r == nil {
		return nil
	}
	w.hold(r, nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.records, k)
	for _, under := range r.under {
		under.remove(r)
	}
	s.shrink()
	return r.object
}

// shrink gives memory back after most objects have gone.
func (s *Store) shrink() {
	if s.peak < shrinkFrom || len(s.records) > s.peak/4 {
		return
	}
	records := make(map[key.Key]*record, len(s.records))
	for k, r := range s.records {
		records[k] = r
	}
	s.records, s.peak = records, len(records)
	for _, x := range s.indexes {
		x.shrink()
	}
}

// Begin starts a replacement of the whole content: what is Put from now on is
// marked, and End finds the rest. The content stays readable meanwhile. A
// consistent list is one that the server begins to read after this call. With
// anew its history may have begun anew, and versions may have been given out again.
func (w *Writer) Begin(consistent, anew bool) {
	w.round++
	w.consistent, w.anew = consistent, anew
	if consistent {
		w.store.mu.Lock()
		defer w.store.mu.Unlock()
		w.store.overlay.lists++
	}
}

// End ends a replacement by what was true at version. It returns the keys that
// were not Put since Begin, to be deleted; Advance follows.
func (w *Writer) End(version string) []key.Key {
	w.store.listed(parseVersion(version), w.consistent)
	var keys []key.Key
	for k, r := range w.store.records {
		if r.round != w.round {
			keys = append(keys, k)
		}
	}
	return keys
}

// Advance says that every change up to version is in the store, and wakes those
// who wait for it.
func (w *Writer) Advance(version string) {
	number := parseVersion(version)
	w.store.settle(number)
	w.store.versions.advance(version, number)
}
