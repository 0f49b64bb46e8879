package sleep

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestSleepEndsWithTheTimeOrTheContext(t *testing.T) {
	over := errors.New("over")
	for _, c := range []struct {
		d, cancel time.Duration // cancel below 0 is before the sleep, 0 never
		slept     time.Duration
		want      error
	}{
		{d: time.Hour, slept: time.Hour},
		{d: time.Hour, cancel: time.Minute, slept: time.Minute, want: over},
		{d: time.Hour, cancel: -1, want: over},
		{d: 0},
		{d: -time.Hour},
		{d: 0, cancel: -1, want: over},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			switch {
			case c.cancel < 0:
				cancel(over)
			case c.cancel > 0:
				time.AfterFunc(c.cancel, func() { cancel(over) })
			}
			start := time.Now()
			if err := For(ctx, c.d); !errors.Is(err, c.want) || time.Since(start) != c.slept {
				t.Errorf("%+v: %v after %v", c, err, time.Since(start))
			}
		})
	}
}
