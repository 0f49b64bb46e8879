package wire

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

const (
	listMetadata = 1
	listItems    = 2

	listResourceVersion    = 2
	listContinue           = 3
	listRemainingItemCount = 4
)

// protobufItems reads a list in protobuf: the prefix, then a runtime.Unknown
// whose raw is the list. The fields of both are read as a stream.
type protobufItems struct {
	fieldStream
	limit  int
	begun  bool // the prefix was read
	inside bool // the field at hand is one of the list's, not of the envelope's
	listed bool // the list was read
	used   int  // bytes of the last item, still in the window
	kind   string
	meta   ListMeta
}

func newProtobufItems(r io.Reader, limit int) *protobufItems {
	return &protobufItems{
		fieldStream: fieldStream{window: window{r: r}, end: math.MaxInt64},
		limit:       limit,
	}
}

func (p *protobufItems) listMeta() ListMeta { return p.meta }

func (p *protobufItems) next(f *frame) error {
	p.skip(p.used)
	p.used = 0
	if !p.begun {
		if err := p.begin(); err != nil {
			return err
		}
	}
	for {
		if p.inside && p.offset == p.end {
			p.inside, p.listed, p.end = false, true, math.MaxInt64
		}
		err := p.nextField()
		switch {
		case err == io.EOF && !p.inside:
			return p.finish()
		case err != nil:
			return p.broken(err, "a list")
		case p.inside && p.num == listItems:
			return p.item(f)
		case p.inside:
			err = p.listField()
		default:
			err = p.envelopeField()
		}
		if err != nil {
			return err
		}
	}
}

// begin reads the prefix.
func (p *protobufItems) begin() error {
	if err := p.need(len(envelopePrefix)); err != nil {
		return p.broken(err, "the prefix of a list")
	}
	if string(p.bytes()[:len(envelopePrefix)]) != envelopePrefix {
		return notAList(0, `it does not begin with "k8s\x00"`)
	}
	p.skip(len(envelopePrefix))
	p.begun = true
	return nil
}

// finish is called at the end of the stream between two fields of the envelope.
func (p *protobufItems) finish() error {
	if p.listed {
		return io.EOF
	}
	return p.broken(io.EOF, "the envelope of a list")
}

// item reads the field at hand, an item, into f.
func (p *protobufItems) item(f *frame) error {
	if err := p.expect("an item"); err != nil {
		return err
	}
	if p.length > int64(p.limit) {
		began, length := p.offset, p.length
		if err := p.discard(length); err != nil {
			return p.broken(err, "an item that is over the limit")
		}
		return oversized("item", began, length, p.limit)
	}
	body, err := p.body("an item")
	if err != nil {
		return err
	}
	p.used = len(body)
	*f = frame{object: body, offset: p.offset, found: f.found}
	return nil
}

// listField reads the field at hand, one of the list's other than an item.
func (p *protobufItems) listField() error {
	if p.num != listMetadata {
		return p.skipField()
	}
	return p.small("the metadata of a list", func(meta *message) error {
		return scanListMeta(meta, &p.meta)
	})
}

// envelopeField reads the field at hand, one of the envelope's.
func (p *protobufItems) envelopeField() error {
	switch p.num {
	case unknownTypeMeta:
		return p.small("the type of a list", func(typeMeta *message) error {
			err := scanKind(typeMeta, &p.kind)
			p.kind = strings.Clone(p.kind)
			return err
		})
	case unknownRaw:
		return p.enterList()
	}
	return p.skipField()
}

// enterList goes into the envelope's raw, if it is a list.
func (p *protobufItems) enterList() error {
	if err := p.expect("the list"); err != nil {
		return err
	}
	switch {
	case p.listed:
		return &Error{Offset: p.offset, What: "envelope holds a second list"}
	case p.kind == statusKind:
		return p.isStatus()
	case p.kind != "" && !strings.HasSuffix(p.kind, "List"): // as all built-in lists are named
		return notAList(p.offset, fmt.Sprintf("its kind is %q", p.kind))
	}
	p.inside, p.end = true, p.offset+p.length
	return nil
}

// isStatus makes an error of the Status that came instead of a list.
func (p *protobufItems) isStatus() error {
	began := p.offset
	var status Status
	err := p.small("a Status", func(f *message) error {
		return scanStatusProtobuf(*f, &status)
	})
	if err != nil {
		return err
	}
	return notAList(began, "it is a Status: "+status.summary())
}

// small reads the field at hand, a message of no more than the limit, and skips it.
func (p *protobufItems) small(what string, read func(*message) error) error {
	if err := p.expect(what); err != nil {
		return err
	}
	if p.length > int64(p.limit) {
		return &Error{Offset: p.offset, What: fmt.Sprintf("%s of %d bytes is longer than the limit of %d", what, p.length, p.limit)}
	}
	body, err := p.body(what)
	if err != nil {
		return err
	}
	if err := read(&message{data: body}); err != nil {
		if e, ok := errors.AsType[*Error](err); ok {
			e.Object = false // it is the list's own
		}
		return moved(err, p.offset)
	}
	p.skip(len(body))
	return nil
}

// body gets the field at hand, of BytesType, into the window.
func (p *protobufItems) body(what string) ([]byte, error) {
	if err := p.need(int(p.length)); err != nil {
		return nil, p.broken(err, what)
	}
	return p.bytes()[:p.length], nil
}

// expect fails unless the field at hand is of BytesType.
func (p *protobufItems) expect(what string) error {
	if p.typ == protowire.BytesType {
		return nil
	}
	return &Error{Offset: p.offset, What: fmt.Sprintf("%s has protobuf wire type %d instead of %d", what, p.typ, protowire.BytesType)}
}

// scanListMeta reads a ListMeta. Its strings are copies.
func scanListMeta(f *message, meta *ListMeta) error {
	for f.next() {
		switch f.num {
		case listResourceVersion:
			f.text(&meta.ResourceVersion, "metadata.resourceVersion")
		case listContinue:
			f.text(&meta.Continue, "metadata.continue")
		case listRemainingItemCount:
			f.integer(&meta.RemainingItemCount, "metadata.remainingItemCount")
		}
	}
	meta.ResourceVersion, meta.Continue = strings.Clone(meta.ResourceVersion), strings.Clone(meta.Continue)
	return f.err
}
