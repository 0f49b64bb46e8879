package follow

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/gocampus/hark/informer"
	"github.com/gocampus/hark/internal/printer"
	"github.com/gocampus/hark/internal/text"
	"github.com/gocampus/hark/kube"
	"github.com/gocampus/hark/record"
	"github.com/gocampus/hark/reflector"
	"github.com/gocampus/hark/watch"
)

// stream is one target that is being followed.
type stream struct {
	follower *Follower
	kind     kube.Kind
	name     string
	cancel   context.CancelCauseFunc // ends the whole Follower
	link     link
	tap      *record.Tap // nil when nothing is recorded
}

func (f *Follower) stream(kind kube.Kind, name string, cancel context.CancelCauseFunc) *stream {
	return &stream{
		follower: f, kind: kind, name: name, cancel: cancel,
		link: link{kind: kind, namespace: f.options.Namespace, lang: f.options.Lang},
	}
}

// PrintedKind is a kind as the printer names it.
func PrintedKind(kind kube.Kind) printer.Kind {
	return printer.Kind{Group: kind.GVK.Group, Version: kind.GVK.Version, Kind: kind.GVK.Kind}
}

// event records, and prints or hands on, what a handler is told. It is called one
// event after another.
func (s *stream) event(e informer.Event) {
	f := s.follower
	now := time.Now()
	if f.options.Handle != nil {
		s.record(now, e)
		f.options.Handle(s.kind, e)
		return
	}
	event := Printed(f.options.Printer, s.kind, e, now)
	if event.Err != nil {
		f.say(text.Undecodable, "kind", s.kind.GVK.Kind, "key", e.Key.String(), "reason", event.Err.Error())
	}
	if err := f.print(event, func() { s.record(now, e) }); err != nil {
		s.cancel(err)
		return
	}
	if f.options.Printed != nil {
		f.options.Printed(e)
	}
}

// record records an event, where that was asked for.
func (s *stream) record(at time.Time, e informer.Event) {
	if s.tap != nil {
		s.tap.Record(at, e)
	}
}

// print writes one event, and has it recorded in the order in which events are
// printed.
func (f *Follower) print(event printer.Event, record func()) error {
	if event.Merged > 0 && f.firstMerge() {
		f.say(text.Merged)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	record()
	out, err := f.options.Printer.Append(f.buffer[:0], event)
	if err != nil {
		return err
	}
	f.buffer = out
	if cap(f.buffer) > largestBuffer {
		f.buffer = nil
	}
	_, err = f.options.Out.Write(out)
	return err
}

// largestBuffer bounds the memory that is kept between events.
const largestBuffer = 1 << 20

func (f *Follower) firstMerge() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	first := !f.merged
	f.merged = true
	return first
}

// status says what becomes of the connection, and ends everything when the
// server refuses what trying again does not mend.
func (s *stream) status(now reflector.Status) {
	if final(now, s.follower.options.NoWait) {
		refused := &RefusedError{Err: now.Reason}
		if now.Reason.Kind == watch.KindForbidden {
			refused.Check = s.link.check(now.Reason)
		}
		s.cancel(refused)
		return
	}
	for _, line := range s.link.next(now) {
		s.follower.say(line.message, line.pairs...)
	}
}

// final tells whether a first request was refused for what it asks, or for who
// asks. Once a watch has been at work, credentials may be renewed. Without waiting
// it is final, too, that there is no permission or no such resource.
func final(now reflector.Status, noWait bool) bool {
	if now.Phase != reflector.Waiting || now.Reason == nil {
		return false
	}
	switch now.Reason.Kind {
	case watch.KindForbidden, watch.KindNotFound:
		return noWait
	case watch.KindUnauthorized:
		return noWait || !now.Synced
	case watch.KindInvalid:
		return !now.Synced
	}
	return false
}

func (s *stream) badObject(bad *watch.Error) {
	s.follower.say(text.BadObject, "kind", s.kind.GVK.Kind, "reason", bad.Error())
}

// ready waits until all that existed is printed. It says it when the one object
// that is watched does not exist, or ends everything when that is not waited for.
func (s *stream) ready(ctx context.Context, i *informer.Informer, told *informer.Registration) {
	if told.WaitSync(ctx) != nil {
		return // the end came first
	}
	if s.name != "" && i.Store().Len() == 0 {
		if s.follower.options.NoWait {
			s.cancel(&RefusedError{Err: &watch.Error{
				Kind: watch.KindNotFound, Code: http.StatusNotFound, Message: fmt.Sprintf("%s %q not found", s.kind, s.name),
			}})
			return
		}
		s.follower.say(text.WaitingForName, "name", s.kind.String()+"/"+s.name)
	}
	if s.follower.options.Ready != nil {
		s.follower.options.Ready()
	}
}
