package workqueue

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

func TestTheDefaultBackoffDoublesFrom10MillisecondsTo1000Seconds(t *testing.T) {
	var b Backoff
	want := 10 * time.Millisecond
	for failures := 1; failures <= 17; failures++ {
		if got := b.Delay(failures); got != want {
			t.Errorf("Delay(%d) = %v; want %v", failures, got, want)
		}
		want *= 2
	}
	for _, failures := range []int{18, 19, 63, 64, 65, 1000, math.MaxInt} {
		if got := b.Delay(failures); got != 1000*time.Second {
			t.Errorf("Delay(%d) = %v; want 1000s", failures, got)
		}
	}
	for _, failures := range []int{0, -1, math.MinInt} {
		if got := b.Delay(failures); got != 10*time.Millisecond {
			t.Errorf("Delay(%d) = %v; want 10ms", failures, got)
		}
	}
}

func TestABackoffNeverOverflowsNorFallsNorExceedsItsMaximum(t *testing.T) {
	for _, b := range []Backoff{
		{},
		{Base: 1, Max: math.MaxInt64},
		{Base: math.MaxInt64, Max: math.MaxInt64},
		{Base: 3, Max: math.MaxInt64 - 1},
		{Base: time.Hour, Max: time.Second},
		{Base: -1, Max: -1},
	} {
		limit := b.withDefaults().Max
		last := time.Duration(0)
		for failures := range 200 {
			got := b.Delay(failures)
			if got <= 0 || got < last || got > limit {
				t.Fatalf("%+v: Delay(%d) = %v after %v; the maximum is %v", b, failures, got, last, limit)
			}
			last = got
		}
		if last != limit {
			t.Errorf("%+v: Delay(199) = %v; want the maximum, %v", b, last, limit)
		}
	}
}

func TestJitterOnlyShortensADelayAndByItsPartAtMost(t *testing.T) {
	const delay = time.Hour
	for jitter, least := range map[float64]time.Duration{
		0: delay, 0.25: 45 * time.Minute, 1: 0, 7: 0, -1: delay, math.NaN(): delay, math.Inf(1): 0,
	} {
		b := Backoff{Jitter: jitter}.withDefaults()
		for range 100 {
			if got := b.jittered(delay, rand.Float64()); got < least || got > delay {
				t.Errorf("jitter %v: %v; want %v to %v", jitter, got, least, delay)
			}
		}
		if got := b.jittered(delay, 0); got != delay {
			t.Errorf("jitter %v with the smallest random part: %v; want %v", jitter, got, delay)
		}
	}
}

func TestALongTextIsCutAtTheBorderOfACharacter(t *testing.T) {
	long := ""
	for range maxText {
		long += "语"
	}
	if got := clip(long); len(got) != maxText-maxText%3 || long[:len(got)] != got {
		t.Errorf("clip of %d bytes has %d", len(long), len(got))
	}
	if got := clip("short"); got != "short" {
		t.Errorf("clip(short) = %q", got)
	}
	if got := clip(string(make([]byte, maxText+1))); len(got) != maxText {
		t.Errorf("clip of zeroes has %d bytes; want %d", len(got), maxText)
	}
	invalid := ""
	for range maxText {
		invalid += "\x80\x80"
	}
	if got := clip(invalid); len(got) > maxText || len(got) < maxText-4 {
		t.Errorf("clip of continuation bytes has %d bytes; want about %d", len(got), maxText)
	}
}
