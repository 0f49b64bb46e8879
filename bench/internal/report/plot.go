package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"math"
)

// Point of a series: a size and what it costs, both above zero.
type Point struct{ X, Y float64 }

// Series is one line of a plot.
type Series struct {
	Name   string
	Points []Point
}

// Plot shows cost against size, both on a logarithmic scale.
type Plot struct {
	Title, XLabel string
	// Unit of the costs.
	Unit   Unit
	Series []Series
}

// The picture's measures, in pixels.
const (
	plotWidth, plotHeight          = 640, 400
	plotLeft, plotRight            = 80, 140
	plotTop, plotBottom            = 40, 50
	plotInnerWidth                 = plotWidth - plotLeft - plotRight
	plotInnerHeight                = plotHeight - plotTop - plotBottom
	legendLine, legendX, tickSpace = 20, plotWidth - plotRight + 14, 6
)

var plotColors = []string{"#c0392b", "#2471a3", "#1e8449", "#7d3c98", "#b7950b"}

// SVG returns the picture.
func (p Plot) SVG() []byte {
	xs, ys := p.axes()
	b := &bytes.Buffer{}
	fmt.Fprintf(b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n", plotWidth, plotHeight, plotWidth, plotHeight)
	fmt.Fprintf(b, `<rect width="%d" height="%d" fill="#ffffff"/>`+"\n", plotWidth, plotHeight)
	writeText(b, plotLeft, plotTop-16, "start", p.Title)
	writeText(b, plotLeft+plotInnerWidth/2, plotHeight-12, "middle", p.XLabel)
	for _, x := range xs.ticks() {
		at := plotLeft + xs.part(x)*plotInnerWidth
		writeGrid(b, at, plotTop, at, plotTop+plotInnerHeight)
		writeText(b, at, plotTop+plotInnerHeight+16, "middle", fmt.Sprintf("%.0f", x))
	}
	for _, y := range ys.ticks() {
		at := plotTop + (1-ys.part(y))*plotInnerHeight
		writeGrid(b, plotLeft, at, plotLeft+plotInnerWidth, at)
		writeText(b, plotLeft-tickSpace, at+4, "end", Format(y, p.Unit))
	}
	for i, s := range p.Series {
		writeSeries(b, s, plotColors[i%len(plotColors)], xs, ys, float64(plotTop+i*legendLine))
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

func writeGrid(b *bytes.Buffer, x1, y1, x2, y2 float64) {
	fmt.Fprintf(b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#dddddd"/>`+"\n", x1, y1, x2, y2)
}

func writeText(b *bytes.Buffer, x, y float64, anchor, text string) {
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="%s">`, x, y, anchor)
	_ = xml.EscapeText(b, []byte(text)) // a buffer takes everything
	b.WriteString("</text>\n")
}

func writeSeries(b *bytes.Buffer, s Series, color string, xs, ys axis, legendY float64) {
	var line bytes.Buffer
	for _, point := range s.Points {
		x, y := plotLeft+xs.part(point.X)*plotInnerWidth, plotTop+(1-ys.part(point.Y))*plotInnerHeight
		fmt.Fprintf(&line, "%.1f,%.1f ", x, y)
		fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>`+"\n", x, y, color)
	}
	fmt.Fprintf(b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>`+"\n", bytes.TrimSpace(line.Bytes()), color)
	fmt.Fprintf(b, `<rect x="%d" y="%.1f" width="12" height="12" fill="%s"/>`+"\n", legendX, legendY, color)
	writeText(b, legendX+18, legendY+10, "start", s.Name)
}

// span is from the lowest to the highest of some values.
type span struct{ low, high float64 }

func (s *span) include(v float64) { s.low, s.high = min(s.low, v), max(s.high, v) }

// axis is a logarithmic scale between whole powers of a base.
type axis struct {
	span
	base float64
}

func (p Plot) axes() (x, y axis) {
	xs, ys := span{math.Inf(1), math.Inf(-1)}, span{math.Inf(1), math.Inf(-1)}
	for _, s := range p.Series {
		for _, point := range s.Points {
			xs.include(point.X)
			ys.include(point.Y)
		}
	}
	base := 10.0
	if p.Unit == Bytes {
		base = 16 // where sizes have round names
	}
	return xs.axis(10), ys.axis(base)
}

// axis returns the shortest that has all values on it.
func (s span) axis(base float64) axis {
	a := axis{span{1, base}, base}
	if s.low <= s.high {
		low, high := math.Floor(a.log(s.low)+1e-9), math.Ceil(a.log(s.high)-1e-9) // a power of the base is whole
		a.low, a.high = math.Pow(base, low), math.Pow(base, max(high, low+1))
	}
	return a
}

func (a axis) log(v float64) float64 { return math.Log2(v) / math.Log2(a.base) }

func (a axis) part(v float64) float64 { return a.log(v/a.low) / a.log(a.high/a.low) }

func (a axis) ticks() []float64 {
	var all []float64
	for i := range int(math.Round(a.log(a.high/a.low))) + 1 {
		all = append(all, a.low*math.Pow(a.base, float64(i)))
	}
	return all
}
