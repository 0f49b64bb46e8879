package httpapi

import (
	"cmp"
	"fmt"
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
	"github.com/gocampus/hark/harktest/internal/service"
)

// form is how objects are answered.
type form uint8

const (
	asWhole    form = iota // as they are
	asTable                // as rows of a metav1.Table
	asPartial              // as metav1.PartialObjectMetadata
	asPartials             // as metav1.PartialObjectMetadataList
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
	clauses := parseAccept(header)
	if k != nil && !k.Unstructured() && !slices.ContainsFunc(clauses, func(c clause) bool {
		return c.mediaType == "*/*" || slices.Contains(types, c.mediaType)
	}) { // the API's router says so, before it looks at the parameters
		return m, service.Generic(http.StatusNotAcceptable, "406: Not Acceptable\n\nAvailable representations: "+strings.Join(types, ", "))
	}
	for _, c := range clauses {
		form, ok := c.form()
		if !ok || form != asWhole && !objects {
			continue
		}
		m.form = form
		switch {
		case c.mediaType == "*/*" || c.mediaType == "application/*":
			return m, nil
		case form != asWhole && c.mediaType == object.MediaProtobuf && form != asTable:
			m.encoding = c.mediaType // metadata has a protobuf form whatever the kind
			return m, nil
		case slices.Contains(types, c.mediaType):
			m.encoding = c.mediaType
			return m, nil
		}
	}
	return m, notAcceptable(accepted(nil))
}

// negotiateOne is negotiate for an answer of one object.
func negotiateOne(r *http.Request, k *kind.Kind) (media, error) {
	m, err := negotiate(r, k, true)
	if err == nil && m.form == asPartials {
		err = wrongForm("PartialObjectMetadataList", "not a list", k, "")
	}
	return m, err
}

// negotiateList is negotiate for a list.
func negotiateList(r *http.Request, k *kind.Kind) (media, error) {
	m, err := negotiate(r, k, true)
	if err == nil && m.form == asPartial {
		err = wrongForm("PartialObjectMetadata", "a list", k, "List")
	}
	return m, err
}

// wrongForm refuses one for many or many for one, in the API's words.
func wrongForm(wanted, is string, k *kind.Kind, suffix string) error {
	group, _, _ := strings.Cut(k.GVK.Group, ".")
	err := notAcceptable(nil).(*apierrors.StatusError)
	err.ErrStatus.Message = fmt.Sprintf("you requested %s, but the requested object is %s (*%s.%s%s)", wanted, is, cmp.Or(group, "core"), k.GVK.Kind, suffix)
	return err
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
	case "PartialObjectMetadata":
		return asPartial, true
	case "PartialObjectMetadataList":
		return asPartials, true
	}
	return asWhole, false
}

// negotiateStream is negotiate for a watch, which is not to be had as YAML.
func negotiateStream(r *http.Request, k *kind.Kind) (media, error) {
	m, err := negotiate(r, k, true)
	if m.form == asPartials {
		m.form = asPartial
	}
	if err == nil && m.encoding == object.MediaYAML {
		types := slices.DeleteFunc(accepted(k), func(t string) bool { return t == object.MediaYAML })
		for i := range types {
			types[i] += ";stream=watch"
		}
		err = notAcceptable(types)
	}
	return m, err
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
