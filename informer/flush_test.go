package informer

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocampus/hark/internal/watchtest"
	"github.com/gocampus/hark/reflector"
	"github.com/gocampus/hark/watch"
)

// stuck is a source that never answers a request after the first few.
type stuck struct {
	watch.Source
	answers atomic.Int32 // that are left
}

func (s *stuck) List(ctx context.Context, o watch.ListOptions) (watch.ListStream, error) {
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	return s.Source.List(ctx, o)
}

func (s *stuck) Watch(ctx context.Context, o watch.WatchOptions) (watch.Stream, error) {
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	return s.Source.Watch(ctx, o)
}

func (s *stuck) open(ctx context.Context) error {
	if s.answers.Add(-1) >= 0 {
		return nil
	}
	<-ctx.Done()
	return context.Cause(ctx)
}

// later is a step that comes when handlers have been told all that was before it,
// and sleep.
func later(step watchtest.Step) watchtest.Step {
	step.Wait = time.Second
	return step
}

// TestHandlersAreToldWhatIsKnownBeforeARequestIsOpened: the server may take its time
// to answer it.
func TestHandlersAreToldWhatIsKnownBeforeARequestIsOpened(t *testing.T) {
	initial, b, expires := watchtest.List("5", "a@5"), later(watchtest.Added("b@6")), later(watchtest.Error(watch.KindExpired))
	for name, test := range map[string]struct {
		answers []watchtest.Answer
		want    string // the last that is told
	}{
		"a watch that expires": {
			[]watchtest.Answer{initial, watchtest.Watch(b, watchtest.Error(watch.KindExpired))},
			"ADDED - > b@6 watch",
		},
		"a watch that breaks off": {
			[]watchtest.Answer{initial, watchtest.Watch(b, watchtest.Step{Err: errors.New("broken")})},
			"ADDED - > b@6 watch",
		},
		"a list that shows a deletion": {
			[]watchtest.Answer{initial, watchtest.Watch(expires), watchtest.List("9")},
			"DELETED a@5 > - relist final state unknown",
		},
		"a list of which one item cannot be read": {
			[]watchtest.Answer{initial, watchtest.Watch(expires),
				{Meta: watchtest.List("9").Meta, Steps: []watchtest.Step{b, {Err: &watch.Error{Kind: watch.KindObject}}}}},
			"ADDED - > b@6 relist",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				source := &stuck{Source: watchtest.New(test.answers...)}
				source.answers.Store(int32(len(test.answers)))
				i := New(source, Options{Reflector: reflector.Options{NoStreaming: true}})
				var told tape
				handle(t, i, told.handle, HandlerOptions{})
				run(t, i)
				time.Sleep(time.Minute)
				if got := told.take(); len(got) == 0 || got[len(got)-1] != test.want {
					t.Errorf("told %q; want %q at the end", got, test.want)
				}
			})
		})
	}
}

// TestHandlersAreToldWhatIsKnownBeforeACallback: it may take its time too, or wait
// for a handler.
func TestHandlersAreToldWhatIsKnownBeforeACallback(t *testing.T) {
	bad := watchtest.Step{Err: &watch.Error{Kind: watch.KindObject}}
	for name, last := range map[string]watchtest.Step{
		"of what cannot be read":  bad,
		"of an error":             watchtest.Error(watch.KindUnavailable),
		"of a version going back": watchtest.Bookmark("3"),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var told tape
				var before []string
				look := func() {
					if before == nil { // later ones come when all was told
						time.Sleep(time.Second)
						before = append([]string{}, told.take()...)
					}
				}
				source := watchtest.New(watchtest.List("5", "a@5"), watchtest.Watch(later(watchtest.Added("b@6")), last))
				i := New(source, Options{Reflector: reflector.Options{
					NoStreaming: true,
					OnBadObject: func(*watch.Error) { look() },
					OnStatus: func(s reflector.Status) {
						if s.Reason != nil {
							look()
						}
					},
				}})
				handle(t, i, told.handle, HandlerOptions{})
				run(t, i)
				time.Sleep(time.Minute)
				synctest.Wait()
				expect(t, "told before the callback returned", before, []string{"ADDED - > a@5 initial", "ADDED - > b@6 watch"})
			})
		})
	}
}
