package httpapi

import (
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gocampus/hark/harktest/internal/kind"
	"github.com/gocampus/hark/harktest/internal/object"
)

// form is how objects are answered.
type form uint8

const (
	asWhole   form = iota // as they are
	asTable               // as rows of a metav1.Table
	asPartial             // as metav1.PartialObjectMetadata
)

// media is what was agreed on for an answer.
type media struct {
	encoding string // object.MediaJSON, MediaYAML or MediaProtobuf
	form     form
	pretty   bool
}

func (m media) protobuf() bool { return m.encoding == object.MediaProtobuf }

// contentType returns the header of a single answer.
func (m media) contentType() string { return m.encoding }

// streamType returns the header of a watch.
func (m media) streamType() string {
	if m.protobuf() {
		return m.encoding + ";stream=watch"
	}
	return m.encoding
}

// accepted lists the media types that answers about a kind can have.
func accepted(k *kind.Kind) []string {
	types := []string{object.MediaJSON, object.MediaYAML}
	if k != nil && !k.HasProtobuf() {
		return types
	}
	return append(types, object.MediaProtobuf)
}

// clause is one media range of an Accept header.
type clause struct {
	mediaType string
	params    map[string]string
	quality   float64
}

func parseAccept(header string) []clause {
	var clauses []clause
	for text := range strings.SplitSeq(header, ",") {
		mediaType, params, err := mime.ParseMediaType(text)
		if err != nil {
			continue
		}
		quality := 1.0
		if q, err := strconv.ParseFloat(params["q"], 64); err == nil {
			quality = q
		}
		clauses = append(clauses, clause{mediaType, params, quality})
	}
	slices.SortStableFunc(clauses, func(a, b clause) int {
		switch {
		case a.quality > b.quality:
			return -1
		case a.quality < b.quality:
			return 1
		}
		return 0
	})
	return clauses
}

// negotiate chooses how to answer. objects tells whether the answer is about
// objects, which can be had as a table or as metadata alone.
func negotiate(r *http.Request, k *kind.Kind, objects bool) (media, error) {
	types := accepted(k)
	m := media{encoding: object.MediaJSON, pretty: wantsPretty(r)}
	header := r.Header.Get("Accept")
	if header == "" {
		return m, nil
	}
	for _, c := range parseAccept(header) {
		form, ok := c.form()
		if !ok || form != asWhole && !objects {
			continue
		}
		m.form = form
		switch {
		case c.mediaType == "*/*" || c.mediaType == "application/*":
			return m, nil
		case form != asWhole && c.mediaType == object.MediaProtobuf && form == asPartial:
			m.encoding = c.mediaType // metadata has a protobuf form whatever the kind
			return m, nil
		case slices.Contains(types, c.mediaType):
			m.encoding = c.mediaType
			return m, nil
		}
	}
	return m, notAcceptable(types)
}

// form reads the parameters as, g and v of an Accept clause.
func (c clause) form() (form, bool) {
	as, named := c.params["as"]
	if !named {
		return asWhole, true
	}
	if c.params["g"] != metav1.GroupName || c.params["v"] != "v1" && c.params["v"] != "v1beta1" {
		return asWhole, false
	}
	switch as {
	case "Table":
		return asTable, c.mediaType != object.MediaProtobuf
	case "PartialObjectMetadata", "PartialObjectMetadataList":
		return asPartial, true
	}
	return asWhole, false
}

func notAcceptable(types []string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusNotAcceptable, Reason: metav1.StatusReasonNotAcceptable,
		Message: "only the following media types are accepted: " + strings.Join(types, ", "),
	}}
}

func unsupportedMedia(types []string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusUnsupportedMediaType, Reason: metav1.StatusReasonUnsupportedMediaType,
		Message: "the body of the request was in an unknown format - accepted media types include: " + strings.Join(types, ", "),
	}}
}

// bodyType returns the media type of a request's body; none means JSON.
func bodyType(r *http.Request, types []string) (string, error) {
	header := r.Header.Get("Content-Type")
	if header == "" {
		return object.MediaJSON, nil
	}
	mediaType, _, err := mime.ParseMediaType(header)
	if err != nil || !slices.Contains(types, mediaType) {
		return "", unsupportedMedia(types)
	}
	return mediaType, nil
}

// wantsPretty tells whether a person reads the answer: indented JSON then.
func wantsPretty(r *http.Request) bool {
	if pretty := r.URL.Query().Get("pretty"); pretty != "" {
		return pretty == "true" || pretty == "1"
	}
	agent := r.UserAgent()
	return strings.HasPrefix(agent, "curl/") || strings.HasPrefix(agent, "Wget") || strings.HasPrefix(agent, "Mozilla/")
}

var statusKind = schema.GroupVersionKind{Version: "v1", Kind: "Status"}
