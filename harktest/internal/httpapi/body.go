package httpapi

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gocampus/hark/harktest/internal/kind"
	"github.com/gocampus/hark/harktest/internal/object"
	"github.com/gocampus/hark/harktest/internal/service"
)

// maxBody is the API's bound on the size of a request's body, in bytes.
const maxBody = 3 << 20

func readBody(r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		return nil, service.BadRequest("reading the body: %v", err)
	}
	if len(body) > maxBody {
		return nil, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d", maxBody))
	}
	return body, nil
}

// readObject reads the body as an object of a kind.
func (h *Handler) readObject(w http.ResponseWriter, r *http.Request, k *kind.Kind) (runtime.Object, error) {
	return h.readKind(w, r, k.GVK, accepted(k))
}

func (h *Handler) readKind(w http.ResponseWriter, r *http.Request, gvk schema.GroupVersionKind, types []string) (runtime.Object, error) {
	mediaType, err := bodyType(r, types)
	if err != nil {
		return nil, err
	}
	body, err := readBody(r)
	if err != nil {
		return nil, err
	}
	strict, warn, err := validation(r)
	if err != nil {
		return nil, err
	}
	obj, err := h.service.Decoder().Decode(body, mediaType, gvk, strict || warn)
	if err != nil && obj != nil && !strict {
		addWarnings(w, err)
		return obj, nil
	}
	if errors.Is(err, object.ErrMediaType) {
		return nil, unsupportedMedia(types)
	}
	return obj, err
}

// validation reads the parameter fieldValidation: unknown fields are an error, a
// warning (the default), or nothing.
func validation(r *http.Request) (strict, warn bool, err error) {
	switch value := r.URL.Query().Get("fieldValidation"); value {
	case metav1.FieldValidationStrict:
		return true, false, nil
	case metav1.FieldValidationIgnore:
		return false, false, nil
	case metav1.FieldValidationWarn, "":
		return false, true, nil
	default:
		return false, false, service.BadRequest("fieldValidation: Unsupported value: %q: supported values: \"Ignore\", \"Strict\", \"Warn\"", value)
	}
}

// addWarnings sends the strict decoder's complaints as Warning headers.
func addWarnings(w http.ResponseWriter, err error) {
	_, list, found := strings.Cut(err.Error(), "strict decoding error: ")
	if !found {
		return
	}
	for warning := range strings.SplitSeq(list, ", ") {
		w.Header().Add("Warning", fmt.Sprintf("299 - %q", warning))
	}
}

// writeOptions reads the parameters that all writes share.
func writeOptions(r *http.Request) (service.WriteOptions, error) {
	query := r.URL.Query()
	o := service.WriteOptions{Manager: query.Get("fieldManager"), Force: isTrue(query, "force")}
	if o.Manager == "" {
		o.Manager, _, _ = strings.Cut(r.UserAgent(), "/")
	}
	dryRun, err := isDryRun(query["dryRun"])
	o.DryRun = dryRun
	return o, err
}

func isDryRun(values []string) (bool, error) {
	if len(values) == 0 {
		return false, nil
	}
	if slices.Equal(values, []string{metav1.DryRunAll}) {
		return true, nil
	}
	return false, service.BadRequest("dryRun: Unsupported value: %q: supported values: \"All\"", values[0])
}
