package store

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

func TestWaitVersionWakesWhenTheVersionIsReached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, w := New(Options{})
		w.Advance("5")
		if err := s.WaitVersion(t.Context(), "5"); err != nil {
			t.Fatalf("a version that was reached: %v", err)
		}
		woken := make(chan error, 2)
		for _, version := range []string{"8", "100"} {
			go func() { woken <- s.WaitVersion(t.Context(), version) }()
		}
		synctest.Wait()
		w.Advance("7")
		synctest.Wait()
		if len(woken) != 0 {
			t.Fatal("woken before the version was reached")
		}
		w.Advance("8")
		synctest.Wait()
		if len(woken) != 1 || <-woken != nil {
			t.Fatal("not woken, or not alone, by the version waited for")
		}
		w.Advance("1000")
		if err := <-woken; err != nil {
			t.Fatal(err)
		}
	})
}

func TestWaitVersionEndsWithItsContext(t *testing.T) {
	s, w := New(Options{})
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if err := s.WaitVersion(ctx, "8"); !errors.Is(err, cause) {
		t.Errorf("WaitVersion = %v; want the context's cause", err)
	}
	if n := len(s.versions.waiting); n != 0 {
		t.Errorf("%d waiters are left behind", n)
	}
	w.Advance("9")
}

func TestWaitVersionRefusesWhatCannotBeCompared(t *testing.T) {
	s, _ := New(Options{})
	if err := s.WaitVersion(t.Context(), "abc"); err == nil {
		t.Error("WaitVersion(abc) = nil; want an error at once")
	}
}
