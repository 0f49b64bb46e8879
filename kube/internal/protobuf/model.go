package protobuf

import (
	"reflect"
	"unsafe"
)

// Model is a message and what was made of it. Results that are like it take from it
// what has the same bytes. It is safe for concurrent use.
type Model struct {
	data  string // which never changes
	plan  *message
	value unsafe.Pointer
}

// NewModel decodes data, which never changes, into into as Decode does, and
// returns a Model of the two, which keeps them in memory. From then on into and what
// can be reached from it must not be changed. What is the same in like, nil for none,
// is taken from there. It returns nil where Decode would return false, and for a
// message whose fields are not in the order of their numbers.
func NewModel(data string, into any, like *Model) *Model {
	s := &sharer{decoder: decoder{data: data, stable: data}, strict: true}
	target := reflect.ValueOf(into)
	m := s.decode(target, like)
	if m == nil {
		return nil
	}
	return &Model{data, m, target.UnsafePointer()}
}

// DecodeLike is Decode for a result that nobody changes: what has the same bytes as
// in like is taken from there. It returns how many bytes that was, too, and of how many: those
// of fields that the type does not have are not counted.
func DecodeLike(data, stable string, into any, like *Model) (shared, known int, ok bool) {
	s := &sharer{decoder: decoder{data: data, stable: stable}}
	if s.decode(reflect.ValueOf(into), like) == nil {
		return 0, 0, false
	}
	return s.shared, len(data) - s.unknown, true
}

// Size is the length of the message.
func (m *Model) Size() int { return len(m.data) }

// sharer decodes a message beside another one, the model.
//
// Equal bytes are equal results only where a field's value comes from one place: a
// message in two parts is merged. So fields have to be in the order of their
// numbers, as all encoders write them, in the model everywhere (strict) and in the
// message at hand as far as it is walked side by side. Whatever else there is in
// it the decoder has to see.
type sharer struct {
	decoder
	strict  bool // the result becomes a model
	model   string
	shared  int // bytes that were not decoded, as they are the model's
	unknown int // bytes of fields that the type does not have
}

// part is what is left of a message in the model.
type part struct {
	value   unsafe.Pointer // what the whole message was made into; nil for no message
	at, end int
}

// decode decodes the whole message and returns its plan, nil if it could not.
func (s *sharer) decode(target reflect.Value, like *Model) *message {
	m := planned.planOf(target.Type().Elem())
	if m == nil || m.whole != nil {
		return nil
	}
	var beside part
	if like != nil && like.plan == m {
		s.model, beside = like.data, part{like.value, 0, len(like.data)}
	}
	if !s.message(m, target.UnsafePointer(), 0, len(s.data), beside) {
		target.Elem().SetZero()
		return nil
	}
	return m
}

// message is decoder.message beside a message of the model.
func (s *sharer) message(m *message, p unsafe.Pointer, at, end int, beside part) bool {
	last := uint64(0)
	for data := s.data[:end]; at < end; {
		start := at
		var tag, v uint64
		if behind := at + 1; behind < len(data) && data[at]|data[behind] < 0x80 {
			tag, v = uint64(data[at]), uint64(data[behind])
			at = behind + 1
		} else if tag, v, at = s.head(at, end); at == giveUp {
			return false
		}
		f := m.field(tag)
		switch {
		case f == nil:
			at = m.skip(tag, v, at, end)
			s.unknown += at - start
		case tag < last || tag == last && f.like != unlike:
			return false
		case f.number != nil:
			f.number(unsafe.Add(p, f.offset), v)
		case v > uint64(end-at):
			return false
		case f.bytes == nil:
			stop := at + int(v)
			*(*string)(unsafe.Add(p, f.offset)) = s.text(at, stop)
			at = stop
		case f.like == unlike:
			at = f.bytes(&s.decoder, f, unsafe.Add(p, f.offset), at, at+int(v), end)
		default:
			at = s.take(f, unsafe.Add(p, f.offset), run{start, at, at + int(v), end}, &beside)
		}
		if at == giveUp {
			return false
		}
		last = max(last, tag)
	}
	return true
}

// run is the place of a field or of a list: where its first head and content begin, where
// that ends, and where the message around it does.
type run struct{ start, at, stop, end int }

// take sets the field at p to what the model has if that has the same bytes, and
// decodes it beside that if not. It returns where it stopped, or giveUp.
func (s *sharer) take(f *field, p unsafe.Pointer, r run, beside *part) int {
	var q unsafe.Pointer // the field in the model's value, nil where the model has none
	switch {
	case beside.seek(s.model, f.tag):
		q = unsafe.Add(beside.value, f.offset)
		if stop := s.endOf(f, r); s.same(f, s.data[r.start:stop], beside) {
			s.shared += stop - r.start
			f.share(p, q)
			return stop
		}
	case !s.strict:
		return f.bytes(&s.decoder, f, p, r.at, r.stop, r.end)
	}
	switch f.like {
	case likeMessage:
		return s.nestedBeside(f.message, p, r.at, r.stop, beside.content(s.model, q))
	case likePointer:
		fresh := reflect.New(f.typ).UnsafePointer()
		*(*unsafe.Pointer)(p) = fresh
		if q != nil {
			q = *(*unsafe.Pointer)(q)
		}
		return s.nestedBeside(f.message, fresh, r.at, r.stop, beside.content(s.model, q))
	case likeList:
		return s.list(f, p, r, *beside, (*header)(q))
	}
	return f.bytes(&s.decoder, f, p, r.at, r.stop, r.end)
}

