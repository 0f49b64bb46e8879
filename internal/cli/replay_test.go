package cli

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocampus/hark/internal/printer"
	"github.com/gocampus/hark/internal/text"
	"github.com/gocampus/hark/record"
)

// stampedLines notes when lines are written.
type stampedLines struct {
	began time.Time
	lines []string
}

func (w *stampedLines) Write(p []byte) (int, error) {
	w.lines = append(w.lines, fmt.Sprintf("%v %s", time.Since(w.began), p[len("[15:04:05] "):]))
	return len(p), nil
}

// A replay keeps the recorded pace, faster or slower; what happened before --from is
// there at once.
func TestAReplayKeepsThePace(t *testing.T) {
	const event = `{"schema":"hark.record/v1","record":"event","time":"2026-03-01T10:0%d:00Z","stream":0,"type":"%s","cause":"%s","namespace":"default","name":"%s","resourceVersion":"%d",` +
		`"object":{"metadata":{"namespace":"default","name":"%s","uid":"%s","resourceVersion":"%d"},"status":{"phase":"Running"}}}` + "\n"
	tell := func(minute int, typ, cause, name string) string {
		return fmt.Sprintf(event, minute, typ, cause, name, minute+1, name, name, minute+1)
	}
	file := `{"schema":"hark.record/v1","record":"header","time":"2026-03-01T10:00:00Z","streams":[{"version":"v1","kind":"Pod","resource":"pods","namespaced":true}]}` + "\n" +
		tell(0, "ADDED", "initial", "a") + tell(1, "ADDED", "watch", "b") + tell(2, "DELETED", "watch", "b") + tell(4, "MODIFIED", "watch", "a") + tell(9, "MODIFIED", "watch", "a")
	at := func(minute int) time.Time { return time.Date(2026, 3, 1, 10, minute, 0, 0, time.UTC) }
	for _, tc := range []struct {
		speed    float64
		from, to time.Time
		want     string
	}{
		{speed: 1, want: "0s Added a|1m0s Added b|2m0s Deleted b|4m0s Modified a|9m0s Modified a"},
		{speed: 10, want: "0s Added a|6s Added b|12s Deleted b|24s Modified a|54s Modified a"},
		{speed: 0.5, to: at(2), want: "0s Added a|2m0s Added b|4m0s Deleted b"},
		{speed: 1, from: at(2), to: at(4), want: "0s Added a|0s Added b|0s Deleted b|2m0s Modified a"},
		{speed: 1, from: at(5), want: "0s Added a|4m0s Modified a"},
		{speed: 1, from: at(20), want: "0s Added a"},
	} {
		synctest.Test(t, func(t *testing.T) {
			out := &stampedLines{began: time.Now()}
			s := newSession(Process{In: strings.NewReader(file), Out: out, Err: &strings.Builder{}, Getenv: environment(nil).get})
			tape, err := s.openTape(standardInput)
			if err != nil {
				t.Fatal(err)
			}
			defer tape.close()
			r := &replaying{session: s, tape: tape, speed: tc.speed, from: tc.from, to: tc.to, state: record.NewState(),
				printing: printer.Options{Lang: text.English}}
			r.banner()
			if err := r.run(t.Context(), r.print); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, line := range out.lines {
				words := strings.Fields(strings.ReplaceAll(line, "default/", ""))
				got = append(got, strings.Join(words[:3], " "))
			}
			if all := strings.Join(got, "|"); all != tc.want {
				t.Errorf("speed %v from %v to %v:\n%s; want\n%s", tc.speed, tc.from, tc.to, all, tc.want)
			}
		})
	}
}
