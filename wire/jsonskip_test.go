package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
)

// tokens are parts of JSON, and some of what is none.
var tokens = strings.Split("{ } [ ] , : \"\" \"a\" \"kind\" \"a\\n\" \"\\u00e9\" \"\\x\" \"é\" \"a \x01 0 -0 7 -12 01 - 1.5 1. 2e3 1e 300 true false null tru nulls x", " ")

// randomJSON writes a value, or now and then something else in its place.
func randomJSON(r *rand.Rand, b *bytes.Buffer, depth int) {
	space := func() {
		if r.IntN(30) == 0 {
			b.WriteString([]string{" ", "\n", "\t \r"}[r.IntN(3)])
		}
	}
	space()
	defer space()
	kind := r.IntN(8)
	switch {
	case r.IntN(12) == 0:
		for range 1 + r.IntN(3) {
			b.WriteString(tokens[r.IntN(len(tokens))])
		}
	case depth == 0 || kind < 4:
		b.WriteString([]string{`"a"`, `"a long \"text\" of more than eight bytes"`, `"plain text"`, "0", "-17", "1.5e-3", "true", "false", "null", `""`}[r.IntN(10)])
	case kind < 6:
		b.WriteByte('{')
		space()
		for i := range r.IntN(4) {
			if i > 0 {
				b.WriteByte(',')
			}
			space()
			fmt.Fprintf(b, `"%s"`, strings.Repeat("k", r.IntN(12)))
			space()
			b.WriteByte(':')
			randomJSON(r, b, depth-1)
		}
		b.WriteByte('}')
	default:
		b.WriteByte('[')
		space()
		for i := range r.IntN(4) {
			if i > 0 {
				b.WriteByte(',')
			}
			randomJSON(r, b, depth-1)
		}
		b.WriteByte(']')
	}
}

// nestedJSON writes objects and arrays in each other, as deep as that, and now and then
// ends one as the other.
func nestedJSON(r *rand.Rand, b *bytes.Buffer, depth int) {
	var ends []byte
	for range depth {
		if r.IntN(2) == 0 {
			b.WriteString([]string{`{"a":`, `{"a":{},"b":`, `{"a":[[]],"b":`}[r.IntN(3)])
			ends = append(ends, '}')
		} else {
			b.WriteString([]string{"[", "[{},", `[1,{"a":[]},`}[r.IntN(3)])
			ends = append(ends, ']')
		}
	}
	b.WriteString([]string{"0", "{}", "[]", `"a"`}[r.IntN(4)])
	for i := range ends {
		if end := ends[depth-1-i]; r.IntN(500) != 0 {
			b.WriteByte(end)
		} else {
			b.WriteByte('}' + ']' - end) // the other one
		}
	}
}

// TestSkipHopsOverWhatItWouldWalk: of bytes that come one by one none is ever hopped over.
func TestSkipHopsOverWhatItWouldWalk(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	good, hops := 0, 0
	for i := range 20_000 {
		var b bytes.Buffer
		if i%50 == 0 {
			nestedJSON(r, &b, 1+r.IntN(300))
		} else {
			randomJSON(r, &b, 6)
		}
		valid := json.Valid(b.Bytes())
		b.WriteString(",") // the end of a number shows
		text := b.Bytes()

		walking := pulling(&window{r: iotest.OneByteReader(bytes.NewReader(text))}, len(text))
		walked := walking.skip()
		hopping := scanner{buf: text}
		hopped := hopping.skip()
		at := walking.base + int64(walking.pos)
		if hopped != walked || int64(hopping.pos) != at || hopping.depth != walking.depth || wrong(&hopping) != wrong(&walking) {
			t.Fatalf("skip of %q: %t at %d of depth %d, %s\nwalking: %t at %d of depth %d, %s", text,
				hopped, hopping.pos, hopping.depth, wrong(&hopping), walked, at, walking.depth, wrong(&walking))
		}
		if hopped {
			hopping.token()
		}
		if all := hopped && hopping.pos == len(text)-1; all != valid {
			t.Fatalf("skip of %q: %t up to %d, %s; json.Valid says %t", text, hopped, hopping.pos, wrong(&hopping), valid)
		}
		if hopped {
			good++
		}
		if whole := (&scanner{buf: text}); whole.hop(0) && whole.depth == 0 {
			hops++
		}
	}
	if good < 5_000 || good > 18_000 || hops < 2_000 {
		t.Errorf("%d of 20,000 are good, %d were hopped over at once; want some of each", good, hops)
	}
}

// wrong is what a scanner has found wrong, and where, in the words for a text at hand.
func wrong(s *scanner) string {
	if err, ok := s.err.(*Error); ok {
		what := strings.Replace(err.What, "stream ends inside a JSON value", "JSON text ends inside a value", 1)
		return fmt.Sprintf("%d: %s", err.Offset, what)
	}
	return fmt.Sprint(s.err)
}
