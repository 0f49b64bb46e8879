package sides

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"
)

// follower is an informer of one side, with handlers that enqueue and workers.
type follower interface {
	// start begins; synced is done by each worker when it has had every object in
	// its hands, changed when it has had the last change.
	start(ctx context.Context, synced, changed *sync.WaitGroup) error
	// runs is how many keys the first worker has had. It may be called while all stand still.
	runs() int
	// stop returns when all that start began has ended.
	stop()
}

func (j *Job) follower() (follower, error) {
	switch j.Side {
	case "client-go", "client-go-stripped":
		return newClientGo(j)
	case "hark", "hark-compact", "hark-default":
		return newHark(j)
	}
	return nil, fmt.Errorf("sides: %s does not follow", j.Side)
}

// follow measures the way from nothing to synced and that of the changes.
func follow(j *Job, out io.Writer) (Result, error) {
	f, err := j.follower()
	if err != nil {
		return nil, err
	}
	workers := max(j.Handlers, 1)
	var synced, changed sync.WaitGroup
	synced.Add(workers)
	ctx, cancel := context.WithCancel(context.Background())
	defer func() { cancel(); f.stop() }()

	result := Result{}
	before := liveHeap()
	if err := j.measureSync(result, before, func() error {
		if err := f.start(ctx, &synced, &changed); err != nil {
			return err
		}
		synced.Wait()
		return nil
	}); err != nil {
		return nil, err
	}
	if j.Changes == 0 {
		return result, nil
	}
	release := func() error {
		changed.Add(workers)
		if _, err := fmt.Fprintln(out, Ready); err != nil {
			return err
		}
		changed.Wait()
		return nil
	}
	if j.Warm > 0 {
		if err := release(); err != nil {
			return nil, err
		}
	}
	runs := f.runs()
	err = j.measureChanges(result, before, release)
	result[Runs] = float64(f.runs() - runs)
	return result, err
}

func (j *Job) measureSync(result Result, before uint64, do func() error) error {
	stop, err := j.profile(SyncCPU)
	if err != nil {
		return err
	}
	peak, start := watchPeak(), now()
	if err := do(); err != nil {
		return err
	}
	result[SyncCPU], result[SyncWall] = start.since()
	result[SyncPeak] = float64(peak.end() - before)
	if err := stop(); err != nil {
		return err
	}
	result[Heap] = (float64(liveHeap()) - float64(before)) / float64(j.Objects)
	return j.profileHeap(Heap)
}

func (j *Job) measureChanges(result Result, before uint64, do func() error) error {
	stop, err := j.profile(EventCPU)
	if err != nil {
		return err
	}
	peak, start := watchPeak(), now()
	if err := do(); err != nil {
		return err
	}
	result[EventCPU], result[EventWall] = start.since()
	result[EventPeak] = float64(peak.end() - before)
	if err := stop(); err != nil {
		return err
	}
	result[EventHeap] = (float64(liveHeap()) - float64(before)) / float64(j.Objects)
	return nil
}

// busy is how long a run waits.
func (j *Job) busy() time.Duration { return time.Duration(j.Busy) * time.Microsecond }
