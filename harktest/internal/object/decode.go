package object

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	jsonserializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

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

// errGone is the API's answer to a request for a kind that is no longer served.
var errGone = apierrors.NewGenericServerResponse(http.StatusNotFound, "", schema.GroupResource{}, "", "404 page not found", 0, false)

// Decoder reads request bodies. It is safe for concurrent use.
type Decoder struct {
	kinds               *kind.Registry
	serializers, strict map[string]runtime.Serializer
}

// NewDecoder returns a decoder for the kinds of a registry.
func NewDecoder(kinds *kind.Registry) *Decoder {
	options := func(yaml, strict bool) runtime.Serializer {
		return jsonserializer.NewSerializerWithOptions(jsonserializer.DefaultMetaFactory, kinds, kinds, jsonserializer.SerializerOptions{Yaml: yaml, Strict: strict})
	}
	proto := protobuf.NewSerializer(kinds, kinds)
	return &Decoder{
		kinds:       kinds,
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
	if k := d.kinds.ByKind(gvk); k != nil && k.Custom {
		if err := checkCustom(body, mediaType, gvk); err != nil {
			return nil, err
		}
	}
	obj, actual, err := serializer.Decode(body, &gvk, nil)
	if err != nil && (obj == nil || !runtime.IsStrictDecodingError(err)) {
		if actual != nil && *actual == gvk && runtime.IsNotRegisteredError(err) {
			return nil, errGone // since the request came
		}
		return nil, decodeError(err, actual, gvk, body)
	}
	if actual != nil {
		if mismatch := compareKind(*actual, gvk); mismatch != nil {
			return nil, mismatch
		}
	}
	if wrong := CheckMeta(obj); wrong != nil {
		return nil, decodeError(wrong, actual, gvk, body)
	}
	if err != nil {
		return obj, decodeError(err, actual, gvk, body)
	}
	return fromUnknown(obj)
}

// CheckMeta returns why the metadata of an object without a Go type is none, or nil.
func CheckMeta(obj runtime.Object) error {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok || u.Object["metadata"] == nil {
		return nil
	}
	raw, err := json.Marshal(u.Object["metadata"])
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, &metav1.ObjectMeta{})
}

// DecodePatched reads the JSON of a patched object. What the kind does not know is
// in unknown; both errors are the decoder's own words.
func (d *Decoder) DecodePatched(body []byte, gvk schema.GroupVersionKind) (obj runtime.Object, unknown, err error) {
	obj, actual, err := d.strict[MediaJSON].Decode(body, &gvk, nil)
	if err != nil && (obj == nil || !runtime.IsStrictDecodingError(err)) {
		return nil, nil, err
	}
	if mismatch := compareKind(*actual, gvk); mismatch != nil {
		return nil, nil, mismatch
	}
	if wrong := CheckMeta(obj); wrong != nil {
		return nil, nil, wrong
	}
	return obj, err, nil
}

// DeleteOptions reads the body of a delete. Its errors are the decoder's own words.
func (d *Decoder) DeleteOptions(body []byte, mediaType string) (*metav1.DeleteOptions, error) {
	serializer := d.serializers[mediaType]
	if serializer == nil {
		return nil, ErrMediaType
	}
	gvk := metav1.SchemeGroupVersion.WithKind("DeleteOptions")
	obj, actual, err := serializer.Decode(body, &gvk, &metav1.DeleteOptions{})
	if err != nil {
		return nil, err
	}
	options, ok := obj.(*metav1.DeleteOptions)
	if !ok || actual.Kind != gvk.Kind {
		return nil, runtime.NewNotRegisteredErrForKind(kind.SchemeName, *actual)
	}
	return options, nil
}

// checkCustom refuses a custom resource that does not say what it is, which others
// need not, or says that it is of another kind.
func checkCustom(body []byte, mediaType string, want schema.GroupVersionKind) error {
	asJSON := body
	if mediaType == MediaYAML {
		if converted, err := yaml.YAMLToJSON(body); err == nil {
			asJSON = converted
		}
	}
	var said struct {
		metav1.TypeMeta `json:",inline"`
		Metadata        struct{ Name string }
	}
	if json.Unmarshal(asJSON, &said) != nil {
		return nil // the decoder says what is wrong
	}
	switch got := said.GroupVersionKind(); {
	case said.Kind == "":
		return decodeError(runtime.NewMissingKindErr(string(body)), nil, want, body)
	case said.APIVersion == "":
		return decodeError(runtime.NewMissingVersionErr(string(body)), nil, want, body)
	case got.Group == want.Group && got.Kind != want.Kind:
		errs := field.ErrorList{field.Invalid(field.NewPath("kind"), got.Kind, "must be "+want.Kind)}
		return apierrors.NewInvalid(got.GroupKind(), said.Metadata.Name, errs)
	}
	return nil
}

// compareKind refuses a body of another kind or version, in the API's words.
func compareKind(actual, want schema.GroupVersionKind) error {
	if actual.Kind != want.Kind || actual.Group != want.Group {
		return apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: converting (%s.%s) to (%s.%s): unknown conversion",
			actual.Kind, actual.Version, want.Kind, actual.Version, actual.Kind, internalGroup(want.Group), want.Kind))
	}
	if actual.Version != want.Version {
		return apierrors.NewBadRequest(fmt.Sprintf("the API version in the data (%s) does not match the expected API version (%s)",
			actual.GroupVersion(), want.GroupVersion()))
	}
	return nil
}

// internalGroup is what the API calls a group within itself.
func internalGroup(group string) string {
	if group == "" {
		return "core"
	}
	name, _, _ := strings.Cut(group, ".")
	return name
}

// summaryLength is how many bytes of a body an error message shows.
const summaryLength = 30

// summary shows the beginning of a body: in hexadecimal unless it may be JSON.
func summary(body []byte) string {
	shown, more := body[:min(len(body), summaryLength)], ""
	if len(body) > summaryLength {
		more = " ..."
	}
	switch {
	case len(body) == 0:
		return "<empty>"
	case body[0] == '{':
		return strings.ToValidUTF8(string(shown), "?") + more
	}
	return hex.EncodeToString(shown) + more
}

func decodeError(err error, actual *schema.GroupVersionKind, want schema.GroupVersionKind, body []byte) error {
	if actual != nil && actual.Kind != "" {
		return apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", actual.Kind, actual.Version, want.Kind, err))
	}
	return apierrors.NewBadRequest(fmt.Sprintf("the object provided is unrecognized (must be of type %s): %v (%s)", want.Kind, err, summary(body)))
}

// fromUnknown checks an object of a kind without a Go type.
func fromUnknown(obj runtime.Object) (runtime.Object, error) {
	if u, ok := obj.(*unstructured.Unstructured); ok && u.Object == nil {
		return nil, apierrors.NewBadRequest("the object provided is empty")
	}
	return obj, nil
}
