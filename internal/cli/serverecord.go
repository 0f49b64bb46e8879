package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"

	"github.com/gocampus/hark/harktest"
	"github.com/gocampus/hark/internal/text"
	"github.com/gocampus/hark/record"
	"github.com/gocampus/hark/record/recordtest"
)

// recordings are those among the files that a server loads.
type recordings struct {
	session *session
	flags   *apiServerFlags

	others []string // files that are no recordings
	shows  []*show
}

// show is one recording on its stage.
type show struct {
	stage  *recordtest.Stage
	player *record.Player
	cancel context.CancelCauseFunc // set while it plays
}

// open tells recordings from other files and reads them.
func (r *recordings) open(server *harktest.Server) error {
	s := r.session
	for _, path := range r.flags.load {
		is, err := isRecording(path)
		switch {
		case err != nil:
			return s.unreadable(path, err)
		case !is:
			r.others = append(r.others, path)
		case !r.flags.replay:
			try := s.say(text.TryReplay, "command", s.command+" apiserver", "file", shellWord(path))
			return &failure{code: exitUsage, message: "error: " + s.say(text.IsRecording, "file", path), try: try}
		default:
			if err := r.add(server, path); err != nil {
				return err
			}
		}
	}
	if r.flags.replay && len(r.shows) == 0 {
		return usageError(s.say(text.NothingToReplay), s.command+" apiserver --help")
	}
	return nil
}

// add reads a recording. One that is damaged is played up to there, which is said.
func (r *recordings) add(server *harktest.Server, path string) error {
	s := r.session
	recording, err := record.Load(path, record.LoadOptions{})
	if _, ok := errors.AsType[*record.DamageError](err); ok {
		return s.notARecording(path, err)
	}
	if err != nil {
		return &failure{code: exitError, message: "error: " + err.Error(), try: s.say(text.TryFile, "file", shellWord(path)), err: err}
	}
	if recording.Damage != nil {
		if err := s.damaged(recording.Damage); err != nil {
			return err
		}
	}
	speed, err := parsedSpeed(r.flags.speed)
	if err != nil {
		return err
	}
	on := &show{stage: recordtest.NewStage(server, recording)}
	on.player = record.NewPlayer(recording, record.PlayerOptions{Speed: speed, OnEvents: func(events []record.Event) {
		if err := on.stage.Apply(events); err != nil {
			on.cancel(fmt.Errorf("replay: %w", err))
		}
	}})
	r.shows = append(r.shows, on)
	return nil
}

// load stores the initial states.
func (r *recordings) load() (objects int, err error) {
	for _, on := range r.shows {
		n, err := on.stage.Load()
		if objects += n; err != nil {
			return objects, fmt.Errorf("replay: %w", err)
		}
	}
	return objects, nil
}

// play plays the recordings, side by side, until all are played or ctx ends, which
// is no error.
func (r *recordings) play(ctx context.Context) error {
	errs := make([]error, len(r.shows))
	var playing sync.WaitGroup
	for i, on := range r.shows {
		playing.Go(func() {
			playing, cancel := context.WithCancelCause(ctx)
			defer cancel(nil)
			on.cancel = cancel
			if err := on.player.Run(playing); ctx.Err() == nil {
				errs[i] = cmp.Or(err, context.Cause(playing)) // also of its last event
			}
		})
	}
	playing.Wait()
	return errors.Join(errs...)
}

// isRecording looks at the beginning of a file. Standard input is none.
func isRecording(path string) (bool, error) {
	if path == standardInput {
		return false, nil
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil // perhaps its parts are there; loading says what is missing
		}
		return false, err
	}
	file, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer func() { _ = file.Close() }() // it was only read
	begin := make([]byte, 32)
	n, err := io.ReadFull(file, begin)
	if err != nil && err != io.EOF && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false, err
	}
	return bytes.HasPrefix(begin[:n], []byte{0x28, 0xb5, 0x2f, 0xfd}) || bytes.HasPrefix(begin[:n], []byte(`{"schema":"hark.record/`)), nil
}
