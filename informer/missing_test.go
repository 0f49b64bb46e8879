package informer

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocampus/hark/internal/watchtest"
	"github.com/gocampus/hark/reflector"
	"github.com/gocampus/hark/watch"
)

// gone refuses n requests because the kind is not there.
func gone(n int) []watchtest.Answer {
	var answers []watchtest.Answer
	for range n {
		answers = append(answers, watchtest.Refuse(watch.KindNotFound))
	}
	return answers
}

// script joins the parts of a script.
func script(parts ...[]watchtest.Answer) []watchtest.Answer {
	var all []watchtest.Answer
	for _, part := range parts {
		all = append(all, part...)
	}
	return all
}

// before is the kind at work, until its watch ends.
func before() []watchtest.Answer {
	return []watchtest.Answer{watchtest.Stream("100", []string{"x@90", "y@95"}, watchtest.Bookmark("110")).ThenEnd(errors.New("reset"))}
}

// TestCase13_MissingKindIsParkedQuietlyAndComesBack after an hour; its versions
// count anew then.
func TestCase13_MissingKindIsParkedQuietlyAndComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := watchtest.New(script(before(), gone(100))...)
		var states []string
		i := New(source, Options{Reflector: reflector.Options{OnStatus: func(s reflector.Status) {
			states = append(states, s.Phase.String())
		}}})
		var l tape
		handle(t, i, l.handle, HandlerOptions{Every: 10})
		run(t, i)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		states = nil
		asked := len(source.Requests())
		time.Sleep(time.Hour)
		synctest.Wait()
		if n := len(source.Requests()) - asked; n > 25 {
			t.Errorf("%d requests in an hour", n)
		}
		if len(states) != 0 {
			t.Errorf("states %q while parked; want none", states)
		}
		s := i.Status().Reflector
		if s.Phase != reflector.Waiting || s.Reason == nil || s.Reason.Kind != watch.KindNotFound || !s.Retry.After(time.Now()) {
			t.Errorf("status %+v; want waiting for a kind that is not found", s)
		}
		expect(t, "what was known is kept", content(i.Store()), []string{"x@90", "y@95"})
		l.take()
		source.Then(watchtest.Stream("7", []string{"x/new@5"}, watchtest.Modified("x/new@8")))
		time.Sleep(time.Until(s.Retry) + time.Minute)
		synctest.Wait()
		expect(t, "events", l.take(), []string{"DELETED x@90 > - relist final state unknown", "ADDED - > x/new@5 relist",
			"DELETED y@95 > - relist final state unknown", "MODIFIED x/new@5 > x/new@8 watch"})
		if s := i.Status().Reflector; s.Reason != nil || s.Phase != reflector.Watching || s.ResourceVersion != "8" {
			t.Errorf("status %+v; want all well", s)
		}
	})
}

// TestCase13_CopyIsEmptiedIfAskedFor, once, and filled again.
func TestCase13_CopyIsEmptiedIfAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := watchtest.New(script(before(), gone(5), []watchtest.Answer{watchtest.Stream("7", []string{"x/new@5"})})...)
		i := New(source, Options{Reflector: reflector.Options{DropMissing: true}})
		var l tape
		handle(t, i, l.handle, HandlerOptions{Every: 10})
		run(t, i)
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if got := l.take(); len(got) != 4 || !strings.HasPrefix(got[2], "DELETED ") || !strings.HasPrefix(got[3], "DELETED ") {
			t.Errorf("events %q; want two of the beginning and two deletions", got)
		}
		if n, version := i.Store().Len(), i.Store().Version(); n != 0 || version != "" {
			t.Errorf("the store has %d objects of version %q", n, version)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		expect(t, "events", l.take(), []string{"ADDED - > x/new@5 relist"})
	})
}

// TestCase13_KindThatWasNeverThereIsWaitedFor in the same way.
func TestCase13_KindThatWasNeverThereIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := New(watchtest.New(script(gone(5), []watchtest.Answer{watchtest.Stream("7", []string{"x@5"})})...),
			Options{Reflector: reflector.Options{DropMissing: true}})
		run(t, i)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		err := i.WaitSync(ctx)
		if known, ok := errors.AsType[*watch.Error](err); !ok || known.Kind != watch.KindNotFound {
			t.Errorf("WaitSync = %v; want that the kind is not found", err)
		}
		if err := i.WaitSync(t.Context()); err != nil {
			t.Fatal(err)
		}
		expect(t, "store", content(i.Store()), []string{"x@5"})
	})
}

// awaiting is a source that tells when its kind may be there.
type awaiting struct {
	*watchtest.Source
	await func(context.Context) error
}

func (a awaiting) Await(ctx context.Context) error { return a.await(ctx) }

// TestCase13_SourceThatCanTellResumesAtOnce, and is hardly asked before.
func TestCase13_SourceThatCanTellResumesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		there := make(chan struct{})
		source := watchtest.New(script(before(), gone(100))...)
		i := New(awaiting{source, func(ctx context.Context) error {
			select {
			case <-there:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}}, Options{})
		run(t, i)
		time.Sleep(time.Hour)
		source.Then(watchtest.Stream("7", []string{"x/new@5"}))
		close(there)
		synctest.Wait()
		expect(t, "store", content(i.Store()), []string{"x/new@5"})
	})
}

// TestCase13_SourceThatCannotTellOrIsWrongDoesNoHarm: a rate of requests that
// is bounded in either case, and an end at once.
func TestCase13_SourceThatCannotTellOrIsWrongDoesNoHarm(t *testing.T) {
	for what, tc := range map[string]struct {
		answer error
		most   int // requests in an hour
	}{
		"cannot tell": {errors.New("forbidden"), 25},
		"is wrong":    {nil, 170},
	} {
		synctest.Test(t, func(t *testing.T) {
			source := watchtest.New(script(before(), gone(1000))...)
			i := New(awaiting{source, func(context.Context) error { return tc.answer }}, Options{})
			stop := run(t, i)
			time.Sleep(time.Hour)
			if n := len(source.Requests()); n < 10 || n > tc.most {
				t.Errorf("%s: %d requests in an hour; want at most %d", what, n, tc.most)
			}
			before := time.Now()
			stop()
			if passed := time.Since(before); passed != 0 {
				t.Errorf("%s: Run returned after %s", what, passed)
			}
		})
	}
}
