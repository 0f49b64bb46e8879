package rows

import (
	"context"

	"github.com/gocampus/hark/bench/internal/report"
	"github.com/gocampus/hark/bench/internal/sides"
)

// mixed measures objects that share nothing: half pods, half config maps.
func (r *Runner) mixed(ctx context.Context, s Scale) ([]report.Line, error) {
	all := []string{clientGo, hark, harkCompact}
	halves := map[string]samples{}
	var lines []report.Line
	for _, half := range []struct{ set, name, work string }{
		{"lone", "heap-lone", "live heap a pod, each of its own ReplicaSet and with its own texts"},
		{"configmaps", "heap-configmaps", "live heap a config map of 1.4 KB, nothing shared"},
	} {
		st := study{name: half.name, job: sides.Job{Work: "follow", Set: half.set, Objects: s.Small / 2}, sides: all, rounds: (s.Rounds + 1) / 2}
		measured, err := r.run(ctx, st)
		if err != nil {
			return nil, err
		}
		halves[half.set] = measured
		lines = append(lines,
			row{name: half.name, work: half.work, measure: sides.Heap, unit: report.Bytes}.line(measured),
			row{name: half.name + "-compact", work: "the same with the compact store", measure: sides.Heap, hark: harkCompact, unit: report.Bytes}.line(measured))
	}
	together := func(side string) float64 {
		return (halves["lone"].median(side, sides.Heap) + halves["configmaps"].median(side, sides.Heap)) / 2
	}
	for _, ours := range []struct {
		name, side string
		goal       float64
	}{{"heap-mixed", hark, 3}, {"heap-mixed-compact", harkCompact, 4}} {
		l := report.Line{
			Name: ours.name, Work: "live heap an object, half such pods, half such config maps", Unit: report.Bytes, Goal: atLeast(ours.goal),
			Base: together(clientGo), Hark: together(ours.side), Spread: report.Spread(halves["lone"][ours.side][sides.Heap]),
			BaseSpread: report.Spread(halves["lone"][clientGo][sides.Heap]),
		}
		l.Ratio = l.Base / l.Hark
		lines = append(lines, l)
	}
	return lines, nil
}
