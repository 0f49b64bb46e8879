package rows

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gocampus/hark/bench/internal/report"
	"github.com/gocampus/hark/bench/internal/sides"
)

// costs are the points of one side, by measure.
type costs map[string][]report.Point

// growth measures how costs grow with the number of objects, and what the
// largest number needs.
func (r *Runner) growth(ctx context.Context, s Scale) ([]report.Line, map[string]report.Plot, error) {
	measured, err := r.growAll(ctx, s)
	if err != nil {
		return nil, nil, err
	}
	bySide := map[string]costs{}
	for i, n := range s.Growth {
		for side, of := range measured[i] {
			if bySide[side] == nil {
				bySide[side] = costs{}
			}
			bySide[side].add(n, s.changes(n), of)
			fmt.Fprintf(r.Log, "# growth %d %s: %s an object until synced, %s an update\n", n, side,
				report.Format(slices.Min(of[sides.SyncCPU])/float64(n), report.Seconds), report.Format(slices.Min(of[sides.EventCPU])/float64(s.changes(n)), report.Seconds))
		}
	}
	last := measured[len(measured)-1]
	lines := []report.Line{
		grown("growth-sync-cpu", "distance of the CPU until synced from a straight line", bySide, sides.SyncCPU, hark, report.Linear, 1.15),
		grown("growth-sync-cpu-compact", "the same with the compact store", bySide, sides.SyncCPU, harkCompact, report.Linear, 1.15),
		grown("growth-heap", "distance of the live heap from a straight line", bySide, sides.Heap, hark, report.Linear, 1.15),
		grown("growth-heap-compact", "the same with the compact store", bySide, sides.Heap, harkCompact, report.Linear, 1.15),
		grown("growth-event", "CPU an update: highest by lowest of all sizes", bySide, sides.EventCPU, hark, report.Flat, 1.2),
		grown("growth-event-compact", "the same with the compact store", bySide, sides.EventCPU, harkCompact, report.Flat, 1.2),
	}
	lines = append(lines, headline(s, bySide, last))
	return lines, plots(bySide), nil
}

// growAll measures all sizes, in turn as the sides are: over the minutes that this takes
// machines change their speed, and a size measured in one go would look cheap or dear.
func (r *Runner) growAll(ctx context.Context, s Scale) ([]samples, error) {
	measured, order := make([]samples, len(s.Growth)), make([]int, len(s.Growth))
	for i := range measured {
		measured[i], order[i] = samples{}, i
	}
	for range s.GrowthRounds {
		for _, i := range order {
			if err := r.runInto(ctx, measured[i], s.growthOf(s.Growth[i])); err != nil {
				return nil, err
			}
		}
		slices.Reverse(order)
	}
	return measured, nil
}

// growthOf is one round of one size.
func (s Scale) growthOf(n int) study {
	st := study{
		name: fmt.Sprintf("growth-%d", n), job: sides.Job{Work: "follow", Set: "pods", Objects: n, Changes: s.changes(n), Warm: s.changes(n)},
		sides: []string{clientGo, hark, harkCompact}, rounds: 1,
	}
	if n > s.ClientGoTo {
		st.sides = st.sides[1:]
	}
	return st
}

// changes of n objects: at least one of each, so that all garbage of a heap of that size
// is paid for.
func (s Scale) changes(n int) int { return max(n, s.GrowthChanges) }

// add adds what one size has cost at the least: what disturbs a measurement only adds to it, and
// a shape is lost in noise sooner than a ratio of two who take turns.
func (c costs) add(objects, changes int, measured map[string][]float64) {
	n := float64(objects)
	for name, scale := range map[string]float64{sides.SyncCPU: 1, sides.Heap: n, sides.EventCPU: 1 / float64(changes)} {
		c[name] = append(c[name], report.Point{X: n, Y: scale * slices.Min(measured[name])})
	}
}

func grown(name, work string, bySide map[string]costs, measure, ours string, shape func([]report.Point) float64, most float64) report.Line {
	l := report.Line{
		Name: name, Work: work, Unit: report.Times, Goal: atMost(most),
		Base: shape(bySide[clientGo][measure]), Hark: shape(bySide[ours][measure]), Spread: math.NaN(), BaseSpread: math.NaN(),
	}
	l.Ratio = l.Hark
	return l
}

const (
	million = 1_000_000
	// headlineHeap is what a million pods may need with the compact store.
	headlineHeap = 2.5 * (1 << 30)
)

// headline compares the heap of a million pods with its limit. Where fewer were
// measured it says what as many would need.
func headline(s Scale, bySide map[string]costs, last samples) report.Line {
	at := func(side string) float64 {
		points := bySide[side][sides.Heap]
		if len(points) == 0 { // the side was left out
			return math.NaN()
		}
		largest := points[len(points)-1]
		return largest.Y / largest.X * million
	}
	work := fmt.Sprintf("live heap of a million pods, held, indexed and watched, compact store; ratio to 2.5 GiB; client-go from %d pods", s.ClientGoTo)
	if measured := s.Growth[len(s.Growth)-1]; measured < million {
		work += fmt.Sprintf("; Hark from %d", measured)
	}
	l := report.Line{
		Name: "headline", Work: work, Unit: report.Bytes, Goal: atMost(1),
		Base: at(clientGo), Hark: at(harkCompact), Spread: report.Spread(last[harkCompact][sides.Heap]), BaseSpread: math.NaN(),
	}
	l.Ratio = l.Hark / headlineHeap
	return l
}

// plots draws the costs of all sides against the number of objects.
func plots(bySide map[string]costs) map[string]report.Plot {
	all := map[string]report.Plot{}
	for _, p := range []struct {
		file, measure, title string
		unit                 report.Unit
	}{
		{"sync-cpu", sides.SyncCPU, "CPU time until synced", report.Seconds},
		{"heap", sides.Heap, "Live heap after the sync", report.Bytes},
		{"event-cpu", sides.EventCPU, "CPU time an update", report.Seconds},
	} {
		plot := report.Plot{Title: p.title, XLabel: "pods", Unit: p.unit}
		for _, side := range []string{clientGo, hark, harkCompact} {
			plot.Series = append(plot.Series, report.Series{Name: side, Points: bySide[side][p.measure]})
		}
		all[p.file] = plot
	}
	return all
}
