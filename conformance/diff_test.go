package conformance

import (
	"fmt"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// lineDiff gathers the lines in which two transcripts differ, each whole.
type lineDiff struct {
	path cmp.Path
	text strings.Builder
}

// PushStep is called by cmp on its way down.
func (d *lineDiff) PushStep(s cmp.PathStep) { d.path = append(d.path, s) }

// PopStep is called by cmp on its way up.
func (d *lineDiff) PopStep() { d.path = d.path[:len(d.path)-1] }

// Report is called by cmp for each line.
func (d *lineDiff) Report(r cmp.Result) {
	if r.Equal() {
		return
	}
	real, ours := d.path.Last().Values()
	if real.IsValid() {
		fmt.Fprintf(&d.text, "  - %v\n", real)
	}
	if ours.IsValid() {
		fmt.Fprintf(&d.text, "  + %v\n", ours)
	}
}

// diffLines returns the lines that differ, or "".
func diffLines(real, ours []string) string {
	var d lineDiff
	cmp.Equal(real, ours, cmp.Reporter(&d))
	return d.text.String()
}
