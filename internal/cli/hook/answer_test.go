package hook

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestOnlyAnExactAnswerIsOne(t *testing.T) {
	for line, want := range map[string]bool{
		`{}`: true, ` { } `: true, `{"park":"x"}`: true, `{"requeueAfter":"1s"}`: true, `{"retry":true}`: true, `{"error":""}`: true,
		``: false, `{`: false, `{} {}`: false, `[]`: false, `null`: false, `{"park":1}`: false, `{"other":1}`: false, `{"park":"x","a":1}`: false,
		`done`: false, `{}}`: false, `{"error":"` + strings.Repeat("x", maxAnswer) + `"}`: false,
	} {
		if _, ok := parseAnswer([]byte(line)); ok != want {
			t.Errorf("%.40s is an answer: %t; want %t", line, ok, want)
		}
	}
}

func FuzzAnswersNeverPanic(f *testing.F) {
	for _, line := range []string{`{}`, `{"park":null}`, `{"requeueAfter":"-1s"}`, `{"retry":false,"error":"x"}`, "{\"park\":\"\\ud800\"}"} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		a, ok := parseAnswer(line)
		if !ok {
			return
		}
		if result, err := a.outcome(); result.RequeueAfter < 0 || err != nil && result != (Result{}) {
			t.Errorf("%q: %+v, %v", line, result, err)
		}
	})
}

// However output is cut into writes, the same lines are passed on.
func FuzzLinesPassEverythingOnHoweverItIsCut(f *testing.F) {
	f.Add([]byte("a\nb\r\n\n{\"park\":\"x\"}\n"), uint64(1))
	f.Add([]byte("{\"park\":\"x\"}\n{\"park\":\"y\"}"), uint64(2))
	f.Add(bytes.Repeat([]byte("x"), 2*maxLine), uint64(3))
	f.Fuzz(func(t *testing.T, output []byte, seed uint64) {
		passed := func(cut func(rest int) int) (string, string) {
			var out bytes.Buffer
			l := &lines{pass: func(block []byte) { out.Write(block) }, holds: isResult, remembers: true}
			for rest := output; len(rest) > 0; {
				n := cut(len(rest))
				_, _ = l.Write(rest[:n])
				rest = rest[n:]
			}
			held := l.close()
			return out.String() + "|" + string(held), l.last
		}
		random := rand.New(rand.NewPCG(seed, 0))
		whole, last := passed(func(rest int) int { return rest })
		pieces, lastOfPieces := passed(func(rest int) int { return 1 + random.IntN(rest) })
		if whole[:strings.LastIndexByte(whole, '|')] != pieces[:strings.LastIndexByte(pieces, '|')] || last != lastOfPieces {
			t.Errorf("in one write %.200q, %q\nin pieces %.200q, %q", whole, last, pieces, lastOfPieces)
		}
		same := func(s string) string { return strings.NewReplacer("\n", "", "\r", "", "|", "").Replace(s) }
		if got, want := same(whole), same(string(output)); got != want {
			t.Errorf("%.200q became %.200q", want, got)
		}
	})
}
