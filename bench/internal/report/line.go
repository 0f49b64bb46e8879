package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Median returns the middle of the samples, which it leaves as they are; NaN
// for none.
func Median(samples []float64) float64 {
	if len(samples) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(samples))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// Goal is what a ratio should be. The zero value asks for nothing.
type Goal struct {
	// AtLeast is the smallest ratio that passes, AtMost the largest; 0 means none.
	AtLeast, AtMost float64
}

// String returns "12", "<=1.15", or "-".
func (g Goal) String() string {
	switch {
	case g.AtLeast > 0:
		return strconv.FormatFloat(g.AtLeast, 'g', -1, 64)
	case g.AtMost > 0:
		return "<=" + strconv.FormatFloat(g.AtMost, 'g', -1, 64)
	}
	return "-"
}

// Verdict returns PASS or FAIL, or INFO without a goal. What was not measured fails.
func (g Goal) Verdict(ratio float64) string {
	switch {
	case g == Goal{}:
		return "INFO"
	case g.AtLeast > 0 && ratio >= g.AtLeast, g.AtMost > 0 && ratio <= g.AtMost:
		return "PASS"
	}
	return "FAIL"
}

// Unit of a value.
type Unit string

// Units of values.
const (
	Seconds Unit = "s"
	Bytes   Unit = "B"
	Times   Unit = "×"
)

var scales = map[Unit][]struct {
	above float64
	name  string
}{
	Seconds: {{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}, {0, "ns"}},
	Bytes:   {{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}, {0, "B"}},
}

// Format returns a value in a readable size of its unit, with three digits and
// without a blank: "12.3µs".
func Format(value float64, unit Unit) string {
	if math.IsNaN(value) {
		return "none"
	}
	for _, scale := range scales[unit] {
		divisor := scale.above
		if divisor == 0 {
			divisor = 1
			if unit == Seconds {
				divisor = 1e-9
			}
		}
		if math.Abs(value) >= scale.above {
			return digits(value/divisor) + scale.name
		}
	}
	return digits(value)
}

func digits(value float64) string {
	decimals := 2
	switch {
	case math.Abs(value) >= 99.95:
		decimals = 0
	case math.Abs(value) >= 9.995:
		decimals = 1
	}
	return strconv.FormatFloat(value, 'f', decimals, 64)
}

// Line is one row: what the other side needs, what Hark needs, and their ratio.
type Line struct {
	Name string
	// Work in a few words, for the table.
	Work string
	// Base and Hark are medians in Unit; BaseSpread and Spread are how far the samples of
	// each lie apart, as a part of their median, and a NaN where nothing says that.
	Base, Hark         float64
	Unit               Unit
	BaseSpread, Spread float64
	// Ratio is Base ÷ Hark, unless the work says otherwise.
	Ratio float64
	Goal  Goal
}

// String returns the line as it is printed.
func (l Line) String() string {
	return fmt.Sprintf("RATIO %s %s %s %s goal %s %s", l.Name, Format(l.Base, l.Unit), Format(l.Hark, l.Unit), Format(l.Ratio, Times), l.Goal, l.Goal.Verdict(l.Ratio))
}

// Spread returns how far samples lie apart, as a part of their median; of one sample it
// is a NaN.
func Spread(samples []float64) float64 {
	if len(samples) < 2 {
		return math.NaN()
	}
	return (slices.Max(samples) - slices.Min(samples)) / Median(samples)
}
