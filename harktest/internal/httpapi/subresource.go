package httpapi

import (
	"net/http"
	"slices"

	authenticationv1 "k8s.io/api/authentication/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gocampus/hark/harktest/internal/service"
)

func (h *Handler) serveSubresource(w http.ResponseWriter, r *http.Request, info Info, t service.Target) {
	sub := t.Kind.Subresource(info.Subresource)
	switch {
	case sub == nil:
		h.fail(w, r, noRoute())
	case !slices.Contains(sub.Verbs, info.Verb):
		h.fail(w, r, noMethod())
	case sub.Name == "scale":
		h.serveScale(w, r, info, t)
	case sub.Name == "binding":
		h.bind(w, r, t)
	case sub.Name == "eviction":
		h.evict(w, r, t)
	case sub.Name == "log":
		h.log(w, r, t)
	case sub.Name == "token":
		h.token(w, r, t)
	case sub.Name == "finalize":
		h.finalize(w, r, t)
	case info.Verb == "get":
		h.get(w, r, t)
	case info.Verb == "update":
		h.update(w, r, t)
	default:
		h.patch(w, r, t)
	}
}

func (h *Handler) serveScale(w http.ResponseWriter, r *http.Request, info Info, t service.Target) {
	scale, err := h.scale(w, r, info, t)
	if err != nil {
		h.fail(w, r, err)
		return
	}
	h.answerObject(w, r, http.StatusOK, scaleGVK, scale)
}

var scaleGVK = autoscalingv1.SchemeGroupVersion.WithKind("Scale")

func (h *Handler) scale(w http.ResponseWriter, r *http.Request, info Info, t service.Target) (*autoscalingv1.Scale, error) {
	if info.Verb == "get" {
		version, err := h.service.Get(t)
		if err != nil {
			return nil, err
		}
		return service.ScaleOf(t.Kind, version)
	}
	o, err := writeOptions(r)
	if err != nil {
		return nil, err
	}
	if info.Verb == "patch" {
		p, o, err := readPatch(r, t.Kind)
		if err != nil {
			return nil, err
		}
		if p.Type == types.ApplyYAMLPatchType {
			return h.service.ApplyScale(t, p.Data, o)
		}
		return h.service.UpdateScale(t, func(current *autoscalingv1.Scale) (*autoscalingv1.Scale, error) {
			patched, err := h.service.PatchObject(scaleGVK, current, p)
			if err != nil {
				return nil, err
			}
			return asScale(patched)
		}, o)
	}
	obj, err := h.readKind(w, r, scaleGVK, accepted(nil))
	if err != nil {
		return nil, err
	}
	wanted, err := asScale(obj)
	if err == nil {
		err = service.CheckName(wanted, t)
	}
	if err != nil {
		return nil, err
	}
	return h.service.UpdateScale(t, func(*autoscalingv1.Scale) (*autoscalingv1.Scale, error) { return wanted, nil }, o)
}

func asScale(obj any) (*autoscalingv1.Scale, error) {
	scale, ok := obj.(*autoscalingv1.Scale)
	if !ok {
		return nil, service.BadRequest("expected input object type to be Scale, but %T", obj)
	}
	return scale, nil
}

// succeeded answers a Status that says no more than that.
func (h *Handler) succeeded(w http.ResponseWriter, r *http.Request) {
	h.answerObject(w, r, http.StatusCreated, statusKind, &metav1.Status{Status: metav1.StatusSuccess, Code: http.StatusCreated})
}

func (h *Handler) bind(w http.ResponseWriter, r *http.Request, t service.Target) {
	o, err := writeOptions(r)
	if err != nil {
		h.fail(w, r, err)
		return
	}
	obj, err := h.readKind(w, r, corev1.SchemeGroupVersion.WithKind("Binding"), accepted(nil))
	if err != nil {
		h.fail(w, r, err)
		return
	}
	binding, ok := obj.(*corev1.Binding)
	if !ok {
		h.fail(w, r, service.BadRequest("expected a Binding"))
		return
	}
	if _, err := h.service.Bind(t, binding, o); err != nil {
		h.fail(w, r, err)
		return
	}
	h.succeeded(w, r)
}

func (h *Handler) evict(w http.ResponseWriter, r *http.Request, t service.Target) {
	obj, err := h.readKind(w, r, policyv1.SchemeGroupVersion.WithKind("Eviction"), accepted(nil))
	if err != nil {
		h.fail(w, r, err)
		return
	}
	eviction, ok := obj.(*policyv1.Eviction)
	if !ok {
		h.fail(w, r, service.BadRequest("expected an Eviction"))
		return
	}
	var o metav1.DeleteOptions
	if eviction.DeleteOptions != nil {
		o = *eviction.DeleteOptions
	}
	o.DryRun = append(o.DryRun, r.URL.Query()["dryRun"]...)
	dryRun := len(o.DryRun) > 0
	if err == nil {
		_, _, err = h.service.Delete(service.Target{Kind: t.Kind, Namespace: t.Namespace, Name: t.Name}, o, dryRun)
	}
	if err != nil {
		h.fail(w, r, err)
		return
	}
	h.succeeded(w, r)
}

// log answers an empty log: nothing runs in the containers of this server's pods.
func (h *Handler) log(w http.ResponseWriter, r *http.Request, t service.Target) {
	if _, err := h.service.Get(t); err != nil {
		h.fail(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "text/plain")
	w.WriteHeader(http.StatusOK)
}

func (h *Handler) token(w http.ResponseWriter, r *http.Request, t service.Target) {
	gvk := authenticationv1.SchemeGroupVersion.WithKind("TokenRequest")
	obj, err := h.readKind(w, r, gvk, accepted(nil))
	if err == nil {
		_, err = h.service.Get(t)
	}
	if err != nil {
		h.fail(w, r, err)
		return
	}
	request, ok := obj.(*authenticationv1.TokenRequest)
	if !ok {
		h.fail(w, r, service.BadRequest("expected a TokenRequest"))
		return
	}
	request.Name, request.Namespace = t.Name, t.Namespace
	request.Status.Token = "token-of-" + t.Namespace + "-" + t.Name
	h.answerObject(w, r, http.StatusCreated, gvk, request)
}

func (h *Handler) finalize(w http.ResponseWriter, r *http.Request, t service.Target) {
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
	version, err := h.service.FinalizeNamespace(t, obj, o)
	if err != nil {
		h.fail(w, r, err)
		return
	}
	h.answer(w, r, http.StatusOK, t.Kind, version)
}
