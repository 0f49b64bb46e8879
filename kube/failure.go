package kube

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gocampus/hark/watch"
	"github.com/gocampus/hark/wire"
)

// request says for people what was asked: the verb, and of what and where.
type request struct{ verb, what string }

func (r request) String() string { return r.verb + " " + r.what }

// refusal is an answer that says no, or the ERROR event of a watch.
type refusal struct {
	code       int          // HTTP status, or the code of the event's Status
	status     *wire.Status // nil when the body is not one
	retryAfter time.Duration
	text       string // what the body says when it is not a Status
}

// refused maps a refusal to the closed set of kinds.
func (r request) refused(a refusal) *watch.Error {
	kind := kindOf(a.code, a.status)
	return &watch.Error{Kind: kind, Code: a.code, Message: r.explain(kind, a), RetryAfter: a.wait()}
}

// message is what the Status says.
func (a refusal) message() string {
	if a.status == nil {
		return ""
	}
	return a.status.Message
}

// plainNotFound is the whole of an API server's answer for a path that it does
// not serve, such as that of a kind whose definition was deleted.
const plainNotFound = `"404 page not found"`

// wait is the server's wish: the header's, else the body's.
func (a refusal) wait() time.Duration {
	if a.retryAfter == 0 && a.status != nil {
		return time.Duration(max(0, a.status.RetryAfterSeconds)) * time.Second
	}
	return a.retryAfter
}

// explain words a refusal. Where the server itself names the user, the verb, the
// resource and the namespace its sentence stands alone.
func (r request) explain(kind watch.ErrorKind, a refusal) string {
	switch {
	case kind == watch.KindNotFound && (a.text == "" || a.text == plainNotFound) && a.message() == "":
		return r.String() + ": the server could not find the requested resource"
	case a.message() == "":
		text := r.String() + ": the server answered " + codeText(a.code)
		if a.text != "" {
			text += ": " + a.text
		}
		return text
	case kind == watch.KindForbidden && strings.Contains(a.message(), "cannot "+r.verb+" "):
		return a.message()
	}
	return r.String() + ": " + a.message()
}

func codeText(code int) string {
	if code == 0 {
		return "with an error and no reason"
	}
	return strings.TrimSpace(strconv.Itoa(code) + " " + http.StatusText(code))
}

// kindOf maps what the server said. A Status is more exact than the HTTP code:
// a too large version and any timeout are both 504.
func kindOf(code int, status *wire.Status) watch.ErrorKind {
	if status != nil {
		if isTooLargeVersion(status) {
			return watch.KindTooLargeVersion
		}
		if kind, ok := kindOfReason[metav1.StatusReason(status.Reason)]; ok {
			return kind
		}
	}
	switch code {
	case http.StatusGone:
		return watch.KindExpired
	case http.StatusTooManyRequests:
		return watch.KindTooManyRequests
	case http.StatusUnauthorized:
		return watch.KindUnauthorized
	case http.StatusForbidden:
		return watch.KindForbidden
	case http.StatusNotFound:
		return watch.KindNotFound
	case http.StatusBadRequest, http.StatusMethodNotAllowed, http.StatusNotAcceptable,
		http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity:
		return watch.KindInvalid
	}
	return watch.KindUnavailable
}

var kindOfReason = map[metav1.StatusReason]watch.ErrorKind{
	metav1.StatusReasonExpired:              watch.KindExpired,
	metav1.StatusReasonGone:                 watch.KindExpired,
	metav1.StatusReasonTooManyRequests:      watch.KindTooManyRequests,
	metav1.StatusReasonUnauthorized:         watch.KindUnauthorized,
	metav1.StatusReasonForbidden:            watch.KindForbidden,
	metav1.StatusReasonNotFound:             watch.KindNotFound,
	metav1.StatusReasonBadRequest:           watch.KindInvalid,
	metav1.StatusReasonInvalid:              watch.KindInvalid,
	metav1.StatusReasonMethodNotAllowed:     watch.KindInvalid,
	metav1.StatusReasonNotAcceptable:        watch.KindInvalid,
	metav1.StatusReasonUnsupportedMediaType: watch.KindInvalid,
}

