package hook

import (
	"context"
	"errors"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/gocampus/hark/workqueue"
)

// restarts is the pause before a program is started again that ends without
// having answered. The first time there is none.
var restarts = workqueue.Backoff{Base: 100 * time.Millisecond, Max: 30 * time.Second}

// Stream keeps a program running for each of the runs that go on at the same time,
// and asks it one request after the other. Run and Close are safe for concurrent
// use. Close must come last.
type Stream struct {
	Command Command
	Output  Output
	// KillAfter is how long a program that is asked to end has for it; 0 or less
	// means process.DefaultKillAfter.
	KillAfter time.Duration

	mu    sync.Mutex // guards what follows
	idle  []*seat
	seats int
}

// seat is the place of one program after the other. It belongs to one run at a
// time.
type seat struct {
	number  int
	program *resident // nil when there is none
	crashes int       // since the last answer
	crashed time.Time // the last time
}

// Run implements engine.Program: it sends the request and waits for the answer.
// When the program ends instead that is a failure; another one is started for the
// next request. When ctx ends the program is ended, and the error is the cause.
func (s *Stream) Run(ctx context.Context, r *Request) (Result, error) {
	seat := s.take()
	defer s.put(seat)
	if err := s.ensure(ctx, seat); err != nil {
		return Result{}, err
	}
	a, err := seat.program.ask(ctx, r, killAfter(s.KillAfter))
	switch {
	case err == nil:
		seat.crashes = 0
		return a.outcome()
	case ctx.Err() != nil:
		seat.program.end(killAfter(s.KillAfter))
		seat.program = nil
		return Result{}, context.Cause(ctx)
	}
	seat.crash(killAfter(s.KillAfter))
	return Result{}, err
}

// take returns a seat of the caller's own: one whose program runs, if there is.
func (s *Stream) take() *seat {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.idle) == 0 {
		s.seats++
		return &seat{number: s.seats}
	}
	best := 0
	for i, candidate := range s.idle {
		if candidate.running() || candidate.crashes < s.idle[best].crashes && !s.idle[best].running() {
			best = i
		}
	}
	seat := s.idle[best]
	s.idle = slices.Delete(s.idle, best, best+1)
	return seat
}

func (s *Stream) put(seat *seat) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.idle = append(s.idle, seat)
}

// running tells whether the seat has a program that has not ended.
func (s *seat) running() bool {
	if s.program == nil {
		return false
	}
	select {
	case <-s.program.process.Ended():
		return false
	default:
		return true
	}
}

// crash clears the seat of a program that has ended, or closed its stdin.
func (s *seat) crash(killAfter time.Duration) {
	s.program.end(killAfter)
	s.program = nil
	s.crashes++
	s.crashed = time.Now()
}

// ensure sees to it that a program runs: after a pause, where the last ones have
// ended one after the other.
func (s *Stream) ensure(ctx context.Context, seat *seat) error {
	if seat.running() {
		return nil
	}
	if seat.program != nil {
		seat.crash(killAfter(s.KillAfter))
	}
	if seat.crashes > 1 {
		timer := time.NewTimer(time.Until(seat.crashed.Add(restarts.Delay(seat.crashes - 1))))
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	env := slices.Concat(s.Command.Env, []string{"HARK_SCHEMA=" + Schema, "HARK_STREAM=1", "HARK_WORKER=" + strconv.Itoa(seat.number)})
	program, err := startResident(s.Command, env, s.Output)
	if err != nil {
		seat.crashes++
		seat.crashed = time.Now()
		return err
	}
	seat.program = program
	return nil
}

// Close tells all programs by the end of their stdin that there is no more, ends
// those that have not ended after KillAfter, and returns when all have. No run may
// be under way.
func (s *Stream) Close() {
	s.mu.Lock()
	idle := s.idle
	s.idle = nil
	s.mu.Unlock()
	var ending sync.WaitGroup
	for _, seat := range idle {
		if seat.program != nil {
			ending.Go(func() { seat.program.finish(killAfter(s.KillAfter)) })
		}
	}
	ending.Wait()
}

// endedError is how a program ended that should have answered.
func endedError(err error, said string) error {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return &ExitError{Code: exit.ExitCode(), Said: said, Err: err}
	}
	if err != nil {
		return err
	}
	return errNoAnswer
}

var errNoAnswer = errors.New("the program ended without an answer")
