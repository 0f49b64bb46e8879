package wire

import (
	"strconv"
	"time"
)

// scanJSON reads the metadata of one JSON object. What it does with repeated
// members and with null is what decoding into a Go struct does: scalars of a
// repeated member are overwritten and labels added, null clears labels, owners
// and the deletion timestamp and leaves everything else alone. Of a repeated
// ownerReferences the last counts. Keys are case-sensitive, as for the decoders
// of the API.
func scanJSON(raw []byte, m *sink) error {
	s := scanner{buf: raw}
	if s.token() != '{' {
		s.unexpected("an object")
		return s.err
	}
	s.open()
	for key, ok := s.member(true); ok; key, ok = s.member(false) {
		if s.name(key) != "metadata" {
			s.skip()
			continue
		}
		s.metadata(m)
		m.parts++
		m.end = s.pos
		if m.part {
			return s.err
		}
	}
	if s.err == nil {
		s.end()
	}
	return s.err
}

// end fails unless only white space is left.
func (s *scanner) end() {
	for ; s.pos < len(s.buf); s.pos++ {
		switch s.buf[s.pos] {
		case ' ', '\t', '\n', '\r':
		default:
			s.unexpected("the end")
			return
		}
	}
}

// metadata consumes the value of "metadata" and reads it into m.
func (s *scanner) metadata(m *sink) {
	if !s.enterObject("metadata") {
		return
	}
	for key, ok := s.member(true); ok; key, ok = s.member(false) {
		switch s.name(key) {
		case "name":
			s.stringValue(&m.Name, "metadata.name")
		case "namespace":
			s.stringValue(&m.Namespace, "metadata.namespace")
		case "uid":
			s.stringValue(&m.UID, "metadata.uid")
		case "resourceVersion":
			s.stringValue(&m.ResourceVersion, "metadata.resourceVersion")
		case "generation":
			s.integerValue(&m.Generation, 64, "metadata.generation")
		case "deletionTimestamp":
			s.timeValue(&m.DeletionTimestamp, "metadata.deletionTimestamp")
		case "labels":
			s.labels(m)
		case "annotations":
			s.annotations(m)
		case "ownerReferences":
			s.owners(&m.Owner)
		default:
			s.skip()
		}
	}
}

// wrongType fails because the value at hand has a type that no decoder takes.
func (s *scanner) wrongType(name, want string) bool {
	return s.fail(name+" is not "+want, nil)
}

// null consumes the value at hand if it is null.
func (s *scanner) null() bool {
	return s.err == nil && s.peek() == 'n' && s.literal("null")
}

// enterObject opens the object at hand. It returns false after null, which it
// consumes, and on an error.
func (s *scanner) enterObject(name string) bool {
	if s.null() || s.err != nil {
		return false
	}
	if s.peek() != '{' {
		return s.wrongType(name, "an object")
	}
	return s.open()
}

// stringValue consumes a string and stores it; null leaves dst alone.
func (s *scanner) stringValue(dst *string, name string) {
	if s.null() || s.err != nil {
		return
	}
	if s.peek() != '"' {
		s.wrongType(name, "a string")
	} else if text, ok := s.str(); ok {
		*dst = s.text(text)
	}
}

// integerValue consumes an integer of at most that many bits and stores it;
// null leaves dst alone.
func (s *scanner) integerValue(dst *int64, bits int, name string) {
	if s.null() || s.err != nil {
		return
	}
	at := s.pos
	if c := s.peek(); c != '-' && (c < '0' || c > '9') {
		s.wrongType(name, "an integer")
		return
	}
	text, ok := s.number()
	if !ok {
		return
	}
	n, err := strconv.ParseInt(s.raw(text), 10, bits)
	if err != nil {
		s.pos = at
		s.wrongType(name, "an integer of "+strconv.Itoa(bits)+" bits")
		return
	}
	*dst = n
}

// timeValue consumes a time in the form of RFC 3339 and stores it; null clears it.
func (s *scanner) timeValue(dst *time.Time, name string) {
	at, text := s.pos, ""
	if s.null() {
		*dst = time.Time{}
		return
	}
	if s.stringValue(&text, name); s.err != nil {
		return
	}
	parsed, err := time.Parse(time.RFC3339, text)
	if err != nil {
		s.pos = at
		s.wrongType(name, "a time in the form of RFC 3339")
		return
	}
	*dst = parsed.UTC()
}

// labels consumes a map of strings and adds its entries; null clears them all.
func (s *scanner) labels(m *sink) {
	if s.peek() == 'n' {
		m.clearLabels()
	}
	if !s.enterObject("metadata.labels") {
		return
	}
	for key, ok := s.member(true); ok; key, ok = s.member(false) {
		label := Label{Name: s.text(key)}
		if s.stringValue(&label.Value, "a label"); s.err == nil {
			m.addLabel(label)
		}
	}
}

// annotations consumes a map of strings and looks for one entry, if one is
// asked for.
func (s *scanner) annotations(m *sink) {
	if m.annotation.name == "" {
		s.skip()
		return
	}
	if s.peek() == 'n' {
		m.annotation.forget()
	}
	if !s.enterObject("metadata.annotations") {
		return
	}
	for key, ok := s.member(true); ok; key, ok = s.member(false) {
		if name := s.text(key); name == m.annotation.name {
			m.annotation.value, m.annotation.ok = "", true
			s.stringValue(&m.annotation.value, "an annotation")
		} else {
			s.skip() // annotations can be long, and full of escapes
		}
	}
}

// owners consumes ownerReferences and stores the first controlling owner, or
// none, in dst.
func (s *scanner) owners(dst *Owner) {
	*dst = Owner{}
	if s.null() || s.err != nil {
		return
	}
	if s.peek() != '[' {
		s.wrongType("metadata.ownerReferences", "an array")
		return
	}
	s.open()
	owned := false
	for ok := s.element(true); ok; ok = s.element(false) {
		if owner, controls := s.owner(); controls && !owned {
			*dst, owned = owner, true
		}
	}
}

// owner consumes one owner reference and tells whether it is a controlling one.
func (s *scanner) owner() (owner Owner, controls bool) {
	if !s.enterObject("an owner reference") {
		return owner, false
	}
	for key, ok := s.member(true); ok; key, ok = s.member(false) {
		switch s.name(key) {
		case "apiVersion":
			s.stringValue(&owner.APIVersion, "an owner's apiVersion")
		case "kind":
			s.stringValue(&owner.Kind, "an owner's kind")
		case "name":
			s.stringValue(&owner.Name, "an owner's name")
		case "uid":
			s.stringValue(&owner.UID, "an owner's uid")
		case "controller":
			s.boolValue(&controls, "an owner's controller")
		default:
			s.skip()
		}
	}
	return owner, controls
}

// boolValue consumes a boolean and stores it; null counts as false.
func (s *scanner) boolValue(dst *bool, name string) {
	switch s.peek() {
	case 't':
		*dst = s.literal("true")
	case 'f':
		s.literal("false")
		*dst = false
	case 'n':
		s.literal("null")
		*dst = false
	default:
		s.wrongType(name, "a boolean")
	}
}