// isTooLargeVersion recognises a version that the server has not reached. The
// cause came with Kubernetes 1.19 (k8s#92537); before it there is only the text.
func isTooLargeVersion(status *wire.Status) bool {
	for _, cause := range status.Causes {
		if metav1.CauseType(cause) == metav1.CauseTypeResourceVersionTooLarge {
			return true
		}
	}
	timeout := status.Code == http.StatusGatewayTimeout || status.Reason == string(metav1.StatusReasonTimeout)
	return timeout && strings.Contains(status.Message, "Too large resource version")
}

// maxRetryAfterHeader keeps a senseless header from overflowing a Duration.
const maxRetryAfterHeader = 24 * time.Hour

// retryAfter reads a Retry-After header: seconds or an HTTP date (RFC 9110).
func retryAfter(header string, now time.Time) time.Duration {
	header = strings.TrimSpace(header)
	if seconds, err := strconv.ParseUint(header, 10, 63); err == nil || errors.Is(err, strconv.ErrRange) {
		return time.Duration(min(seconds, uint64(maxRetryAfterHeader/time.Second))) * time.Second
	}
	if date, err := http.ParseTime(header); err == nil {
		return min(max(0, date.Sub(now)), maxRetryAfterHeader)
	}
	return 0
}

// failed maps an error that came instead of an answer.
func (r request) failed(err error) *watch.Error {
	var host string
	if urlError, ok := errors.AsType[*url.Error](err); ok {
		if u, parseErr := url.Parse(urlError.URL); parseErr == nil {
			host = u.Host
		}
		err = urlError.Err // less the URL with all its parameters
	}
	text := err.Error()
	if errors.Is(err, syscall.ECONNREFUSED) && host != "" {
		text = "the connection to the server " + host + " was refused"
	}
	return &watch.Error{Kind: watch.KindUnavailable, Message: r.String() + ": " + text, Err: err}
}

// errNoAnswer is the cause with which a request ends that got no answer in time.
var errNoAnswer = errors.New("no answer in time")

func (r request) unanswered(after time.Duration) *watch.Error {
	return &watch.Error{
		Kind:    watch.KindUnavailable,
		Message: fmt.Sprintf("%s: no answer within %s", r, after),
		Err:     errNoAnswer,
	}
}

// broken maps an error of reading a body. An Error of wire that carries a cause
// means that the bytes stopped, which another connection may mend: unavailable.
// Without a cause the bytes themselves are wrong: malformed.
func (r request) broken(err error) *watch.Error {
	wireError, ok := errors.AsType[*wire.Error](err)
	switch {
	case ok && wireError.Object:
		return &watch.Error{Kind: watch.KindObject, Message: r.String() + ": " + err.Error(), Err: err}
	case ok && wireError.Err == nil:
		return &watch.Error{Kind: watch.KindMalformed, Message: r.String() + ": " + err.Error(), Err: err}
	}
	return &watch.Error{Kind: watch.KindUnavailable, Message: r.String() + ": the stream was cut: " + err.Error(), Err: err}
}

// clientGo maps an error of client-go's own requests, such as discovery.
func (r request) clientGo(err error) *watch.Error {
	var api apierrors.APIStatus // not an error itself, as errors.AsType would have it
	if !errors.As(err, &api) {
		return r.failed(err)
	}
	s := api.Status()
	status := &wire.Status{Code: s.Code, Reason: string(s.Reason), Message: s.Message}
	if s.Details != nil {
		status.RetryAfterSeconds = s.Details.RetryAfterSeconds
		for _, cause := range s.Details.Causes {
			status.Causes = append(status.Causes, string(cause.Type))
		}
	}
	mapped := r.refused(refusal{code: int(s.Code), status: status})
	mapped.Err = err
	return mapped
}
