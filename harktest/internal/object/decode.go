package object

import (
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"

	"github.com/gocampus/hark/harktest/internal/kind"
)

// The media types of request bodies.
const (
	MediaJSON     = "application/json"
	MediaYAML     = "application/yaml"
	MediaProtobuf = "application/vnd.kubernetes.protobuf"
)

// ErrMediaType is returned for a body of another media type.
var ErrMediaType = errors.New("object: unknown media type")

// Decoder reads request bodies. It is safe for concurrent use.
type Decoder struct {
	serializers, strict map[string]runtime.Serializer
}

// NewDecoder returns a decoder for the kinds of a registry.
func NewDecoder(kinds *kind.Registry) *Decoder {
	options := func(yaml, strict bool) runtime.Serializer {
		return json.NewSerializerWithOptions(json.DefaultMetaFactory, kinds, kinds, json.SerializerOptions{Yaml: yaml, Strict: strict})
	}
	proto := protobuf.NewSerializer(kinds, kinds)
	return &Decoder{
		serializers: map[string]runtime.Serializer{MediaJSON: options(false, false), MediaYAML: options(true, false), MediaProtobuf: proto},
		strict:      map[string]runtime.Serializer{MediaJSON: options(false, true), MediaYAML: options(true, true), MediaProtobuf: proto},
	}
}

// Decode reads a body as an object of kind gvk, which is also assumed where the
// body names none. strict makes unknown and doubled fields an error. warnings
// are those fields when strict is false and wanted.
func (d *Decoder) Decode(body []byte, mediaType string, gvk schema.GroupVersionKind, strict bool) (runtime.Object, error) {
	set := d.serializers
	if strict {
		set = d.strict
	}
	serializer := set[mediaType]
	if serializer == nil {
		return nil, ErrMediaType
	}
	obj, actual, err := serializer.Decode(body, &gvk, nil)
	if err != nil && (obj == nil || !runtime.IsStrictDecodingError(err)) {
		return nil, decodeError(err, actual, gvk, body)
	}
	if actual != nil && gvk.Kind != "DeleteOptions" {
		if mismatch := compareKind(*actual, gvk); mismatch != nil {
			return nil, mismatch
		}
	}
	if err != nil {
		return obj, decodeError(err, actual, gvk, body)
	}
	return fromUnknown(obj)
}

// compareKind refuses a body of another kind or version, in the API's words.
func compareKind(actual, want schema.GroupVersionKind) error {
	if actual.Kind != want.Kind || actual.Group != want.Group {
		return apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: no kind %q is registered for version %q",
			actual.Kind, actual.Version, want.Kind, actual.Kind, actual.GroupVersion()))
	}
	if actual.Version != want.Version {
		return apierrors.NewBadRequest(fmt.Sprintf("the API version in the data (%s) does not match the expected API version (%s)",
			actual.GroupVersion(), want.GroupVersion()))
	}
	return nil
}

// summaryLength is how much of a body an error message shows.
const summaryLength = 70

func decodeError(err error, actual *schema.GroupVersionKind, want schema.GroupVersionKind, body []byte) error {
	if actual != nil && actual.Kind != "" {
		return apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", actual.Kind, actual.Version, want.Kind, err))
	}
	summary := strings.ToValidUTF8(string(body[:min(len(body), summaryLength)]), "?")
	return apierrors.NewBadRequest(fmt.Sprintf("the object provided is unrecognized (must be of type %s): %v (%s)", want.Kind, err, summary))
}

// fromUnknown checks an object of a kind without a Go type.
func fromUnknown(obj runtime.Object) (runtime.Object, error) {
	if u, ok := obj.(*unstructured.Unstructured); ok && u.Object == nil {
		return nil, apierrors.NewBadRequest("the object provided is empty")
	}
	return obj, nil
}
