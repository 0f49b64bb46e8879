package sides

import (
	"errors"
	"os"
	"runtime"
	"runtime/metrics"
	"runtime/pprof"
	"sync"
	"time"
)

// moment is what a process has used so far.
type moment struct {
	wall time.Time
	cpu  time.Duration
}

func now() moment { return moment{time.Now(), cpuTime()} }

func (m moment) since() (cpu, wall float64) {
	return (cpuTime() - m.cpu).Seconds(), time.Since(m.wall).Seconds()
}

// liveHeap collects garbage and returns the bytes of what is left.
func liveHeap() uint64 {
	runtime.GC()
	runtime.GC() // what finalizers and pools held in the first round
	return heapNow(heapSample())
}

func heapSample() []metrics.Sample {
	return []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
}

func heapNow(sample []metrics.Sample) uint64 {
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// peakInterval is how often the heap is looked at, for its peak.
const peakInterval = 2 * time.Millisecond

// peak watches the heap, live or not yet collected.
type peak struct {
	highest uint64
	stop    chan struct{}
	done    sync.WaitGroup
}

func watchPeak() *peak {
	p := &peak{stop: make(chan struct{})}
	p.done.Go(func() {
		sample := heapSample()
		ticker := time.NewTicker(peakInterval)
		defer ticker.Stop()
		for {
			p.highest = max(p.highest, heapNow(sample))
			select {
			case <-ticker.C:
			case <-p.stop:
				return
			}
		}
	})
	return p
}

// end returns the highest size that was seen.
func (p *peak) end() uint64 {
	close(p.stop)
	p.done.Wait()
	return p.highest
}

// profileFile makes the file for a profile, nil if none is wanted.
func (j *Job) profileFile(measure string) (*os.File, error) {
	if j.Profile == "" {
		return nil, nil
	}
	return os.Create(j.Profile + "." + measure + ".pprof")
}

// profile profiles the CPU, if that is wanted, until the result is called.
func (j *Job) profile(measure string) (stop func() error, err error) {
	file, err := j.profileFile(measure)
	if err != nil || file == nil {
		return func() error { return nil }, err
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		return file.Close()
	}, nil
}

// profileHeap tells, if that is wanted, where what the last collection left was allocated.
func (j *Job) profileHeap(measure string) error {
	file, err := j.profileFile(measure)
	if err != nil || file == nil {
		return err
	}
	return errors.Join(pprof.Lookup("heap").WriteTo(file, 0), file.Close())
}
