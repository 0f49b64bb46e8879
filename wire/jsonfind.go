package wire

// found is what one pass over a JSON object in a stream learns: where it is,
// where its metadata is, and what removes managedFields. Positions count from
// the first byte that the scanner holds, in edits from the object's first byte.
type found struct {
	start, end int
	metadata   int // of the value of the last "metadata"
	metadatas  int // how many there are
	edits      []edit
}

// find consumes the object at hand and says in f what it found.
func (s *scanner) find(f *found) bool {
	*f = found{start: s.pos, edits: reuse(f.edits)}
	s.open()
	for key, ok := s.member(true); ok; key, ok = s.member(false) {
		if s.name(key) != "metadata" {
			s.skip()
			continue
		}
		f.metadata = s.pos
		f.metadatas++
		if s.peek() == '{' {
			s.findManagedFields(f)
		} else {
			s.skip()
		}
	}
	f.end = s.pos
	return s.err == nil
}

// findManagedFields consumes a metadata object and notes its managedFields:
// with the comma before it, or if no other member stays before it, with the one
// after it.
func (s *scanner) findManagedFields(f *found) {
	s.open()
	kept := false // a member before the one at hand stays
	for first := true; ; first = false {
		s.token()
		comma := s.pos // or the key, if first
		key, ok := s.member(first)
		if !ok {
			return
		}
		if s.name(key) != "managedFields" {
			s.skip()
			kept = true
			continue
		}
		start := comma
		if !kept {
			start = key.start - 1
		}
		s.skip()
		end := s.pos
		if !kept && s.token() == ',' {
			end = s.pos + 1
		}
		f.remove(start, end)
	}
}

// remove notes that [start, end) is to be removed.
func (f *found) remove(start, end int) {
	start, end = start-f.start, end-f.start
	if last := len(f.edits) - 1; last >= 0 && f.edits[last].end == start {
		f.edits[last].end = end
		return
	}
	f.edits = append(f.edits, edit{start, end, cut})
}
