package httpapi

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gocampus/hark/harktest/internal/fault"
	"github.com/gocampus/hark/internal/sleep"
)

// faulty carries out the faults that apply to a request and serves it otherwise.
func (h *Handler) faulty(w http.ResponseWriter, r *http.Request, info Info) {
	effects := h.match(info)
	if slices.ContainsFunc(effects, effect.waits) && readAhead(r) != nil {
		return // the client went away
	}
	for i := range effects {
		e := &effects[i]
		if e.Delay > 0 && sleep.For(r.Context(), e.Delay) != nil {
			return
		}
		switch {
		case e.Refuse:
			refuse(w)
		case e.Silent && info.Verb != "watch":
			hold(r, e)
		case e.status() != nil && !e.EventError:
			h.fail(w, r, &apierrors.StatusError{ErrStatus: *e.status()})
			return
		}
		if e.BytesPerSecond > 0 || e.CutAfterBytes > 0 {
			w = &throttle{ResponseWriter: w, request: r, effect: &e.Rule, left: e.CutAfterBytes}
		}
	}
	h.serve(w, r, info, effects)
}

// effect is a fault and the request that it applies to.
type effect struct {
	fault.Effect
	info Info
}

func (h *Handler) match(info Info) []effect {
	if h.options.Faults == nil {
		return nil
	}
	matched := h.options.Faults.Match(fault.Request{
		Verb: info.Verb, Group: info.Group, Resource: info.Resource, Namespace: info.Namespace, Name: info.Name, Subresource: info.Subresource,
	})
	effects := make([]effect, len(matched))
	for i, m := range matched {
		effects[i] = effect{m, info}
	}
	return effects
}

// waits tells whether the fault keeps the client waiting.
func (e effect) waits() bool { return e.Silent || e.Delay > 0 || e.BytesPerSecond > 0 }

// status returns the Status to answer, or nil.
func (e *effect) status() *metav1.Status {
	code := e.Code
	if code == 0 && (e.Status != nil || e.EventError) {
		code = http.StatusInternalServerError
	}
	if e.Status != nil {
		status := e.Status.DeepCopy()
		status.Code = cmp.Or(status.Code, int32(code))
		return status
	}
	if code == 0 {
		return nil
	}
	seconds := int((e.RetryAfter + time.Second - 1) / time.Second)
	status := e.info.statusFor(code, seconds)
	if e.Message != "" {
		status.Message = e.Message
	}
	if e.Reason != "" {
		status.Reason = e.Reason
	}
	if seconds > 0 {
		if status.Details == nil {
			status.Details = &metav1.StatusDetails{}
		}
		status.Details.RetryAfterSeconds = int32(seconds)
	}
	return status
}

// statusFor returns what the API would say with a code.
func (i Info) statusFor(code, seconds int) *metav1.Status {
	resource := schema.GroupResource{Group: i.Group, Resource: i.Resource}
	var err *apierrors.StatusError
	switch code {
	case http.StatusForbidden:
		err = apierrors.NewForbidden(resource, i.Name, i.denial())
	case http.StatusGone:
		err = apierrors.NewResourceExpired("The resourceVersion for the provided list is too old.")
	case http.StatusTooManyRequests:
		err = apierrors.NewTooManyRequests("please try again later", seconds)
	case http.StatusInternalServerError:
		err = apierrors.NewInternalError(errInjected)
	case http.StatusServiceUnavailable:
		err = apierrors.NewServiceUnavailable("apiserver is shutting down")
	case http.StatusGatewayTimeout:
		err = apierrors.NewTimeoutError("request did not complete within the allotted timeout", seconds)
	default:
		err = apierrors.NewGenericServerResponse(code, i.Verb, resource, i.Name, "", seconds, false)
	}
	return &err.ErrStatus
}

var errInjected = errors.New("injected fault")

// denial says what the user may not do, in the words of the API's authorizer.
func (i Info) denial() error {
	resource := i.Resource
	if i.Subresource != "" {
		resource += "/" + i.Subresource
	}
	where := "at the cluster scope"
	if i.Namespace != "" {
		where = fmt.Sprintf("in the namespace %q", i.Namespace)
	}
	return fmt.Errorf("User %q cannot %s resource %q in API group %q %s", user.Username, i.Verb, resource, i.Group, where) // the API's words
}

// refuse closes the connection without an answer.
func refuse(http.ResponseWriter) { panic(http.ErrAbortHandler) }

// hold lets a client wait until it gives up or the fault is lifted, and then
// closes the connection.
func hold(r *http.Request, e *effect) {
	select {
	case <-r.Context().Done():
	case <-e.Lifted():
	}
	panic(http.ErrAbortHandler)
}

// throttle is a slow connection, or one that breaks.
type throttle struct {
	http.ResponseWriter
	request *http.Request
	effect  *fault.Rule
	left    int // bytes until the connection breaks
}

// Unwrap lets http.ResponseController reach the connection.
func (w *throttle) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// ticksPerSecond is in how many pieces a second's bytes are sent.
const ticksPerSecond = 20

// Write implements io.Writer.
func (w *throttle) Write(data []byte) (int, error) {
	written := 0
	for len(data) > 0 {
		piece := data
		if rate := w.effect.BytesPerSecond; rate > 0 {
			piece = data[:min(len(data), max(rate/ticksPerSecond, 1))]
			if sleep.For(w.request.Context(), time.Duration(len(piece))*time.Second/time.Duration(rate)) != nil {
				return written, w.request.Context().Err()
			}
		}
		cut := w.effect.CutAfterBytes > 0 && len(piece) >= w.left
		if cut {
			piece = piece[:w.left]
		}
		n, err := w.ResponseWriter.Write(piece)
		written, w.left, data = written+n, w.left-n, data[len(piece):]
		if cut || w.effect.BytesPerSecond > 0 {
			_ = http.NewResponseController(w.ResponseWriter).Flush()
		}
		if cut {
			panic(http.ErrAbortHandler)
		}
		if err != nil {
			return written, err
		}
	}
	return written, nil
}
