package cluster

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLinesAreTheSameHoweverTheyAreWritten(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 200 {
		text := randomText(random)
		var got []string
		w := &lineWriter{line: func(line string) { got = append(got, line) }}
		for rest := text; rest != ""; {
			n := 1 + random.IntN(len(rest))
			if written, err := w.Write([]byte(rest[:n])); written != n || err != nil {
				t.Fatalf("Write: got %d, %v; want %d, nil", written, err, n)
			}
			rest = rest[n:]
		}
		w.flush()
		if diff := cmp.Diff(linesOf(text), got); diff != "" {
			t.Fatalf("lines of %q (-want +got):\n%s", text, diff)
		}
	}
}

// linesOf is what lineWriter does, in the simplest way.
func linesOf(text string) []string {
	if text == "" {
		return nil
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i := range lines {
		ended := i < len(lines)-1 || strings.HasSuffix(text, "\n")
		if ended {
			lines[i] = strings.TrimRight(lines[i], "\r")
		}
	}
	return lines
}

func randomText(random *rand.Rand) string {
	var b strings.Builder
	for range random.IntN(60) {
		b.WriteByte("ab\r\n\n"[random.IntN(5)])
	}
	return b.String()
}

func TestALineWithoutEndIsNotKeptForever(t *testing.T) {
	pieces := 0
	w := &lineWriter{line: func(string) { pieces++ }}
	for range 10 {
		if _, err := w.Write(make([]byte, maxLine)); err != nil {
			t.Fatal(err)
		}
		if len(w.pending) >= maxLine {
			t.Fatalf("got %d bytes pending; want less than %d", len(w.pending), maxLine)
		}
	}
	if pieces != 10 {
		t.Errorf("got %d pieces; want 10", pieces)
	}
}

func TestATailKeepsTheLastLinesCut(t *testing.T) {
	tail := newTail(3)
	for i := range 10 {
		tail.add(fmt.Sprintf("line %d", i))
	}
	if got, want := tail.String(), "line 7\nline 8\nline 9"; got != want {
		t.Errorf("got %q; want %q", got, want)
	}
	tail.add(strings.Repeat("x", 2*lineBytes))
	if got, limit := len(tail.String()), lineBytes+30; got > limit {
		t.Errorf("got %d bytes; want at most %d", got, limit)
	}
}

func TestTheTailOfALongFileIsReadFromItsEnd(t *testing.T) {
	name := filepath.Join(t.TempDir(), "log")
	var text strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&text, "line %d\n", i)
	}
	if err := os.WriteFile(name, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	got := strings.Split(tailOfFile(name), "\n")
	if len(got) != tailLines || got[0] != "line 99970" || got[tailLines-1] != "line 99999" {
		t.Errorf("got %d lines from %q to %q", len(got), got[0], got[len(got)-1])
	}
}

func TestTheTailOfAMissingFileSaysSo(t *testing.T) {
	if got := tailOfFile(filepath.Join(t.TempDir(), "missing")); !strings.Contains(got, "no such file") {
		t.Errorf("got %q", got)
	}
}