// endOf returns where all that makes up the field ends: with a list or map, the last of
// the values with its tag that follow one another.
func (s *sharer) endOf(f *field, r run) int {
	stop := r.stop
	if f.like.repeats() {
		for at, next := s.again(f.tag, stop, r.end); at != giveUp; at, next = s.again(f.tag, stop, r.end) {
			stop = next
		}
	}
	return stop
}

// nestedBeside is nested beside a message of the model, and returns stop or giveUp.
func (s *sharer) nestedBeside(m *message, p unsafe.Pointer, at, stop int, beside part) int {
	ok := false
	switch {
	case m.whole != nil || beside.value == nil && !s.strict:
		ok = s.nested(m, p, at, stop)
	case s.depth < maxDepth:
		s.depth++
		ok = s.message(m, p, at, stop, beside)
		s.depth--
	}
	if !ok {
		return giveUp
	}
	return stop
}

// list is addMessages beside a list of the model, which is theirs; nil for none.
func (s *sharer) list(f *field, p unsafe.Pointer, r run, beside part, theirs *header) int {
	n := s.run(f.tag, r.stop, r.end)
	elements := f.elements(n)
	*(*header)(p) = header{elements, n, n}
	at, stop := r.at, r.stop
	for i, next := 0, stop; at != giveUp; i++ {
		element, one := unsafe.Add(elements, i*f.size), part{}
		if theirs != nil && i < theirs.len {
			one = beside.content(s.model, unsafe.Add(theirs.data, i*f.size))
			beside.at = one.end
		}
		if one.value != nil && s.data[at:next] == s.model[one.at:one.end] {
			s.shared += next - at
			f.message.copy(element, one.value)
		} else if s.nestedBeside(f.message, element, at, next, one) == giveUp {
			return giveUp
		}
		stop = next
		at, next = s.again(f.tag, stop, r.end)
	}
	return stop
}

// seek goes on to the field with this tag, or to where it would be, and tells
// whether it is there.
func (b *part) seek(model string, tag uint64) bool {
	if b.value == nil {
		return false
	}
	for b.at < b.end {
		next, v, content := headOf(model, b.at, b.end)
		if next >= tag {
			return next == tag
		}
		b.at = content
		if next&typeBits == bytesType {
			b.at += int(v)
		}
	}
	return false
}

// content returns the message in the field that b is at, which was made into value: no
// message for nil.
func (b *part) content(model string, value unsafe.Pointer) part {
	if value == nil {
		return part{}
	}
	_, length, at := headOf(model, b.at, b.end)
	return part{value, at, at + int(length)}
}

// same tells whether the model has these bytes for f, all that it has of f, where
// beside is.
func (s *sharer) same(f *field, bytes string, beside *part) bool {
	rest := s.model[beside.at:beside.end]
	if len(rest) < len(bytes) || rest[:len(bytes)] != bytes {
		return false
	}
	if !f.like.repeats() || len(rest) == len(bytes) {
		return true
	}
	next, _, _ := headOf(rest, len(bytes), len(rest))
	return next != f.tag
}

// headOf is decoder.head of a model, in which all heads are sound.
func headOf(model string, at, end int) (tag, v uint64, next int) {
	if behind := at + 1; behind < end && model[at]|model[behind] < 0x80 {
		return uint64(model[at]), uint64(model[behind]), behind + 1
	}
	d := decoder{data: model}
	return d.head(at, end)
}

// likeness is what a result may share of a field with the model.
type likeness int

const (
	unlike      likeness = iota // nothing: it would not pay
	likeMessage                 // what a message in the struct leads to
	likePointer                 // a message behind a pointer
	likeMap
	likeStrings // a list of texts
	likeList    // a list of messages
)

// repeats tells whether the values of several fields make one.
func (l likeness) repeats() bool { return l >= likeMap }

// share sets the field at p to that at q.
func (f *field) share(p, q unsafe.Pointer) {
	switch f.like {
	case likeMessage:
		f.message.copy(p, q)
	case likePointer, likeMap:
		*(*unsafe.Pointer)(p) = *(*unsafe.Pointer)(q)
	case likeStrings, likeList:
		*(*header)(p) = *(*header)(q)
	}
}

// copy copies the struct at q.
func (m *message) copy(p, q unsafe.Pointer) {
	reflect.NewAt(m.typ, p).Elem().Set(reflect.NewAt(m.typ, q).Elem())
}
