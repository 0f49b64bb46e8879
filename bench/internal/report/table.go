package report

import (
	"bytes"
	"fmt"
	"math"
	"strings"
)

// Table returns lines as a Markdown table.
func Table(lines []Line) string {
	var b strings.Builder
	b.WriteString("| row | work | client-go | Hark | ratio | goal | | spread of client-go | of Hark |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, l := range lines {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", l.Name, l.Work,
			Format(l.Base, l.Unit), Format(l.Hark, l.Unit), Format(l.Ratio, Times), l.Goal, l.Goal.Verdict(l.Ratio), percent(l.BaseSpread), percent(l.Spread))
	}
	return b.String()
}

// percent is "-" for what was not measured.
func percent(part float64) string {
	if math.IsNaN(part) {
		return "-"
	}
	return fmt.Sprintf("%.0f %%", 100*part)
}

// The lines between which a document is written anew.
const (
	Begin = "<!-- bench: begin -->"
	End   = "<!-- bench: end -->"
)

// Replace puts text between the markers of a document. It fails where they are
// not there, once each and in order.
func Replace(document []byte, text string) ([]byte, error) {
	if bytes.Count(document, []byte(Begin)) != 1 || bytes.Count(document, []byte(End)) != 1 {
		return nil, fmt.Errorf("report: the document does not have %q and %q once each", Begin, End)
	}
	head, rest, _ := bytes.Cut(document, []byte(Begin))
	_, tail, found := bytes.Cut(rest, []byte(End))
	if !found {
		return nil, fmt.Errorf("report: %q comes before %q", End, Begin)
	}
	return fmt.Appendf(nil, "%s%s\n%s\n%s%s", head, Begin, strings.TrimSpace(text), End, tail), nil
}
