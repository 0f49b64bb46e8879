package goid

import "testing"

func TestCurrentTellsGoroutinesApart(t *testing.T) {
	own := Current()
	if own == 0 || own != Current() {
		t.Fatalf("Current() = %d, then %d; want one number other than 0", own, Current())
	}
	other := make(chan uint64)
	go func() { other <- Current() }()
	if got := <-other; got == own || got == 0 {
		t.Fatalf("another goroutine has number %d; ours is %d", got, own)
	}
}
