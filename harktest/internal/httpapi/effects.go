package httpapi

import (
	"bytes"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gocampus/hark/harktest/internal/fault"
	"github.com/gocampus/hark/harktest/internal/service"
)

// faulty carries out the faults that apply to a request and serves it otherwise.
func (h *Handler) faulty(w http.ResponseWriter, r *http.Request, info Info) {
	effects := h.match(info)
	for i := range effects {
		e := &effects[i]
		if e.Delay > 0 && !sleep(r, e.Delay) {
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
	rules := make([]fault.Effect, len(effects))
	for i := range effects {
		rules[i] = effects[i].Effect
	}
	h.serve(w, r, info, rules)
}

// effect is a fault with what the HTTP layer needs to know of it.
type effect struct {
	fault.Effect
	resource schema.GroupResource
	verb     string
	name     string
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
		effects[i] = effect{m, schema.GroupResource{Group: info.Group, Resource: info.Resource}, info.Verb, info.Name}
	}
	return effects
}

// status returns the Status to answer, or nil.
func (e *effect) status() *metav1.Status {
	return ruleStatus(&e.Rule, e.verb, e.resource, e.name)
}

func ruleStatus(r *fault.Rule, verb string, resource schema.GroupResource, name string) *metav1.Status {
	if r.Status != nil {
		return r.Status.DeepCopy()
	}
	if r.Code == 0 {
		return nil
	}
	seconds := int((r.RetryAfter + time.Second - 1) / time.Second)
	status := apierrors.NewGenericServerResponse(r.Code, verb, resource, name, r.Message, seconds, false).ErrStatus
	if r.Message != "" {
		status.Message = r.Message
	}
	if r.Reason != "" {
		status.Reason = r.Reason
	}
	if r.Code == http.StatusGone && r.Reason == "" {
		status.Reason = metav1.StatusReasonExpired
	}
	return &status
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

func sleep(r *http.Request, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.Context().Done():
		return false
	}
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
			if !sleep(w.request, time.Duration(len(piece))*time.Second/time.Duration(rate)) {
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

// eventEffects are the faults of one watch.
type eventEffects struct {
	list                                 []*eventEffect
	noBookmarks, noInitial, noInitialEnd bool
}

type eventEffect struct {
	fault.Effect
	dropped, doubled int
	replayed, spoilt bool
	recent           []service.Event // the last ones, for a replay
}

func newEventEffects(effects []fault.Effect) eventEffects {
	var all eventEffects
	for _, e := range effects {
		all.list = append(all.list, &eventEffect{Effect: e})
		all.noBookmarks = all.noBookmarks || e.NoBookmarks
		all.noInitial = all.noInitial || e.NoInitialEvents
		all.noInitialEnd = all.noInitialEnd || e.NoInitialEnd
	}
	return all
}

// expand returns what is sent instead of an event, the n-th of its watch.
func (all *eventEffects) expand(n int, e service.Event) []service.Event {
	result := []service.Event{e}
	for _, f := range all.list {
		if n < f.AfterEvents {
			f.remember(e)
			continue
		}
		switch {
		case f.dropped < f.DropEvents:
			f.dropped++
			result = nil
		case f.doubled < f.DoubleEvents:
			f.doubled++
			result = append(result, result...)
		case f.ReplayEvents > 0 && !f.replayed:
			f.replayed = true
			result = append(f.recent, result...)
		}
	}
	return result
}

func (f *eventEffect) remember(e service.Event) {
	if f.ReplayEvents == 0 {
		return
	}
	f.recent = append(f.recent, e)
	if len(f.recent) > f.ReplayEvents {
		f.recent = f.recent[1:]
	}
}

// interrupted ends or holds the watch where a fault asks for it, and otherwise
// returns true.
func (s *stream) interrupted() bool {
	for _, f := range s.effects.list {
		if s.seen < f.AfterEvents {
			continue
		}
		if f.Silent {
			s.flush()
			hold(s.request, &effect{Effect: f.Effect})
		}
		if f.EventError {
			s.error(ruleStatus(&f.Rule, "watch", s.kind.Resource(), ""))
			return false
		}
	}
	return true
}

// spoil breaks the frame that begins at start, where a fault asks for it.
func (s *stream) spoil(start int) {
	for _, f := range s.effects.list {
		if s.seen < f.AfterEvents || f.spoilt {
			continue
		}
		if f.CutEvent {
			s.buffer = s.buffer[:start+(len(s.buffer)-start)/2]
			s.flush()
			panic(http.ErrAbortHandler)
		}
		if f.MalformedEvent {
			f.spoilt = true
			s.malform(start)
		}
	}
}

// malform makes the object in a frame undecodable and leaves the frame whole.
func (s *stream) malform(start int) {
	frame := s.buffer[start:]
	if s.media.protobuf() {
		// The object's first field becomes one of an impossible wire type.
		if i := bytes.Index(frame, []byte("k8s\x00")); i >= 0 {
			for j := len(frame) - len(protobufTail) - 1; j > i+4 && j > len(frame)/2; j-- {
				frame[j] = 0xff
			}
		}
		return
	}
	broken := bytes.Replace(frame, []byte(`"metadata":{`), []byte(`"metadata":7,"was":{`), 1)
	s.buffer = append(s.buffer[:start], broken...)
}
