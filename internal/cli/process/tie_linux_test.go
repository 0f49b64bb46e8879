package process

import "testing"

func TestAProgramDoesNotOutliveAKilledParent(t *testing.T) {
	line := newLifeline(t)
	playOn(t, "owner", line, func() {
		child := line.grab()
		t.Cleanup(func() { expectEnd(t, child) })
	})
}
