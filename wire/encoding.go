package wire

import (
	"fmt"
	"mime"
)

// Encoding says how an object's bytes are to be read.
type Encoding uint8

const (
	// JSON is one JSON document.
	JSON Encoding = iota + 1
	// Protobuf is one bare protobuf message, without the "k8s\0" envelope.
	Protobuf
)

// The media types that the API serves; a watch in protobuf adds ";stream=watch".
const (
	ContentTypeJSON     = "application/json"
	ContentTypeProtobuf = "application/vnd.kubernetes.protobuf"
)

// String returns "json" or "protobuf".
func (e Encoding) String() string {
	switch e {
	case JSON:
		return "json"
	case Protobuf:
		return "protobuf"
	}
	return fmt.Sprintf("encoding(%d)", uint8(e))
}

// EncodingOf returns the encoding that a Content-Type header announces.
// Parameters such as charset and stream are ignored.
func EncodingOf(contentType string) (Encoding, error) {
	mediaType, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return 0, fmt.Errorf("wire: content type %q: %w", contentType, err)
	}
	switch mediaType {
	case ContentTypeJSON:
		return JSON, nil
	case ContentTypeProtobuf:
		return Protobuf, nil
	}
	return 0, fmt.Errorf("wire: content type %q is neither %s nor %s", contentType, ContentTypeJSON, ContentTypeProtobuf)
}
