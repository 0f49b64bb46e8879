package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/gocampus/hark/harktest/internal/kind"
	"github.com/gocampus/hark/harktest/internal/object"
)

// protobufTail ends an Unknown message: an empty content encoding and type.
const protobufTail = "\x1a\x00\x22\x00"

// appendVersion appends one object as kind k sees it, with its apiVersion and
// kind, as a document of its own in protobuf or JSON.
func appendVersion(dst []byte, k *kind.Kind, v *object.Version, protobuf bool) ([]byte, error) {
	if protobuf {
		raw, err := v.Protobuf(k)
		if err != nil {
			return dst, err
		}
		dst = append(object.Envelope(dst, k.GVK, len(raw)), raw...)
		return append(dst, protobufTail...), nil
	}
	raw, err := v.JSON(k)
	if err != nil {
		return dst, err
	}
	if k.Unstructured() {
		return append(dst, raw...), nil
	}
	return object.AppendTypedJSON(dst, k.GVK, raw), nil
}

// appendObject is appendVersion for an object that has no version, such as a
// Status or a Scale.
func appendObject(dst []byte, gvk schema.GroupVersionKind, obj runtime.Object, protobuf bool) ([]byte, error) {
	if message, ok := obj.(interface{ Marshal() ([]byte, error) }); ok && protobuf {
		raw, err := message.Marshal()
		if err != nil {
			return dst, err
		}
		dst = append(object.Envelope(dst, gvk, len(raw)), raw...)
		return append(dst, protobufTail...), nil
	}
	obj.GetObjectKind().SetGroupVersionKind(gvk)
	raw, err := json.Marshal(obj)
	return append(dst, raw...), err
}

// answer writes one object.
func (h *Handler) answer(w http.ResponseWriter, r *http.Request, code int, k *kind.Kind, v *object.Version) {
	m, err := negotiateOne(r, k)
	if err != nil {
		h.fail(w, r, err)
		return
	}
	var body []byte
	switch m.form {
	case asTable:
		body, err = appendTable(nil, r, k, &tableOf{versions: []*object.Version{v}, columns: true})
	case asPartial:
		body, err = appendObject(nil, partialKind, object.PartialMetadata(v.Meta()), m.protobuf())
	default:
		body, err = appendVersion(nil, k, v, m.protobuf())
	}
	if err != nil {
		h.fail(w, r, apierrors.NewInternalError(err))
		return
	}
	write(w, code, m, body)
}

// answerObject writes an object that is not stored.
func (h *Handler) answerObject(w http.ResponseWriter, r *http.Request, code int, gvk schema.GroupVersionKind, obj runtime.Object) {
	m, err := negotiate(r, nil, false)
	if err != nil {
		m = media{encoding: object.MediaJSON}
	}
	body, err := appendObject(nil, gvk, obj, m.protobuf())
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	write(w, code, m, body)
}

// write sends a body; JSON is turned into the form that m wants.
func write(w http.ResponseWriter, code int, m media, body []byte) {
	switch {
	case m.encoding == object.MediaYAML:
		if converted, err := yaml.JSONToYAML(body); err == nil {
			body = converted
		}
	case m.encoding == object.MediaJSON && m.pretty:
		var indented bytes.Buffer
		if json.Indent(&indented, body, "", "  ") == nil {
			body = indented.Bytes()
		}
	}
	if m.encoding == object.MediaJSON {
		body = append(body, '\n')
	}
	w.Header().Set("Content-Type", m.contentType())
	w.Header().Set("Cache-Control", "no-cache, private")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(code)
	// A client that went away is told nothing.
	_, _ = w.Write(body)
}

// fail answers an error as a Status.
func (h *Handler) fail(w http.ResponseWriter, r *http.Request, err error) {
	status := statusOf(err)
	if seconds := retryAfter(status); seconds > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(seconds)))
	}
	h.answerObject(w, r, int(status.Code), statusKind, status)
}

func statusOf(err error) *metav1.Status {
	var known apierrors.APIStatus // no error by itself, which errors.AsType wants
	if errors.As(err, &known) {
		status := known.Status()
		return &status
	}
	if errors.Is(err, object.ErrNoProtobuf) {
		status := notAcceptable([]string{object.MediaJSON, object.MediaYAML}).(*apierrors.StatusError).ErrStatus
		return &status
	}
	return &metav1.Status{Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: err.Error()}
}

func retryAfter(status *metav1.Status) int32 {
	if status.Details == nil {
		return 0
	}
	return status.Details.RetryAfterSeconds
}

var partialKind = metav1.SchemeGroupVersion.WithKind("PartialObjectMetadata")
