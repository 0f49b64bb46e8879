package conformance

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
)

const protobufType = "application/vnd.kubernetes.protobuf"

// fromJSON encodes a scenario's JSON as the content type that it is sent as.
func fromJSON(contentType string, body []byte) ([]byte, error) {
	if !strings.HasPrefix(contentType, protobufType) {
		return body, nil
	}
	object, _, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, nil)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = protobuf.NewSerializer(scheme.Scheme, scheme.Scheme).Encode(object, &b)
	return b.Bytes(), err
}

// toJSON decodes what came as protobuf, so that it can be read and compared.
func toJSON(contentType string, body []byte) ([]byte, error) {
	if !strings.HasPrefix(contentType, protobufType) || len(body) == 0 {
		return body, nil
	}
	if strings.Contains(contentType, "stream=watch") {
		return eventsToJSON(body)
	}
	return objectToJSON(body)
}

func objectToJSON(data []byte) ([]byte, error) {
	object, err := runtime.Decode(protobuf.NewSerializer(scheme.Scheme, scheme.Scheme), data)
	if err != nil {
		return nil, err
	}
	return json.Marshal(object)
}

// eventsToJSON decodes the frames of a watch: each is its length in four bytes and
// a metav1.WatchEvent.
func eventsToJSON(body []byte) ([]byte, error) {
	var all []byte
	for len(body) > 0 {
		if len(body) < 4 || int(binary.BigEndian.Uint32(body)) > len(body)-4 {
			return nil, fmt.Errorf("the watch ends within a frame")
		}
		frame := body[4 : 4+binary.BigEndian.Uint32(body)]
		body = body[4+len(frame):]
		var event metav1.WatchEvent
		if err := event.Unmarshal(frame); err != nil {
			return nil, err
		}
		object, err := objectToJSON(event.Object.Raw)
		if err != nil {
			return nil, err
		}
		line, err := json.Marshal(map[string]any{"type": event.Type, "object": json.RawMessage(object)})
		if err != nil {
			return nil, err
		}
		all = append(all, line...)
	}
	return all, nil
}
