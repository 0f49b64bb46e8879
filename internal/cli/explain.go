package cli

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"syscall"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gocampus/hark/internal/cli/demo"
	"github.com/gocampus/hark/internal/cli/follow"
	"github.com/gocampus/hark/internal/text"
	"github.com/gocampus/hark/kube"
	"github.com/gocampus/hark/watch"
)

// failureOf says an error in kubectl's words and adds what to try.
func (s *session) failureOf(err error) *failure {
	if f, ok := errors.AsType[*failure](err); ok {
		return f
	}
	f := &failure{code: exitError, message: "error: " + err.Error(), err: err}
	if missing, ok := errors.AsType[*kube.NoConfigError](err); ok {
		f.message = "error: " + s.say(text.NoConfig, "looked", s.places(missing.Looked))
		f.try = s.say(text.TryDemo, "command", s.asked, "demo", s.command)
		return f
	}
	if unknown, ok := errors.AsType[*kube.NoKindError](err); ok {
		f.message, f.try = "error: "+unknown.Error(), s.say(text.TryKinds)
		return f
	}
	if wrong, ok := errors.AsType[*configError](err); ok {
		s.explainConfig(f, wrong)
		return f
	}
	if stuck, ok := errors.AsType[*demo.StuckError](err); ok {
		f.message = "error: " + s.say(text.DemoStuck, "part", strconv.Itoa(stuck.Part), "time", stuck.After.String(), "reason", stuck.Reason.Error())
	}
	if folder, ok := errors.AsType[*demo.FolderError](err); ok {
		f.message = "error: " + folder.Error()
		f.try = s.say(text.TryFolder, "folder", folder.Folder, "command", s.command+" demo")
	}
	if server, ok := errors.AsType[*serverError](err); ok {
		s.explainServer(f, server)
	}
	if refused, ok := errors.AsType[*follow.RefusedError](err); ok {
		s.explainServer(f, &serverError{err: refused.Err})
		if refused.Check != "" {
			f.try = refused.Check
		}
	}
	return f
}

// explainServer words an error of a request, or of the way to the server.
func (s *session) explainServer(f *failure, e *serverError) {
	if answer, ok := answerOf(e.err); ok {
		s.explainAnswer(f, answer)
		return
	}
	cause := e.err
	if inner, ok := errors.AsType[*watch.Error](cause); ok && inner.Err != nil {
		cause = inner.Err
	}
	if inner, ok := errors.AsType[*url.Error](cause); ok {
		cause = inner.Err
	}
	switch {
	case errors.Is(cause, syscall.ECONNREFUSED):
		f.message = fmt.Sprintf("The connection to the server %s was refused - did you specify the right host or port?", hostOf(e.host))
		f.try = s.say(text.TryServer, "demo", s.command)
	case badCertificate(cause):
		f.message = "Unable to connect to the server: " + cause.Error()
		f.try = s.say(text.TryCertificate)
	default:
		why := cause.Error()
		if errors.Is(cause, errNoAnswer) {
			why = s.say(text.NoAnswer, "time", connectTimeout.String())
		}
		f.message = fmt.Sprintf("Unable to connect to the server: %s: %s", hostOf(e.host), why)
		f.try = s.say(text.TryServer, "demo", s.command)
	}
}

// answerOf returns what the server said, when it said anything.
func answerOf(err error) (metav1.Status, bool) {
	var api apierrors.APIStatus // no error by its type, so AsType cannot find it
	if errors.As(err, &api) {
		return api.Status(), true
	}
	if refused, ok := errors.AsType[*watch.Error](err); ok && refused.Code != 0 {
		return metav1.Status{
			Code: int32(refused.Code), Message: refused.Message, Reason: reasonOf(refused.Kind),
		}, true
	}
	return metav1.Status{}, false
}

// reasonOf is the API's word for an error kind.
func reasonOf(kind watch.ErrorKind) metav1.StatusReason {
	switch kind {
	case watch.KindForbidden:
		return metav1.StatusReasonForbidden
	case watch.KindUnauthorized:
		return metav1.StatusReasonUnauthorized
	case watch.KindNotFound:
		return metav1.StatusReasonNotFound
	case watch.KindInvalid:
		return metav1.StatusReasonBadRequest
	case watch.KindTooManyRequests:
		return metav1.StatusReasonTooManyRequests
	}
	return metav1.StatusReasonUnknown
}

// explainAnswer words what the server said as kubectl does.
func (s *session) explainAnswer(f *failure, answer metav1.Status) {
	if answer.Reason == metav1.StatusReasonUnauthorized {
		f.message = "error: You must be logged in to the server (Unauthorized)"
		f.try = s.say(text.TryLogin)
		return
	}
	f.message = "Error from server: " + answer.Message
	if answer.Reason != metav1.StatusReasonUnknown {
		f.message = fmt.Sprintf("Error from server (%s): %s", answer.Reason, answer.Message)
	}
	switch answer.Reason {
	case metav1.StatusReasonForbidden:
		f.try = s.say(text.TryLogin)
	case metav1.StatusReasonBadRequest:
		if strings.Contains(answer.Message, "field label") {
			f.try = s.say(text.TryField)
		}
	case metav1.StatusReasonNotFound:
		if answer.Details != nil && answer.Details.Kind == "namespaces" {
			f.try = s.say(text.TryNamespaces)
		}
	}
}

func badCertificate(err error) bool {
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return true
	}
	_, ok := errors.AsType[x509.UnknownAuthorityError](err)
	return ok
}

// hostOf takes the scheme and path off a server's address.
func hostOf(address string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		return u.Host
	}
	return address
}
