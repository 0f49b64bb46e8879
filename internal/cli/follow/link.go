package follow

import (
	"strings"

	"github.com/gocampus/hark/internal/text"
	"github.com/gocampus/hark/kube"
	"github.com/gocampus/hark/reflector"
	"github.com/gocampus/hark/watch"
)

// link follows the states of one connection and picks what is worth saying: one
// line when something is wrong, another for a reason of another kind, and one when
// all is well again; never one for each try.
type link struct {
	kind      kube.Kind
	namespace string
	lang      text.Lang

	troubles map[string]bool // the kinds of reason that were said; nil while all is well
}

// said is one line to say.
type said struct {
	message text.Message
	pairs   []string
}

// next takes the next state and returns what to say of it, if anything.
func (l *link) next(now reflector.Status) []said {
	switch {
	case now.Reason == nil:
		if l.troubles == nil || now.Phase == reflector.Stopped {
			return nil
		}
		l.troubles = nil
		return []said{{text.Connected, []string{"kind", l.kind.GVK.Kind}}}
	case !worthSaying(now):
		return nil
	}
	why := reasonOf(now.Reason, l.lang)
	if l.troubles[why.kind] {
		return nil
	}
	if l.troubles == nil {
		l.troubles = map[string]bool{}
	}
	l.troubles[why.kind] = true
	lines := []said{{troubles[now.Reason.Kind], []string{"kind", l.kind.GVK.Kind, "reason", why.said}}}
	switch {
	case now.Reason.Kind == watch.KindForbidden:
		lines = append(lines, said{text.Try, []string{"command", l.check(now.Reason)}})
	case why.away:
		lines = append(lines, said{text.TryClusterInfo, nil})
	}
	return lines
}

// worthSaying tells whether a failure is of a connection that was at work, keeps
// the events away, or makes everything be listed anew. Others, such as a server
// that does not stream lists, are got round at once.
func worthSaying(now reflector.Status) bool {
	return now.Phase == reflector.Watching || now.Phase == reflector.Waiting || now.Reason.Kind == watch.KindExpired
}

// troubles says each kind of error.
var troubles = map[watch.ErrorKind]text.Message{
	watch.KindUnavailable:     text.ConnectionLost,
	watch.KindExpired:         text.Expired,
	watch.KindTooLargeVersion: text.Expired,
	watch.KindTooManyRequests: text.Throttled,
	watch.KindUnauthorized:    text.Unauthorized,
	watch.KindForbidden:       text.Forbidden,
	watch.KindNotFound:        text.KindGone,
	watch.KindInvalid:         text.OtherFailure,
	watch.KindMalformed:       text.Malformed,
	watch.KindObject:          text.BadObject,
}

// check is the command that shows whether the permission is there. Listing and
// watching are permitted apart from each other; the server's message tells
// which one is missing.
func (l *link) check(reason *watch.Error) string {
	verb := "list"
	if strings.Contains(reason.Message, "cannot watch ") {
		verb = "watch"
	}
	return l.lang.Say(text.CanI, "verb", verb, "resource", l.kind.String(), "scope", l.scope())
}

// scope is how kubectl is told where to look.
func (l *link) scope() string {
	switch {
	case !l.kind.Namespaced:
		return ""
	case l.namespace == "":
		return " -A"
	}
	return " -n " + l.namespace
}
