package httpapi

import (
	"mime"
	"net/http"
	"slices"
	"strconv"

	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	internalscheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gocampus/hark/harktest/internal/kind"
	"github.com/gocampus/hark/harktest/internal/service"
)

func (h *Handler) get(w http.ResponseWriter, r *http.Request, t service.Target) {
	version, err := h.service.GetAt(t, r.URL.Query().Get("resourceVersion"))
	if err != nil {
		h.fail(w, r, err)
		return
	}
	h.answer(w, r, http.StatusOK, t.Kind, version)
}

func (h *Handler) create(w http.ResponseWriter, r *http.Request, t service.Target) {
	o, err := writeOptions(r)
	if err != nil {
		h.fail(w, r, err)
		return
	}
	obj, err := h.readObject(w, r, t.Kind)
	if err != nil {
		h.fail(w, r, err)
		return
	}
	if slices.Equal(t.Kind.AllVerbs(), []string{"create"}) {
		h.review(w, r, t, obj)
		return
	}
	version, err := h.service.Create(t, obj, o)
	if err != nil {
		h.fail(w, r, err)
		return
	}
	h.answer(w, r, http.StatusCreated, t.Kind, version)
}

func (h *Handler) update(w http.ResponseWriter, r *http.Request, t service.Target) {
	o, err := writeOptions(r)
	if err != nil {
		h.fail(w, r, err)
		return
	}
	obj, err := h.readObject(w, r, t.Kind)
	if err == nil {
		err = service.CheckName(obj, t)
	}
	if err != nil {
		h.fail(w, r, err)
		return
	}
	version, created, err := h.service.Put(t, obj, o)
	if err != nil {
		h.fail(w, r, err)
		return
	}
	h.answer(w, r, codeOf(created), t.Kind, version)
}

func codeOf(created bool) int {
	if created {
		return http.StatusCreated
	}
	return http.StatusOK
}

func (h *Handler) patch(w http.ResponseWriter, r *http.Request, t service.Target) {
	p, o, err := readPatch(r, t.Kind)
	if err != nil {
		h.fail(w, r, err)
		return
	}
	if _, warn := fieldValidation(r); warn {
		p.Warn = func(unknown error) {
			w.Header().Del("Warning") // of an attempt before
			addWarnings(w, unknown)
		}
	}
	if p.Type == types.ApplyYAMLPatchType {
		version, created, err := h.service.Apply(t, p.Data, o)
		if err != nil {
			h.fail(w, r, err)
			return
		}
		h.answer(w, r, codeOf(created), t.Kind, version)
		return
	}
	version, err := h.service.Patch(t, p, o)
	if err != nil {
		h.fail(w, r, err)
		return
	}
	h.answer(w, r, http.StatusOK, t.Kind, version)
}

func readPatch(r *http.Request, k *kind.Kind) (service.Patch, service.WriteOptions, error) {
	var p service.Patch
	o, err := writeOptions(r)
	if err != nil {
		return p, o, err
	}
	accepted := service.PatchTypes(k)
	mediaType, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || !slices.Contains(accepted, mediaType) {
		if k.Unstructured() {
			return p, o, unsupportedMedia(accepted)
		}
		return p, o, service.Generic(http.StatusUnsupportedMediaType, "415: Unsupported Media Type") // says the API's router
	}
	p.Strict, _ = fieldValidation(r)
	p.Type = types.PatchType(mediaType)
	if p.Type == types.ApplyYAMLPatchType {
		o.Manager = r.URL.Query().Get("fieldManager") // an apply must name it
	}
	p.Data, err = readBody(r)
	return p, o, err
}

// deleteOptions reads the options of a delete from the body or the query.
func (h *Handler) deleteOptions(r *http.Request) (metav1.DeleteOptions, bool, error) {
	var o metav1.DeleteOptions
	body, err := readBody(r)
	if err != nil {
		return o, false, err
	}
	if len(body) > 0 {
		mediaType, err := bodyType(r, accepted(nil))
		if err != nil {
			return o, false, err
		}
		options, err := h.service.Decoder().DeleteOptions(body, mediaType)
		if err != nil {
			return o, false, service.BadRequest("%v", err)
		}
		o = *options
	} else if err := internalscheme.ParameterCodec.DecodeParameters(r.URL.Query(), metav1.SchemeGroupVersion, &o); err != nil {
		return o, false, service.BadRequest("%v", err)
	}
	if errs := validation.ValidateDeleteOptions(&o); len(errs) > 0 {
		return o, false, invalidOptions("DeleteOptions", errs)
	}
	return o, len(o.DryRun) > 0, nil
}

func (h *Handler) delete(w http.ResponseWriter, r *http.Request, t service.Target) {
	o, dryRun, err := h.deleteOptions(r)
	if err != nil {
		h.fail(w, r, err)
		return
	}
	version, gone, err := h.service.Delete(t, o, dryRun)
	if err != nil {
		h.fail(w, r, err)
		return
	}
	if !gone || returnsDeleted(t.Kind) {
		h.answer(w, r, http.StatusOK, t.Kind, version)
		return
	}
	h.answerObject(w, r, http.StatusOK, statusKind, &metav1.Status{
		Status: metav1.StatusSuccess,
		Details: &metav1.StatusDetails{
			Name: t.Name, Group: t.Kind.GVK.Group, Kind: t.Kind.Plural, UID: version.Meta().GetUID(),
		},
	})
}

// returnsDeleted tells whether a deletion answers the object rather than a Status.
func returnsDeleted(k *kind.Kind) bool {
	switch k.Storage() {
	case "pods", "services", "namespaces", "persistentvolumes", "persistentvolumeclaims", "serviceaccounts", "podtemplates", "resourcequotas",
		"storageclasses.storage.k8s.io", "volumeattachments.storage.k8s.io", "csidrivers.storage.k8s.io", "csinodes.storage.k8s.io",
		"volumeattributesclasses.storage.k8s.io":
		return true
	}
	return k.GVK.Group == "resource.k8s.io"
}

func (h *Handler) deleteCollection(w http.ResponseWriter, r *http.Request, t service.Target) {
	o, dryRun, err := h.deleteOptions(r)
	if err != nil {
		h.fail(w, r, err)
		return
	}
	listed, err := listOptions(r)
	if err != nil {
		h.fail(w, r, err)
		return
	}
	list, err := h.service.DeleteCollection(t, listed, o, dryRun)
	if err != nil {
		h.fail(w, r, err)
		return
	}
	h.answerList(w, r, t.Kind, list)
}

func listOptions(r *http.Request) (metainternal.ListOptions, error) {
	var o metainternal.ListOptions
	if err := internalscheme.ParameterCodec.DecodeParameters(r.URL.Query(), metav1.SchemeGroupVersion, &o); err != nil {
		return o, service.BadRequest("%v", err)
	}
	return o, nil
}

func versionText(v uint64) string { return strconv.FormatUint(v, 10) }
