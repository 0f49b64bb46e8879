package wire

import (
	"fmt"
	"io"
	"strings"
)

// jsonItems reads a list in JSON: an object whose member "items" is an array.
// Members may come in any order.
type jsonItems struct {
	window
	scanner scanner
	state   listState
	first   bool // of the members or items at hand
	listed  bool // the items were read
	kind    string
	meta    ListMeta
	status  Status // in case that it is one
}

// listState says where in the body a jsonItems is.
type listState uint8

const (
	beforeList listState = iota
	inList
	inItems
	afterList
)

func newJSONItems(r io.Reader, limit int) *jsonItems {
	j := &jsonItems{window: window{r: r}}
	j.scanner = pulling(&j.window, limit)
	return j
}

func (j *jsonItems) listMeta() ListMeta { return j.meta }

func (j *jsonItems) release(err error) {
	j.scanner.buf, j.scanner.pos = nil, 0
	j.window.release(err)
}

func (j *jsonItems) next(f *frame) error {
	s := &j.scanner
	for {
		var err error
		switch j.state {
		case beforeList:
			err = j.enterList()
		case inList:
			err = j.member()
		case inItems:
			if s.element(j.first) {
				j.first = false
				return j.item(f)
			}
			j.state, j.first, j.listed = inList, false, true
		case afterList:
			return j.finish()
		}
		if s.err != nil {
			return s.err
		}
		if err != nil {
			return err
		}
	}
}

// enterList goes into the body's object.
func (j *jsonItems) enterList() error {
	s := &j.scanner
	if err := s.border(); err != nil {
		return j.broken(err, "a list")
	}
	if c := s.peek(); c != '{' {
		return notAList(s.base, fmt.Sprintf("it begins with %q", c))
	}
	s.open()
	j.state, j.first = inList, true
	return nil
}

// member reads the next member of the list, up to its items.
func (j *jsonItems) member() error {
	s := &j.scanner
	more := s.toKey(j.first)
	j.first = false
	if !more {
		j.state = afterList
		return nil
	}
	name, ok := j.name()
	switch {
	case !ok:
		return nil
	case name == "items":
		return j.enterItems()
	}
	at := s.base + int64(s.pos)
	value := s.value()
	if s.err != nil {
		return nil
	}
	return j.read(name, value, at)
}

// name consumes the key at hand and its colon, and begins the value. White space
// between them may be as long as it likes; a key over the limit has no name.
func (j *jsonItems) name() (name string, ok bool) {
	s := &j.scanner
	s.begin()
	key, ok := s.str()
	if !ok {
		return "", false
	}
	name = strings.Clone(s.name(key)) // what it aliases may move
	ok = s.colon()
	s.begin()
	return name, ok
}

// enterItems goes into the items.
func (j *jsonItems) enterItems() error {
	s := &j.scanner
	at := s.base + int64(s.pos)
	switch c := s.peek(); {
	case j.kind == statusKind:
		return notAList(at, "its kind is Status")
	case j.listed:
		return &Error{Offset: at, What: "list has items twice"}
	case c == 'n':
		s.literal("null")
		j.listed = true
	case c == '[':
		s.open()
		j.state, j.first = inItems, true
	default:
		return notAList(at, fmt.Sprintf("its items begin with %q", c))
	}
	return nil
}

// item reads the value at hand into f.
func (j *jsonItems) item(f *frame) error {
	s := &j.scanner
	s.begin()
	began := s.base
	*f = frame{offset: began, found: found{edits: reuse(f.found.edits)}}
	var bad error
	if s.peek() == '{' {
		s.find(&f.found)
	} else {
		bad = s.bad("item is not an object")
		s.skip()
	}
	if s.err != nil {
		return s.err
	}
	if err := s.oversized("item", began); err != nil {
		return err
	}
	f.object = s.buf[:s.pos]
	return bad
}

// value consumes the value at hand and returns it, or nil if it is over the
// limit. It is valid until the scanner goes on.
func (s *scanner) value() []byte {
	start := s.pos
	if !s.skip() || s.over || s.pos-start > s.limit {
		return nil
	}
	return s.buf[start:s.pos]
}

// read reads a member other than the items. Its value is nil if it is over the
// limit.
func (j *jsonItems) read(name string, value []byte, at int64) error {
	s := scanner{buf: value, base: at}
	switch name {
	case "kind", "metadata":
		if value == nil {
			return &Error{Offset: at, What: fmt.Sprintf("the list's %s is longer than the limit of %d bytes", name, j.scanner.limit)}
		}
		if name == "kind" {
			s.stringValue(&j.kind, "kind")
			j.kind = strings.Clone(j.kind)
		} else {
			s.listMetadata(&j.meta)
		}
	case "message", "reason", "code":
		// They matter if the body is a Status. What else they may be, and that
		// they may be wrong, does not.
		status := j.status
		if s.statusMember(name, &status); s.err == nil {
			j.status = *status.detach()
		}
		return nil
	}
	if e, ok := s.err.(*Error); ok {
		e.Object = false // it is the list's own
		return e
	}
	return nil
}

// finish is called after the list's object.
func (j *jsonItems) finish() error {
	s := &j.scanner
	switch {
	case j.kind == statusKind:
		return notAList(0, "it is a Status: "+j.status.summary())
	case !j.listed:
		return notAList(0, fmt.Sprintf("it has no items, and its kind is %q", j.kind))
	}
	if err := s.border(); err != nil {
		return err
	}
	return &Error{Offset: s.base, What: fmt.Sprintf("body has %q after the list", s.peek())}
}

// listMetadata reads a ListMeta. Its strings are copies.
func (s *scanner) listMetadata(meta *ListMeta) {
	if !s.enterObject("metadata") {
		return
	}
	for key, ok := s.member(true); ok; key, ok = s.member(false) {
		switch s.name(key) {
		case "resourceVersion":
			s.stringValue(&meta.ResourceVersion, "metadata.resourceVersion")
		case "continue":
			s.stringValue(&meta.Continue, "metadata.continue")
		case "remainingItemCount":
			if s.peek() == 'n' {
				meta.RemainingItemCount = 0 // a pointer in the API
			}
			s.integerValue(&meta.RemainingItemCount, 64, "metadata.remainingItemCount")
		default:
			s.skip()
		}
	}
	meta.ResourceVersion, meta.Continue = strings.Clone(meta.ResourceVersion), strings.Clone(meta.Continue)
}
