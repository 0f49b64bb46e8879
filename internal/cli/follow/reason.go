package follow

import (
	"errors"
	"io"
	"net"
	"strings"
	"syscall"

	"github.com/gocampus/hark/internal/text"
	"github.com/gocampus/hark/watch"
)

// reason is why a connection is in trouble, in words for people: what the bytes
// of a broken stream looked like helps nobody who waits for the server.
type reason struct {
	said string
	// kind tells reasons apart: one of the same kind is not said again.
	kind string
	// away tells that the server cannot be reached, which can be looked into.
	away bool
}

// reasonOf words the reason of an error. What the server itself said is kept.
func reasonOf(e *watch.Error, lang text.Lang) reason {
	kind := e.Kind.String()
	if e.Kind != watch.KindUnavailable || e.Code != 0 {
		return reason{said: e.Error(), kind: kind}
	}
	lookup, unknownHost := errors.AsType[*net.DNSError](e.Err)
	timeout, _ := errors.AsType[net.Error](e.Err)
	switch {
	case errors.Is(e.Err, syscall.ECONNREFUSED):
		return reason{said: lang.Say(text.ReasonRefused, "server", serverOf(e.Err)), kind: kind + ", refused", away: true}
	case unknownHost:
		return reason{said: lang.Say(text.ReasonNoHost, "host", lookup.Name), kind: kind + ", no host", away: true}
	case timeout != nil && timeout.Timeout() || strings.Contains(e.Message, ": no answer within "):
		return reason{said: lang.Say(text.ReasonSilent), kind: kind + ", silent", away: true}
	case errors.Is(e.Err, io.EOF), errors.Is(e.Err, io.ErrUnexpectedEOF), errors.Is(e.Err, syscall.ECONNRESET),
		strings.Contains(e.Message, ": the stream was cut: "):
		return reason{said: lang.Say(text.ReasonCut), kind: kind + ", cut"}
	}
	return reason{said: e.Error(), kind: kind}
}

// serverOf is the address that an error of dialling names, "" when it names none.
func serverOf(err error) string {
	if dialled, ok := errors.AsType[*net.OpError](err); ok && dialled.Addr != nil {
		return dialled.Addr.String()
	}
	return ""
}
