package report

import "math"

// Linear returns how far costs lie from the best straight line through them, as the
// largest factor between the two: 1 where they lie on it. The line may begin
// above zero; the squares of the relative errors are the smallest. Of no points it is
// NaN.
func Linear(points []Point) float64 {
	if len(points) == 0 {
		return math.NaN()
	}
	var s1, sx, sxx, sy, sxy float64 // sums weighted by 1/y²
	for _, p := range points {
		w := 1 / (p.Y * p.Y)
		s1, sx, sxx, sy, sxy = s1+w, sx+w*p.X, sxx+w*p.X*p.X, sy+w*p.Y, sxy+w*p.X*p.Y
	}
	worst := 1.0
	d := s1*sxx - sx*sx
	if d == 0 {
		return worst
	}
	slope, start := (s1*sxy-sx*sy)/d, (sy*sxx-sx*sxy)/d
	for _, p := range points {
		fit := start + slope*p.X
		worst = max(worst, p.Y/fit, fit/p.Y)
	}
	return worst
}

// Flat returns the factor between the highest and the lowest cost, NaN for none.
func Flat(points []Point) float64 {
	if len(points) == 0 {
		return math.NaN()
	}
	all := span{points[0].Y, points[0].Y}
	for _, p := range points {
		all.include(p.Y)
	}
	return all.high / all.low
}
