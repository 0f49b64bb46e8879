package watchtest

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/gocampus/hark/watch"
	"github.com/gocampus/hark/wire"
)

// Source is a watch.Source that answers one request after the other from a
// script. A request beyond the script stays open and silent until its context
// ends. It is safe for concurrent use.
type Source struct {
	mu       sync.Mutex
	script   []Answer
	requests []string
}

// Answer is what one request gets.
type Answer struct {
	// Err refuses the request.
	Err error
	// Items and Meta answer a list.
	Items []*wire.Object
	Meta  wire.ListMeta
	// Steps of the answer, in order: items of a list come before Meta, those
	// of a watch until its end.
	Steps []Step
	// End of the stream: nil keeps it open, silent, until its context ends.
	End error
}

// Step is one thing that a stream delivers.
type Step struct {
	Event watch.Event
	Err   error
	// Wait before it is delivered.
	Wait time.Duration
	// When delays it until the channel is closed.
	When <-chan struct{}
}

// New returns a source that plays answers in order.
func New(answers ...Answer) *Source { return &Source{script: answers} }

// Then replaces what is left of the script.
func (s *Source) Then(answers ...Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script = answers
}

// Requests returns what was asked so far, one line a request.
func (s *Source) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.requests...)
}

func (s *Source) next(request string) Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, request)
	if len(s.script) == 0 {
		return Answer{}
	}
	answer := s.script[0]
	s.script = s.script[1:]
	return answer
}

// List implements watch.Source.
func (s *Source) List(ctx context.Context, o watch.ListOptions) (watch.ListStream, error) {
	answer := s.next(ListText(o))
	if answer.Err != nil {
		return nil, answer.Err
	}
	for _, item := range answer.Items {
		answer.Steps = append(answer.Steps, Step{Event: watch.Event{Object: item}})
	}
	if answer.End == nil && answer.Meta.ResourceVersion != "" {
		answer.End = io.EOF
	}
	return &list{stream: stream{ctx: ctx, answer: answer}}, nil
}

// Watch implements watch.Source.
func (s *Source) Watch(ctx context.Context, o watch.WatchOptions) (watch.Stream, error) {
	answer := s.next(WatchText(o))
	if answer.Err != nil {
		return nil, answer.Err
	}
	return &stream{ctx: ctx, answer: answer}, nil
}

// ListText writes list options as in a script's record.
func ListText(o watch.ListOptions) string {
	text := fmt.Sprintf("list rv=%q", o.ResourceVersion)
	if o.Limit != 0 {
		text += fmt.Sprintf(" limit=%d", o.Limit)
	}
	if o.Continue != "" {
		text += fmt.Sprintf(" continue=%q", o.Continue)
	}
	return text
}

// WatchText writes watch options as in a script's record, without the timeout.
func WatchText(o watch.WatchOptions) string {
	text := fmt.Sprintf("watch rv=%q", o.ResourceVersion)
	if o.SendInitialEvents {
		text += " initial"
	}
	return text
}

// stream is a watch.Tuner: its steps up to the next one that waits have come in
// together. It keeps nothing.
type stream struct {
	ctx    context.Context
	answer Answer
	tuning watch.Tuning
}

var _ watch.Tuner = (*stream)(nil)

// Tune implements watch.Tuner.
func (s *stream) Tune(t watch.Tuning) { s.tuning = t }

// beforeWait is called before each wait, and before the end, which a reader learns
// by reading.
func (s *stream) beforeWait() {
	if s.tuning.BeforeRead != nil {
		s.tuning.BeforeRead()
	}
}

// Next implements watch.Stream.
func (s *stream) Next() (watch.Event, error) {
	if len(s.answer.Steps) == 0 {
		s.beforeWait()
		if s.answer.End != nil {
			return watch.Event{}, s.answer.End
		}
		<-s.ctx.Done()
		return watch.Event{}, context.Cause(s.ctx)
	}
	step := s.answer.Steps[0]
	s.answer.Steps = s.answer.Steps[1:]
	if step.Wait > 0 || step.When != nil {
		s.beforeWait()
	}
	if err := step.wait(s.ctx); err != nil {
		return watch.Event{}, err
	}
	return step.Event, step.Err
}

func (s *Step) wait(ctx context.Context) error {
	if s.Wait > 0 {
		select {
		case <-time.After(s.Wait):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if s.When != nil {
		select {
		case <-s.When:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// Close implements watch.Stream.
func (s *stream) Close() error { return nil }

type list struct{ stream stream }

// Tune implements watch.Tuner.
func (l *list) Tune(t watch.Tuning) { l.stream.Tune(t) }

// Next implements watch.ListStream.
func (l *list) Next() (*wire.Object, error) {
	event, err := l.stream.Next()
	return event.Object, err
}

// Meta implements watch.ListStream.
func (l *list) Meta() wire.ListMeta { return l.stream.answer.Meta }

// Close implements watch.ListStream.
func (l *list) Close() error { return nil }

// Added, Modified and Deleted make the steps of a watch.
func Added(text string) Step { return change(watch.EventAdded, text) }

// Modified makes a MODIFIED event.
func Modified(text string) Step { return change(watch.EventModified, text) }

// Deleted makes a DELETED event.
func Deleted(text string) Step { return change(watch.EventDeleted, text) }

func change(t watch.EventType, text string) Step {
	return Step{Event: watch.Event{Type: t, Object: Object(text)}}
}

// Bookmark makes a BOOKMARK event.
func Bookmark(version string) Step {
	return Step{Event: watch.Event{Type: watch.EventBookmark, ResourceVersion: version}}
}

// InitialEnd makes the BOOKMARK that ends a streaming list's initial events.
func InitialEnd(version string) Step {
	return Step{Event: watch.Event{Type: watch.EventBookmark, ResourceVersion: version, InitialEventsEnd: true}}
}

// Error makes an ERROR event.
func Error(kind watch.ErrorKind) Step {
	return Step{Event: watch.Event{Type: watch.EventError, Err: &watch.Error{Kind: kind}}}
}

// List makes the answer to a list: its version, then its items.
func List(version string, items ...string) Answer {
	answer := Answer{Meta: wire.ListMeta{ResourceVersion: version}}
	for _, item := range items {
		answer.Items = append(answer.Items, Object(item))
	}
	return answer
}

// Watch makes the answer to a watch that stays open after its steps.
func Watch(steps ...Step) Answer { return Answer{Steps: steps} }

// Stream makes the answer to a streaming list: the items, the end bookmark at
// version, then further steps.
func Stream(version string, items []string, steps ...Step) Answer {
	var all []Step
	for _, item := range items {
		all = append(all, Added(item))
	}
	return Answer{Steps: append(append(all, InitialEnd(version)), steps...)}
}

// Refuse makes an answer that refuses the request.
func Refuse(kind watch.ErrorKind) Answer { return Answer{Err: &watch.Error{Kind: kind}} }

// ThenEnd ends the answer's stream with err (io.EOF: regularly).
func (a Answer) ThenEnd(err error) Answer {
	a.End = err
	return a
}
