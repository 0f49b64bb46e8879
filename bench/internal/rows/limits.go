package rows

import (
	"context"
	"fmt"

	"github.com/gocampus/hark/bench/internal/report"
	"github.com/gocampus/hark/bench/internal/sides"
)

// Limit is what the machine allows: the stream of a set read and dropped, or
// read and copied.
type Limit struct {
	Name    string
	Bytes   float64 // an object
	PerByte float64 // bytes a second of wall time
	CPU     float64 // seconds an object
}

// String returns the limit as it is printed.
func (l Limit) String() string {
	return fmt.Sprintf("LIMIT %s %.0f MB/s %s an object of %s", l.Name, l.PerByte/1e6, report.Format(l.CPU, report.Seconds), report.Format(l.Bytes, report.Bytes))
}

func (r *Runner) limits(ctx context.Context, s Scale) ([]Limit, error) {
	var all []Limit
	for _, set := range []string{"pods", "widgets"} {
		measured, err := r.run(ctx, study{
			name: "limit-" + set, job: sides.Job{Work: "stream", Set: set, Objects: s.Small}, sides: []string{bare}, rounds: s.Rounds,
		})
		if err != nil {
			return nil, err
		}
		if len(measured) == 0 { // the side was left out
			return nil, nil
		}
		bytes, n := measured.median(bare, sides.Bytes), float64(s.Small)
		all = append(all,
			Limit{"read-" + set, bytes / n, bytes / measured.median(bare, sides.ReadWall), measured.median(bare, sides.ReadCPU) / n},
			Limit{"copy-" + set, bytes / n, bytes / measured.median(bare, sides.CopyWall), measured.median(bare, sides.CopyCPU) / n})
	}
	return all, nil
}
