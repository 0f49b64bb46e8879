package delta

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

func TestPopBlocksUntilSomethingIsPushed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(Options{})
		got := make(chan string)
		go func() {
			events := make([]Event, 1)
			if _, _, err := q.Pop(t.Context(), events); err != nil {
				t.Error(err)
			}
			got <- describe(events[0])
		}()
		synctest.Wait()
		q.Push(change("- > a@1"))
		if text := <-got; text != "ADDED - > a@1" {
			t.Errorf("popped %s", text)
		}
	})
}

func TestWhatIsGatheredWakesNobodyBeforeWake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(Options{})
		popped := make(chan int, 1)
		go func() {
			n, _, err := q.Pop(t.Context(), make([]Event, 10))
			if err != nil {
				t.Error(err)
			}
			popped <- n
		}()
		synctest.Wait()
		q.Wake() // for nothing
		q.Gather(change("- > a@1"))
		q.Gather(change("- > b@2"))
		synctest.Wait()
		if len(popped) != 0 {
			t.Error("woken by Gather")
		}
		q.Wake()
		if n := <-popped; n != 2 {
			t.Errorf("popped %d events; want both", n)
		}
		q.Gather(change("- > c@3"))
		if n, _, err := q.Pop(t.Context(), make([]Event, 10)); n != 1 || err != nil {
			t.Errorf("a Pop that does not sleep: %d, %v; want 1", n, err)
		}
	})
}

func TestPopEndsWithItsContext(t *testing.T) {
	q := New(Options{})
	q.Push(change("- > a@1"))
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if _, _, err := q.Pop(ctx, make([]Event, 1)); !errors.Is(err, cause) {
		t.Errorf("Pop = %v; want the context's cause even with events waiting", err)
	}
}

func TestCloseDropsWhatWaitsAndWakesTheReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(Options{})
		done := make(chan error)
		go func() {
			_, _, err := q.Pop(t.Context(), make([]Event, 1))
			done <- err
		}()
		synctest.Wait()
		q.Close()
		q.Close()
		if err := <-done; !errors.Is(err, ErrClosed) {
			t.Errorf("Pop = %v; want ErrClosed", err)
		}
		q.Push(change("- > a@1"))
		q.Mark(&Mark{})
		if n := q.Len(); n != 0 {
			t.Errorf("a closed queue holds %d", n)
		}
	})
}
