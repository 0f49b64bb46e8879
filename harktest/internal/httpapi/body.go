package httpapi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

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

// readAhead reads the body of a request that will be kept waiting to its end, since
// net/http does not notice before that a client of HTTP/1.1 goes away. It keeps as
// much as readBody looks at. It fails when the client went away or is cut off.
func readAhead(r *http.Request) error {
	if r.Body == nil || r.Body == http.NoBody {
		return nil
	}
	kept, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err == nil {
		_, err = io.Copy(io.Discard, r.Body)
	}
	r.Body = io.NopCloser(bytes.NewReader(kept)) // the server closes its own
	return err
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
	strict, warn := fieldValidation(r)
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

// fieldValidation reads the parameter of that name: unknown fields are an error, a
// warning (the default), or nothing. Other values were refused by writeOptions.
func fieldValidation(r *http.Request) (strict, warn bool) {
	switch r.URL.Query().Get("fieldValidation") {
	case metav1.FieldValidationStrict:
		return true, false
	case metav1.FieldValidationIgnore:
		return false, false
	}
	return false, true
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
	o.DryRun = len(query["dryRun"]) > 0
	return o, validateOptions(r)
}

// validateOptions checks the parameters that all writes share.
func validateOptions(r *http.Request) error {
	query := r.URL.Query()
	dryRun, fields, manager := query["dryRun"], query.Get("fieldValidation"), query.Get("fieldManager")
	switch r.Method {
	case http.MethodPost:
		o := metav1.CreateOptions{DryRun: dryRun, FieldValidation: fields, FieldManager: manager}
		return invalidOptions("CreateOptions", metavalidation.ValidateCreateOptions(&o))
	case http.MethodPatch:
		o := metav1.PatchOptions{DryRun: dryRun, FieldValidation: fields, FieldManager: manager}
		if query.Has("force") {
			o.Force = new(isTrue(query, "force"))
		}
		patchType, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
		return invalidOptions("PatchOptions", metavalidation.ValidatePatchOptions(&o, types.PatchType(patchType)))
	}
	o := metav1.UpdateOptions{DryRun: dryRun, FieldValidation: fields, FieldManager: manager}
	return invalidOptions("UpdateOptions", metavalidation.ValidateUpdateOptions(&o))
}

func invalidOptions(kind string, errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: kind}, "", errs)
}
