package main

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocampus/hark/harktest"
)

// TestPollingIsLateWastefulAndBlind measures in a bubble, whose clock moves only
// when somebody waits: the watch is not late at all there.
func TestPollingIsLateWastefulAndBlind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := harktest.StartWith(t, harktest.Options{InMemory: true})
		const period = 5 * time.Second
		changes, polled, watched, err := measure(t.Context(), server, period, 30*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%d changes: polled %+v, watched %+v", changes, polled, watched)
		if watched.Missed != 0 || watched.Delay != 0 {
			t.Errorf("the watch missed %d changes and was %v late; want all of them at once", watched.Missed, watched.Delay)
		}
		if polled.Missed == 0 || polled.Missed == changes {
			t.Errorf("polling missed %d of %d changes; want some", polled.Missed, changes)
		}
		if polled.Delay <= 0 || polled.Delay > period {
			t.Errorf("polling was %v late; want something up to %v", polled.Delay, period)
		}
		if polled.Bytes <= watched.Bytes {
			t.Errorf("polling received %d bytes, the watch %d; want more", polled.Bytes, watched.Bytes)
		}
	})
}

func TestFiguresCountWhatWasNeverNoticed(t *testing.T) {
	begin := time.Now()
	o := &observer{when: map[string]time.Time{"a": begin.Add(2 * time.Second), "b": begin.Add(5 * time.Second), "other": begin}}
	o.bytes.Store(7)
	got := o.figures(map[string]time.Time{"a": begin, "b": begin.Add(time.Second), "never": begin})
	if want := (figures{Delay: 3 * time.Second, Bytes: 7, Missed: 1}); got != want {
		t.Errorf("figures = %+v; want %+v", got, want)
	}
	if got := o.figures(map[string]time.Time{"never": begin}); got.Delay != 0 || got.Missed != 1 {
		t.Errorf("figures of nothing noticed = %+v", got)
	}
}
