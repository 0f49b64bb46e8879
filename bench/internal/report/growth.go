package report

// Linear returns how far costs lie from the best straight line through them, as the
// largest factor between the two: 1 where they lie on it. The line may begin
// above zero; the squares of the relative errors are the smallest.
func Linear(points []Point) float64 {
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

// Flat returns the factor between the highest and the lowest cost.
func Flat(points []Point) float64 {
	var all span
	for i, p := range points {
		if i == 0 {
			all = span{p.Y, p.Y}
		}
		all.include(p.Y)
	}
	if all.low == 0 {
		return 1
	}
	return all.high / all.low
}
