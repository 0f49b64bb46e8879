package wire

import (
	"errors"
	"io"
)

// ListReader reads the items of one list, in their order. It holds one item in
// memory at a time. It is for one goroutine.
type ListReader struct {
	items  items
	keeper keeper
	frame  frame
	err    error // final
}

// items finds the items of a list.
type items interface {
	// next reads one item into f.
	next(f *frame) error
	// listMeta returns what was read of the list's metadata.
	listMeta() ListMeta
	// release gives back what the stream's buffer holds.
	release(err error)
}

// NewListReader returns a reader of the body of a list, in protobuf or JSON.
// It reads ahead; nobody else may read from r.
func NewListReader(r io.Reader, encoding Encoding, o Options) *ListReader {
	l := &ListReader{keeper: newKeeper(encoding, o)}
	switch encoding {
	case Protobuf:
		l.items = newProtobufItems(r, o.limit())
	case JSON:
		l.items = newJSONItems(r, o.limit())
	default:
		l.err = &Error{What: "unknown " + encoding.String()}
	}
	return l
}

// Next returns the next item. It returns io.EOF after the last one, when the
// whole list is known to have been read, and an *Error otherwise. If the error's
// Object is true one item was bad or over the limit, and the next call goes on
// after it; all other errors are final. A body that is not a list, such as a
// Status, is an error: never an empty list.
func (l *ListReader) Next() (*Object, error) {
	if l.err != nil {
		return nil, l.err
	}
	var o *Object
	err := l.items.next(&l.frame)
	if err == nil {
		o, err = l.keeper.keep(&l.frame)
	}
	if l.keeper.forget(&l.frame); err == nil {
		return o, nil
	}
	if e, ok := errors.AsType[*Error](err); !ok || !e.Object {
		l.err = err
		l.frame = frame{}
		l.items.release(err)
	}
	return nil, err
}

// Meta returns what the list says of itself. It is complete once Next has
// returned io.EOF: the metadata may come after the items.
func (l *ListReader) Meta() ListMeta {
	if l.items == nil {
		return ListMeta{}
	}
	return l.items.listMeta()
}

// notAList is the error for a body that is well-formed and something else.
func notAList(offset int64, what string) error {
	return &Error{Offset: offset, What: "body is not a list: " + what}
}
