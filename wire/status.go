package wire

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

const (
	statusMessage = 3
	statusReason  = 4
	statusDetails = 5
	statusCode    = 6

	detailsCauses     = 4
	detailsRetryAfter = 5

	causeReason = 1

	statusKind = "Status"
)

// ParseStatus reads the body of a failed request: a metav1.Status as a JSON
// document or as protobuf in its "k8s\0" envelope. A body that is anything else,
// such as a proxy's page, is an *Error. The Status does not refer to body.
func ParseStatus(encoding Encoding, body []byte) (*Status, error) {
	var status Status
	var kind string
	var err error
	switch encoding {
	case Protobuf:
		kind, err = scanStatusEnvelope(body, &status)
	case JSON:
		kind, err = scanStatusJSON(body, &status)
	default:
		err = &Error{What: "unknown " + encoding.String()}
	}
	if err == nil && kind != statusKind {
		err = &Error{What: fmt.Sprintf("body is not a Status: its kind is %q", kind)}
	}
	if err != nil {
		return nil, err
	}
	return status.detach(), nil
}

// detach returns a copy that does not alias the bytes it was scanned from.
func (s Status) detach() *Status {
	s.Reason, s.Message = strings.Clone(s.Reason), strings.Clone(s.Message)
	for i, cause := range s.Causes {
		s.Causes[i] = strings.Clone(cause)
	}
	return &s
}

// summary says in one line what a Status says.
func (s *Status) summary() string {
	return fmt.Sprintf("%d %s: %s", s.Code, s.Reason, s.Message)
}

func scanStatusEnvelope(body []byte, status *Status) (kind string, err error) {
	kind, object, err := unwrap(message{data: body})
	if err != nil || kind != statusKind {
		return kind, err
	}
	return kind, scanStatusProtobuf(object, status)
}

// scanStatusProtobuf reads a bare Status message.
func scanStatusProtobuf(f message, status *Status) error {
	for f.next() {
		switch f.num {
		case statusMessage:
			f.text(&status.Message, "a status's message")
		case statusReason:
			f.text(&status.Reason, "a status's reason")
		case statusCode:
			f.integer32(&status.Code, "a status's code")
		case statusDetails:
			f.err = scanStatusDetails(f.enter("a status's details"), status)
		}
	}
	return f.err
}

func scanStatusDetails(f message, status *Status) error {
	for f.next() {
		switch f.num {
		case detailsRetryAfter:
			f.integer32(&status.RetryAfterSeconds, "a status's retryAfterSeconds")
		case detailsCauses:
			var reason string
			cause := f.enter("a status's causes")
			for cause.next() {
				if cause.num == causeReason {
					cause.text(&reason, "a cause's reason")
				}
			}
			status.Causes = append(status.Causes, reason)
			f.err = cause.err
		}
	}
	return f.err
}

// envelopePrefix begins every protobuf body and object of the API but watch
// frames.
const envelopePrefix = "k8s\x00"

const (
	unknownTypeMeta = 1
	unknownRaw      = 2

	typeMetaKind = 2
)

// unwrap takes a message out of its envelope: the prefix and a runtime.Unknown,
// which names the kind. As for a decoder, the last of several messages counts.
func unwrap(f message) (kind string, object message, err error) {
	if len(f.data) < len(envelopePrefix) || string(f.data[:len(envelopePrefix)]) != envelopePrefix {
		return "", object, &Error{Offset: int64(f.base), What: `protobuf without the prefix "k8s\x00"`, Object: true}
	}
	f.pos = len(envelopePrefix)
	object = message{base: f.base + len(f.data)}
	for f.next() {
		switch f.num {
		case unknownTypeMeta:
			typeMeta := f.enter("typeMeta")
			f.err = scanKind(&typeMeta, &kind)
		case unknownRaw:
			object = f.enter("the object of an envelope")
		}
	}
	return kind, object, f.err
}

// scanKind reads the kind of a TypeMeta.
func scanKind(typeMeta *message, kind *string) error {
	for typeMeta.next() {
		if typeMeta.num == typeMetaKind {
			typeMeta.text(kind, "typeMeta.kind")
		}
	}
	return typeMeta.err
}

// integer32 stores the field at hand, an int32, in dst.
func (m *message) integer32(dst *int32, name string) {
	if m.expect(protowire.VarintType, name) {
		*dst = int32(m.varint)
	}
}
