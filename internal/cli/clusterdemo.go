package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gocampus/hark/internal/cli/demo"
	"github.com/gocampus/hark/internal/cli/plane"
	"github.com/gocampus/hark/internal/text"
)

// clusterDemo plays on a real control plane, which ends with the demo. The time
// of --for begins when that is ready: nobody knows how long the build takes.
func (s *session) clusterDemo(cmd *cobra.Command, o demo.Options) (err error) {
	ctx, cancel, err := s.limited(cmd, min(0, o.For)) // a negative one is refused
	if err != nil {
		return err
	}
	defer cancel()
	below, err := s.startPlane(ctx)
	if err != nil {
		return s.ended(ctx, err)
	}
	defer func() { err = errors.Join(err, below.Close()) }()
	if o.For > 0 {
		limited, end := endsAfter(ctx, o.For, errTimeUp)
		defer end()
		ctx = limited
	}
	o.Cluster = below
	return s.planeFailure(s.ended(ctx, demo.Run(ctx, o)))
}

// startPlane starts the control plane. How far it is, is told to a terminal.
func (s *session) startPlane(ctx context.Context) (*plane.Plane, error) {
	if err := plane.Available(); err != nil {
		return nil, s.planeFailure(err)
	}
	var o plane.Options
	if isTerminal(s.Err) {
		o.Progress = s.note
	}
	s.note(s.say(text.PlaneStarts))
	p, err := plane.Start(ctx, o)
	return p, s.planeFailure(err)
}

// note writes a line to standard error. Where that is closed there is nobody to
// tell.
func (s *session) note(line string) {
	_, _ = fmt.Fprintln(s.Err, text.Printable(strings.ReplaceAll(line, "\t", "    ")))
}

// planeFailure adds to an error of the control plane what to try, and writes what
// its programs have said of it.
func (s *session) planeFailure(err error) error {
	if errors.Is(err, plane.ErrNoProgram) {
		message := "error: " + s.say(text.NoPlane)
		return &failure{code: exitError, message: message, try: s.say(text.TryGo, "command", s.command), err: err}
	}
	ended, ok := errors.AsType[*plane.EndedError](err)
	if !ok {
		return err
	}
	for _, line := range ended.Output {
		s.note(line)
	}
	return &failure{code: exitError, message: "error: " + ended.Error(), try: s.say(text.TryPlain, "command", s.command), err: err}
}
