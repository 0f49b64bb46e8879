package cli

import (
	"bytes"
	"testing"
)

func TestColourNeedsAWillingTerminalUnlessItIsForced(t *testing.T) {
	for _, tc := range []struct {
		mode     string
		terminal bool
		env      environment
		want     bool
	}{
		{"auto", false, nil, false},
		{"auto", true, nil, true},
		{"auto", true, environment{"TERM": "xterm", "NO_COLOR": ""}, true},
		{"auto", true, environment{"NO_COLOR": "1"}, false},
		{"auto", true, environment{"TERM": "dumb"}, false},
		{"always", false, environment{"NO_COLOR": "1", "TERM": "dumb"}, true},
		{"never", true, nil, false},
	} {
		if got := wantsColor(tc.mode, tc.terminal, tc.env.get); got != tc.want {
			t.Errorf("--color=%s, terminal %v, %v: %v; want %v", tc.mode, tc.terminal, tc.env, got, tc.want)
		}
	}
}

func TestABufferIsNoTerminal(t *testing.T) {
	if isTerminal(&bytes.Buffer{}) {
		t.Error("isTerminal says that a buffer is one")
	}
}
